// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// Sum is the cells of a unit that sums products of few bits, or of a codec of one lane.
type Sum struct {
	Name  string `json:"name"`
	Codec bool   `json:"codec,omitempty"`
	// Commit is the state of the sources that was counted.
	Commit string `json:"commit"`
	// LUT includes shift registers and memory. FF and DSP of codecs are not kept.
	LUT int `json:"lut"`
	FF  int `json:"ff,omitempty"`
	DSP int `json:"dsp,omitempty"`
}

// Sum is the line about a unit; zero: there is none.
func (e *Evidence) Sum(name string) Sum {
	if i := slices.IndexFunc(e.Sums, func(s Sum) bool { return s.Name == name }); i >= 0 {
		return e.Sums[i]
	}
	return Sum{}
}

// SetSum takes a line in the place of an earlier one about the same unit.
func (e *Evidence) SetSum(s Sum) {
	i := slices.IndexFunc(e.Sums, func(o Sum) bool { return o.Name == s.Name })
	if i < 0 {
		e.Sums = append(e.Sums, s)
		return
	}
	e.Sums[i] = s
}

// sumsText is the section of docs/area.md about them.
func (e *Evidence) sumsText() string {
	var b strings.Builder
	var commits []string
	for _, s := range e.Sums {
		if c := "~" + s.Commit + "~"; !slices.Contains(commits, c) {
			commits = append(commits, c)
		}
	}
	fmt.Fprintf(&b, sumsHead, strings.Join(commits, ", "))
	for _, s := range e.Sums {
		if !s.Codec {
			fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", s.Name, s.LUT, s.FF, s.DSP)
		}
	}
	lut := func(name string) int { return e.Sum(name).LUT }
	int8 := float64(lut("8 bits by 8 bits"))
	fmt.Fprintf(&b, sumsTail, float64(lut("mxint8, its scales and window included"))/int8,
		float64(lut("mxfp4, the same"))/int8, lut("fixed(8) encoder"), lut("dfloat(4,3) decoder"), lut("e4m3 decoder"),
		lut("e5m2 decoder"), lut("e4m3 encoder"), lut("e5m2 encoder"))
	return b.String()
}

// ~ stands for a backquote in both texts.
const sumsHead = `
## Sums of few bits

    scripts/measure area-few-bits

counts units in the same way (-run counts some anew). The lines of [evidence](evidence) were counted at
%s.
128 outputs of 256 inputs, 16 by 8 products at once, exact sums, weights outside
(~op_linear_fed~, ~mx_linear_fed~); LUTs include shift registers and memory:

| data by weights | LUT | FF | DSP |
|---|--:|--:|--:|
`

const sumsTail = `
Packed, four products of 4 by 4 bits share a DSP. At this size and folding, 2,429 LUTs and 32 DSPs are published of
FINN's matrix-vector unit, by Vivado; there are no published figures here for the other rows.
Over int8, mxint8 takes %.2f times
the LUTs, mxfp4 %.2f times, but no DSP: where a DSP counts as 108 LUTs, a fifth of int8.

A lane of a codec, with its output buffer, takes %d LUTs to ~fixed(8)~ from 16 bits, %d from ~dfloat(4,3)~, %d from
e4m3, %d from e5m2, %d to e4m3 and %d to e5m2. The goal of 40 is met by ~fixed~ alone: decoders buffer 19 and 33
bits, encoders shift all 16.
`
