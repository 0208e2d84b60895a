// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"slices"
	"strings"
)

// Facts are what lists of formats say of one.
type Facts struct {
	Bits   string // of a code, and of the scale of a block
	Range  string // the least and the greatest value, of blocks at scale 1
	Step   string // that all values are multiples of; empty where they have none of 63 bits
	Values string // all values in ascending order, of formats of up to 4 bits that are no integers; else empty
}

// Describe says what is known of f by itself; scales that travel beside the codes count as 1.
func Describe(f Format) Facts {
	facts := Facts{Bits: fmt.Sprint(f.Width())}
	if b, ok := f.(Block); ok {
		facts.Bits += fmt.Sprintf("+%d/%d", b.ScaleWidth(), b.BlockSize())
		f = b.Element()
	}
	lo, hi := f.Limits()
	facts.Range = fmt.Sprintf("%.6g..%.6g", lo.Float64(), hi.Float64())
	if exp, _, ok := f.Lattice(); ok {
		facts.Step = fmt.Sprintf("2^%d", exp)
	}
	if i, ok := IntegersOf(f); ok {
		facts.Step = fmt.Sprintf("%.6g", i.Step.Float64())
	}
	if f.Width() > 4 || !Coded(f) {
		return facts
	}
	var values []Exact
	for code := range int64(1) << f.Width() {
		if v := f.Decode(code).plus(); v.IsFinite() {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, Exact.Cmp)
	var texts []string
	for _, v := range slices.Compact(values) {
		texts = append(texts, fmt.Sprintf("%.4g", v.Float64()))
	}
	facts.Values = strings.Join(texts, " ")
	return facts
}
