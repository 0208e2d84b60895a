// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir/target"
	"lathe/lower/plan"
	"lathe/rtl"
	"lathe/sim/area"
)

const ecp5Command = "go test -count=1 -timeout 1h -tags long -run '^TestAreaECP5$' -v ./internal/driver"

// TestAreaECP5 counts ten designs for an ECP5 with Yosys: DSPs as predicted, LUTs within 8 % on average. The page is
// docs/area-ecp5.md; -update writes it.
func TestAreaECP5(t *testing.T) {
	tools.Need(t, "yosys")
	rows := []*predicted{{model: "digits-cnn"}, {model: "digits-cnn", plan: "serial"}, {model: "digits-cnn", plan: "fps"},
		{model: "digits-dscnn"}, {model: "digits-dscnn", plan: "serial"}, {model: "digits-mlp"},
		{model: "digits-lstm", plan: "serial"}, {model: "digits-qdq", plan: "serial"},
		{model: "jets-mlp", plan: "serial"}, {model: "digits-widths", plan: "serial"}}
	inParallel(rows, func(p *predicted) { p.failure = p.onECP5(t) })
	var b strings.Builder
	fmt.Fprintf(&b, ecp5Head, ecp5Command)
	lut, worst, ff := 0.0, 0.0, 0.0
	for _, p := range rows {
		s, c := p.said, p.counts
		if p.failure != "" || s.DSP != c.DSP {
			t.Errorf("%s %s: %d DSPs predicted, %d counted: %s", p.model, p.plan, s.DSP, c.DSP, p.failure)
		}
		l, f := off(s.LUT, c.LUT), off(s.FF, c.FF)
		lut, worst, ff = lut+math.Abs(l), max(worst, math.Abs(l)), ff+math.Abs(f)
		name := p.plan
		if name == "" {
			name = "default"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %+.1f %% | %d | %d | %+.1f %% | %d | %d | %d | %d |\n", p.model, name, s.LUT,
			c.LUT, l, s.FF, c.FF, f, s.DSP, c.DSP, s.BRAM, c.BRAM)
	}
	n := float64(len(rows))
	fmt.Fprintf(&b, ecp5Tail, lut/n, worst, ff/n)
	page := strings.ReplaceAll(b.String(), "~", "`")
	t.Log(page)
	if lut > 8*n {
		t.Errorf("LUTs are off by %.1f %% on average", lut/n)
	}
	if t.Failed() {
		return
	}
	const path = "../../docs/area-ecp5.md"
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != page {
		t.Errorf("docs/area-ecp5.md is not what is found (%v): %s -update", err, ecp5Command)
	}
}

// onECP5 compiles and counts one design for ecp5-85k; it returns what went wrong.
func (p *predicted) onECP5(t *testing.T) string {
	dir, part := examples+p.model+"/", "ecp5-85k"
	s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz", Settings: plan.Settings{Part: &part}}
	if p.plan != "" {
		s.Plan = examples + "plans/" + p.plan + ".toml"
	}
	j, err := compileAs(t.Context(), s, dir)
	if err != nil {
		return err.Error()
	}
	p.said = j.HW.Schedule.Cost()
	folder := t.TempDir() + "/design"
	if err := driver.Write(j.HW.Design, folder); err != nil {
		return err.Error()
	}
	device, err := target.Find(part)
	if err != nil {
		return err.Error()
	}
	files, top, err := area.Sources(folder)
	if err != nil {
		return err.Error()
	}
	r, err := area.Count(t.Context(), folder, files, top, area.Options{Device: device, Timeout: time.Hour})
	if err != nil {
		return err.Error()
	}
	c := r.Total
	p.counts = rtl.Cost{LUT: c.LUT, FF: c.FF, DSP: c.DSP, BRAM: c.BRAM18}
	return ""
}

// ~ stands for a backquote in both texts.
const ecp5Head = `# Predicted area on ECP5

Written by

    %s -update

With ~part = "ecp5-85k"~, lines ~lut4:~ of module headers predict LUTs of four inputs where they are; other modules
count as on UltraScale+. The table compares the sum over the units of a design with what Yosys 0.23 counts in the whole
design, ~synth_ecp5 -noflatten -nowidelut~: LUT is LUT4, two for each CCU2C (two bits of a carry chain with their LUTs)
and four for each TRELLIS_DPR16X4 (16 words of 4 bits), as nextpnr makes TRELLIS_COMB of them. RAM18 are DP16KD.
The lines were fitted to designs of these models, so the table is no check on models that nobody looked at.
Place and route of the flat design, with wide multiplexers, takes other numbers: ~lathe route~ measures them.

| model | plan | LUT | counted | | FF | counted | | DSP | counted | RAM18 | counted |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

const ecp5Tail = `
LUTs are off by %.1f %% on average and %.1f %% at worst, FFs by %.1f %% on average. ROMs are the least certain: their
LUTs depend on what they hold. Designs for UltraScale+ are in [area.md](area.md).
`
