// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/sim/area"
	"lathe/sim/area/paths"
)

const areaCommand = "go test -count=1 -timeout 3h -tags long -run '^TestAreaPage$' -v ./internal/driver"

// predicted is one design of the page: what headers say, and what Yosys counts.
type predicted struct {
	model, plan  string
	said, counts rtl.Cost
	failure      string
}

// TestAreaPage counts every example under four plans with Yosys: DSPs as predicted, LUTs within 15 % on average. The
// page is docs/area.md; -update writes it.
func TestAreaPage(t *testing.T) {
	tools.Need(t, "yosys")
	models, err := inHardware("model.onnx")
	if err != nil || len(models) < 9 {
		t.Fatalf("%d examples, %v", len(models), err)
	}
	var rows []*predicted
	for _, m := range models {
		for _, plan := range []string{"", "serial", "fps", "mx"} {
			rows = append(rows, &predicted{model: filepath.Base(filepath.Dir(m)), plan: plan})
		}
	}
	inParallel(rows, func(p *predicted) { p.fill(t) })
	lut, mean := 0.0, 0
	for _, p := range rows {
		switch {
		case p.failure != "":
			t.Errorf("%s %s: %s", p.model, p.plan, p.failure)
			continue
		case p.said.DSP != p.counts.DSP:
			t.Errorf("%s %s: %d DSPs predicted, %d counted", p.model, p.plan, p.said.DSP, p.counts.DSP)
		}
		lut, mean = lut+math.Abs(off(p.said.LUT, p.counts.LUT)), mean+1
	}
	if lut > 15*float64(mean) {
		t.Errorf("LUTs are off by %.1f %% on average", lut/float64(mean))
	}
	page := areaPage(rows)
	if t.Failed() {
		t.Log(page)
		return
	}
	const path, other = "../../docs/area.md", "\n## Constant matrices\n" // which `make bench-alkaid` writes
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, section, found := strings.Cut(string(have), other); found {
		page += other + section
	}
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !*update && string(have) != page {
		t.Errorf("docs/area.md is not what is found: %s -update", areaCommand)
	}
}

// fill compiles and counts one design.
func (p *predicted) fill(t *testing.T) {
	j, err := compile(t.Context(), p.model, "model.onnx", p.plan)
	if err != nil {
		p.failure = err.Error()
		return
	}
	for _, w := range j.HW.Schedule.Warnings {
		if strings.Contains(w, "counts as nothing") {
			p.failure = w
			return
		}
	}
	p.said = j.HW.Schedule.Cost()
	t.Logf("%s %s: %+v predicted", p.model, p.plan, p.said)
	dir := t.TempDir() + "/design"
	if err = driver.Write(j.HW.Design, dir); err == nil {
		p.counts, err = byYosys(t, dir)
	}
	if err != nil {
		p.failure = err.Error()
	}
}

// byYosys is what Yosys counts of a design, whose paths must be within the limits.
func byYosys(t *testing.T, dir string) (rtl.Cost, error) {
	c, longest, err := cells(t, dir, true)
	if err != nil {
		return rtl.Cost{}, err
	}
	for _, line := range longest.Over(paths.Limit) {
		t.Errorf("%s: %s", dir, line)
	}
	return c, nil
}

// cells is what Yosys counts of a design, with its longest paths if asked.
func cells(t *testing.T, dir string, longest bool) (rtl.Cost, *paths.Longest, error) {
	files, top, err := area.Sources(dir)
	if err != nil {
		return rtl.Cost{}, nil, err
	}
	r, err := area.Count(t.Context(), dir, files, top, area.Options{Timeout: time.Hour, Paths: longest})
	if err != nil {
		return rtl.Cost{}, nil, err
	}
	c := r.Total
	return rtl.Cost{LUT: c.LUT, FF: c.FF, DSP: c.DSP, BRAM: c.BRAM18 + 2*c.BRAM36}, r.Longest, nil
}

// off is how far a prediction is off, in percent of the count.
func off(said, counts int) float64 {
	if said == counts {
		return 0
	}
	return 100 * float64(said-counts) / float64(max(counts, 1))
}

func areaPage(rows []*predicted) string {
	var b strings.Builder
	fmt.Fprintf(&b, areaHead, areaCommand)
	var sum, worst [2]float64
	bram, model := 0, ""
	for _, p := range rows {
		if p.model != model {
			model = p.model
			fmt.Fprintf(&b, "\n## %s\n\n| plan | LUT | counted | | FF | counted | | DSP | counted | RAM18 | counted |\n", model)
			b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		}
		plan, s, c := p.plan, p.said, p.counts
		if plan == "" {
			plan = "default"
		}
		errs := [2]float64{off(s.LUT, c.LUT), off(s.FF, c.FF)}
		fmt.Fprintf(&b, "| %s | %d | %d | %+.1f %% | %d | %d | %+.1f %% | %d | %d | %d | %d |\n", plan, s.LUT, c.LUT, errs[0],
			s.FF, c.FF, errs[1], s.DSP, c.DSP, s.BRAM, c.BRAM)
		for i, e := range errs {
			sum[i], worst[i] = sum[i]+math.Abs(e), max(worst[i], math.Abs(e))
		}
		if s.BRAM != c.BRAM {
			bram++
		}
	}
	n := float64(len(rows))
	fmt.Fprintf(&b, areaTail, len(rows), sum[0]/n, worst[0], sum[1]/n, worst[1], bram)
	return strings.ReplaceAll(b.String(), "~", "`")
}

// ~ stands for a backquote in both texts.
const areaHead = `# Predicted area

Written by

    %s -update

which ~make long~ includes; without ~-update~ the test fails if this page is out of date.

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

## Sums of few bits

    go test -count=1 -timeout 1h -tags long -run '^TestFewBits$' -v ./sim/area

counts units in the same way. 128 outputs of 256 inputs, 16 by 8 products at once, exact sums, weights outside
(~op_linear_fed~, ~mx_linear_fed~); LUTs include shift registers and memory:

| data by weights | LUT | FF | DSP |
|---|--:|--:|--:|
| binary by binary | 558 | 529 | 0 |
| 2 bits by binary | 937 | 953 | 0 |
| 4 bits by binary | 1303 | 1305 | 0 |
| 8 bits by binary | 2035 | 2009 | 0 |
| 8 bits by ternary | 2459 | 2113 | 0 |
| 2 bits by 2 bits | 1091 | 1081 | 0 |
| 4 bits by 4 bits | 2851 | 2201 | 0 |
| 4 bits by 4 bits, ~dsp = "pack"~ | 1695 | 2412 | 32 |
| 8 bits by 8 bits | 2627 | 3785 | 128 |
| 8 bits by 8 bits, ~dsp = "chain"~ | 619 | 809 | 128 |
| mxint8, its scales and window included | 3192 | 3760 | 128 |
| mxfp4, the same | 3453 | 3016 | 0 |

Packed, four products of 4 by 4 bits share a DSP. At this size and folding, 2,429 LUTs and 32 DSPs are published of
FINN's matrix-vector unit, by Vivado; there are no published figures here for the other rows.
Over int8, mxint8 takes 1.22 times
the LUTs, mxfp4 1.31 times, but no DSP: where a DSP counts as 108 LUTs, a fifth of int8.

A lane of a codec, with its output buffer, takes 15 LUTs to ~fixed(8)~ from 16 bits, 53 from ~dfloat(4,3)~, 65 from
e4m3, 86 from e5m2, 111 to e4m3 and 114 to e5m2. The goal of 40 is met by ~fixed~ alone: decoders buffer 19 and 33
bits, encoders shift all 16.
`
