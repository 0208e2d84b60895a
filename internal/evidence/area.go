// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"math"
	"strings"

	"lathe/rtl"
)

// Area is the cells of an example under a plan ("default": none), made for a part: the sum of what the headers of its
// modules predict, and what Yosys counts in the whole design.
type Area struct {
	Model     string `json:"model"`
	Plan      string `json:"plan"`
	Part      string `json:"part"`
	Predicted Cells  `json:"predicted"`
	Counted   Cells  `json:"counted"`
}

// Cells are those of a design; BRAM counts blocks of 18 Kbit.
type Cells struct {
	LUT  int `json:"lut"`
	FF   int `json:"ff"`
	DSP  int `json:"dsp"`
	BRAM int `json:"bram"`
}

// CellsOf are those of a cost.
func CellsOf(c rtl.Cost) Cells { return Cells{LUT: c.LUT, FF: c.FF, DSP: c.DSP, BRAM: c.BRAM} }

// SetArea takes a line in the place of an earlier one about the same design and part.
func (e *Evidence) SetArea(a Area) {
	if old := e.Area(a.Model, a.Plan, a.Part); old != nil {
		*old = a
		return
	}
	e.Areas = append(e.Areas, a)
}

// Area is the line about a design; nil: there is none.
func (e *Evidence) Area(model, plan, part string) *Area {
	for i, a := range e.Areas {
		if a.Model == model && a.Plan == plan && a.Part == part {
			return &e.Areas[i]
		}
	}
	return nil
}

// AreaErrors are how far predictions are off, in percent of the counts: mean and worst, of LUTs and of FFs; and in how
// many of the designs block RAMs differ.
type AreaErrors struct {
	Designs, BRAM              int
	LUT, WorstLUT, FF, WorstFF float64
}

// AreaErrors sums up the lines about a part. An error is a line whose DSPs were predicted otherwise.
func (e *Evidence) AreaErrors(part string) (r AreaErrors, err error) {
	for _, a := range e.Areas {
		if a.Part != part {
			continue
		}
		r.Designs++
		s, c := a.Predicted, a.Counted
		lut, ff := math.Abs(off(s.LUT, c.LUT)), math.Abs(off(s.FF, c.FF))
		r.LUT, r.WorstLUT = r.LUT+lut, max(r.WorstLUT, lut)
		r.FF, r.WorstFF = r.FF+ff, max(r.WorstFF, ff)
		if s.BRAM != c.BRAM {
			r.BRAM++
		}
		if s.DSP != c.DSP {
			err = fmt.Errorf("%s %s, %s: %d DSPs predicted, %d counted", a.Model, a.Plan, part, s.DSP, c.DSP)
		}
	}
	r.LUT, r.FF = r.LUT/float64(r.Designs), r.FF/float64(r.Designs)
	return r, err
}

// off is how far a prediction is off, in percent of the count.
func off(said, counts int) float64 {
	if said == counts {
		return 0
	}
	return 100 * float64(said-counts) / float64(max(counts, 1))
}

// cells are the cells of a row, from the plan on.
func (a Area) cells() string {
	s, c := a.Predicted, a.Counted
	return fmt.Sprintf("%s | %d | %d | %+.1f %% | %d | %d | %+.1f %% | %d | %d | %d | %d |\n", a.Plan, s.LUT, c.LUT,
		off(s.LUT, c.LUT), s.FF, c.FF, off(s.FF, c.FF), s.DSP, c.DSP, s.BRAM, c.BRAM)
}

// matrices begins the section of docs/area.md that `make bench-alkaid` writes.
const matrices = "\n## Constant matrices\n"

// AreaPage is docs/area.md, about designs for a part, with the section on constant matrices that the page has now.
func (e *Evidence) AreaPage(part, now string) string {
	var b strings.Builder
	b.WriteString(areaHead)
	model := ""
	for _, a := range e.Areas {
		if a.Part != part {
			continue
		}
		if a.Model != model {
			model = a.Model
			fmt.Fprintf(&b, "\n## %s\n\n| plan | LUT | counted | | FF | counted | | DSP | counted | RAM18 | counted |\n", model)
			b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		}
		b.WriteString("| " + a.cells())
	}
	r, _ := e.AreaErrors(part) // a test refuses lines with errors
	fmt.Fprintf(&b, areaTail, r.Designs, r.LUT, r.WorstLUT, r.FF, r.WorstFF, r.BRAM)
	b.WriteString(e.sumsText())
	text := strings.ReplaceAll(b.String(), "~", "`")
	if _, section, found := strings.Cut(now, matrices); found {
		text += matrices + section
	}
	return text
}

// AreaECP5Page is docs/area-ecp5.md, about designs for a part.
func (e *Evidence) AreaECP5Page(part string) string {
	var b strings.Builder
	b.WriteString(ecp5Head)
	for _, a := range e.Areas {
		if a.Part == part {
			b.WriteString("| " + a.Model + " | " + a.cells())
		}
	}
	r, _ := e.AreaErrors(part)
	fmt.Fprintf(&b, ecp5Tail, r.LUT, r.WorstLUT, r.FF)
	return strings.ReplaceAll(b.String(), "~", "`")
}

// ~ stands for a backquote in all texts.
const areaHead = `# Predicted area

Printed by

    scripts/measure area

from the lines of [evidence](evidence) (-run counts some designs anew, the others stay).

Designs for ECP5 have a page of their own: [area-ecp5.md](area-ecp5.md).

The balance mode weighs foldings by the cost lines in module headers (grammar: [stream.md](stream.md)). They were
calibrated on single modules with Yosys 0.23, ~synth_xilinx -family xcup -noiopad -noclkbuf -nowidelut~. The tables
compare their sum over the units of a design with the cells that Yosys counts in the whole design. ~lathe emit-verilog
MODEL --calibrate calib.npz [--plan PLAN] -o DIR~ writes the prediction for each unit into design.json; ~lathe area DIR~
counts cells and prints both for each unit.

~default~ means no plan (8 bits); the other plans are files of [examples/plans](../examples/plans). Block RAM is counted
in blocks of 18 Kbit.

DSPs follow the mapping rules of Yosys: a product of up to 27 by 18 bits takes one DSP, and none if its result has fewer
than 9 bits or an operand is one bit; ~dsp = "pack"~ halves the count. A ROM goes to block RAM if ~mem = "block"~, and
under ~auto~ if 64 bits in LUTs would cost more than 1/129 of an 18 Kbit block. The LUTs of a ROM depend on its
contents; cost lines know only its size.
`

const areaTail = `
## Errors

Over these %d designs, LUTs are off by %.1f %% on average and %.1f %% at worst, FFs by %.1f %% and %.1f %%. DSPs are
exact everywhere; block RAMs differ in %d of them. ~make test~ repeats some of the designs (TestPredictedArea).

The least certain are rounding and saturation (shared logic) and small ROMs. The wrapper's ports and TLAST counters (a
few LUTs per stream) are left out. Unrolled layers are counted chain by chain.
`

const ecp5Head = `# Predicted area on ECP5

Printed by

    scripts/measure area-ecp5

from the lines of [evidence](evidence) (-run counts some designs anew, the others stay).

With ~part = "ecp5-85k"~, lines ~lut4:~ of module headers predict LUTs of four inputs where they are; other modules
count as on UltraScale+. The table compares the sum over the units of a design with what Yosys 0.23 counts in the whole
design, ~synth_ecp5 -noflatten -nowidelut~: LUT is LUT4, two for each CCU2C (two bits of a carry chain with their LUTs)
and four for each TRELLIS_DPR16X4 (16 words of 4 bits), as nextpnr makes TRELLIS_COMB of them. RAM18 are DP16KD.
The lines were fitted to designs of these models, but for digits-resnet and digits-gru, which nobody looked at before.
Place and route of the flat design, with wide multiplexers, takes other numbers: ~lathe route~ measures them.

| model | plan | LUT | counted | | FF | counted | | DSP | counted | RAM18 | counted |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

const ecp5Tail = `
LUTs are off by %.1f %% on average and %.1f %% at worst, FFs by %.1f %% on average. ROMs are the least certain: their
LUTs depend on what they hold. Designs for UltraScale+ are in [area.md](area.md).
`
