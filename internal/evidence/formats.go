// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// FormatSamples is how many random samples follow the stored ones of a network whose formats are proven.
const FormatSamples = 1000

// FormatModels are the examples that docs/formats-exact.md proves in every format.
var FormatModels = [...]string{"digits-mlp", "digits-cnn"}

// Format is what an example has shown under formats of data and of weights.
type Format struct {
	Model  string `json:"model"`
	Data   string `json:"data"`
	Weight string `json:"weight"`
	// Commit is the state of the sources that showed it.
	Commit string `json:"commit"`
	// Bits are those of a weight, with scales of blocks, to a hundredth.
	Bits float64 `json:"bits"`
	// Accuracy is right answers on the stored samples in percent, to a tenth.
	Accuracy float64 `json:"accuracy"`
	// LUT, FF and DSP are predicted, Interval is cycles of a sample.
	LUT      int     `json:"lut"`
	FF       int     `json:"ff"`
	DSP      int     `json:"dsp"`
	Interval float64 `json:"interval"`
	// Codes are those compared, by engine: pjrt, cuda, rtl.
	Codes      map[string]int `json:"codes"`
	Mismatches int            `json:"mismatches"`
}

// Format is the line about an example under formats; nil: there is none.
func (e *Evidence) Format(model, data, weight string) *Format {
	i := slices.IndexFunc(e.Formats, func(f Format) bool {
		return f.Model == model && f.Data == data && f.Weight == weight
	})
	if i < 0 {
		return nil
	}
	return &e.Formats[i]
}

// SetFormat takes a line in the place of an earlier one about the same example and formats.
func (e *Evidence) SetFormat(f Format) {
	if old := e.Format(f.Model, f.Data, f.Weight); old != nil {
		*old = f
		return
	}
	e.Formats = append(e.Formats, f)
}

// FormatsPage is docs/formats-exact.md: a row for each line about the first of FormatModels, with what the others have
// shown in the same formats.
func (e *Evidence) FormatsPage() string {
	var table strings.Builder
	total, mismatches, rows := map[string]int{}, 0, 0
	var commits []string
	for _, first := range e.Formats {
		if first.Model != FormatModels[0] {
			continue
		}
		rows++
		data := "the same"
		if first.Data != first.Weight {
			data = "`" + first.Data + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %.2f ", first.Weight, data, first.Bits)
		for _, model := range FormatModels {
			f := e.Format(model, first.Data, first.Weight)
			if f == nil {
				table.WriteString("| **not proven** | | | | | ")
				continue
			}
			if c := "`" + f.Commit + "`"; !slices.Contains(commits, c) {
				commits = append(commits, c)
			}
			codes := 0
			for engine, n := range f.Codes {
				total[engine] += n
				codes += n
			}
			mismatches += f.Mismatches
			fmt.Fprintf(&table, "| %.1f | %d | %d | %d | %g | %d ", f.Accuracy, f.LUT, f.FF, f.DSP, f.Interval, codes)
		}
		table.WriteString("|\n")
	}
	return fmt.Sprintf(strings.ReplaceAll(formatsHead, "~", "`"), strings.Join(commits, ", "), rows, total["pjrt"],
		total["cuda"], total["rtl"], mismatches, FormatSamples, StallPercent, len(StallSeeds)) + table.String()
}

// formatsHead is the begin of the page; ~ stands for a backquote.
const formatsHead = `# Every number format in every engine

Printed by

    scripts/measure formats-exact

from the lines of [evidence](evidence) (-run measures some anew), which were measured at %s.
~make long~ proves all of them again.

%d choices of formats on digits-mlp (linear layers) and digits-cnn (convolutions). Codes compared with the Go
reference: %d of XLA through PJRT, %d of the CUDA kernels on the emulated device, %d of the simulated RTL.
Mismatches: %d.

Each network ran on its 450 stored samples and on %d random ones (uniform codes, extremes, small values), in the
simulated RTL with every port stalling at random in %d %% of all cycles, once for each of %d seeds, and on some samples
without stalls. The scales of blocks are compared like codes. TestDrawnFormats compares formats drawn at random.

The columns, for digits-mlp first: bits of a weight, with scales of blocks; accuracy in percent on the stored samples
(float: 97.8 and 98.0); LUT, FF and DSP as the headers of the modules predict them ([area.md](area.md) holds that to
Yosys); cycles from sample to sample; codes compared, of all engines. Blocks, open formats, ~bias=fit~ and
~*[0]~, a scale for each output channel, fit the network; the others are as they stand, and accuracy is what
their range happens to leave. The formats of float graphs (fp32, bf16, f16) and e8m0 are none of hardware.

| weights | data | bits | mlp | LUT | FF | DSP | cycles | codes | cnn | LUT | FF | DSP | cycles | codes |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`
