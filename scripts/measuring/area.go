// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lathe/emit"
	"lathe/internal/driver"
	"lathe/internal/driver/proof"
	"lathe/internal/evidence"
	"lathe/internal/workers"
	"lathe/ir/target"
	"lathe/rtl"
	"lathe/sim/area"
	"lathe/sim/area/paths"
)

const (
	areaPage = "docs/area.md"
	ecp5Page = "docs/area-ecp5.md"
)

// sized is a design whose cells are counted.
type sized struct{ model, plan, part string }

// areaDesigns are those of docs/area.md: every example under four plans.
func areaDesigns() ([]sized, error) {
	files, err := proof.InHardware("examples", "model.onnx")
	if err != nil || len(files) < 9 {
		return nil, fmt.Errorf("%d examples (%v)", len(files), err)
	}
	var all []sized
	for _, f := range files {
		for _, plan := range []string{proof.Default, "serial", "fps", "mx"} {
			all = append(all, sized{filepath.Base(filepath.Dir(f)), plan, target.Default})
		}
	}
	return all, nil
}

// ecp5Designs are those of docs/area-ecp5.md.
func ecp5Designs() ([]sized, error) {
	all := []sized{{model: "digits-cnn", plan: proof.Default}, {model: "digits-cnn", plan: "serial"},
		{model: "digits-cnn", plan: "fps"}, {model: "digits-dscnn", plan: proof.Default},
		{model: "digits-dscnn", plan: "serial"}, {model: "digits-mlp", plan: proof.Default},
		{model: "digits-lstm", plan: "serial"}, {model: "digits-qdq", plan: "serial"}, {model: "jets-mlp", plan: "serial"},
		{model: "digits-widths", plan: "serial"},
		{model: "digits-resnet", plan: "serial"}, {model: "digits-gru", plan: "serial"}}
	for i := range all {
		all[i].part = evidence.TimingPart
	}
	return all, nil
}

// allAreas are the designs of both pages, in the order of their lines.
func allAreas() ([]sized, error) {
	all, err := areaDesigns()
	if err != nil {
		return nil, err
	}
	ecp5, err := ecp5Designs()
	return append(all, ecp5...), err
}

// areas counts the designs that -run matches, by model and plan, keeps the counts as evidence, and prints the pages.
func areas(designs func() ([]sized, error)) func(context.Context, *flags, []string, func(string)) error {
	return func(ctx context.Context, f *flags, _ []string, say func(string)) error {
		all, err := designs()
		if err != nil {
			return err
		}
		e, err := evidence.Read(evidenceDir)
		if err != nil {
			return err
		}
		var lock sync.Mutex
		failed := 0
		err = workers.Try(ctx, len(all), 2, func(i int) error {
			d := all[i]
			if !f.run.MatchString(d.model + " " + d.plan) {
				return nil
			}
			line, err := d.count(ctx)
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				say(fmt.Sprintf("%s %s: %v", d.model, d.plan, err))
				failed++
				return nil
			}
			say(fmt.Sprintf("%s %s: %+v predicted, %+v counted", d.model, d.plan, line.Predicted, line.Counted))
			e.SetArea(line)
			return saveAreas(e)
		})
		if err != nil {
			return err
		}
		return failures(ctx, failed)
	}
}

// saveAreas writes the evidence, with the lines in order, and prints the pages of areas.
func saveAreas(e *evidence.Evidence) error {
	all, err := allAreas()
	if err != nil {
		return err
	}
	var lines []evidence.Area
	for _, d := range all {
		if a := e.Area(d.model, d.plan, d.part); a != nil {
			lines = append(lines, *a)
		}
	}
	e.Areas = lines
	var units []evidence.Sum
	for _, u := range fewBits() {
		if s := e.Sum(u.name); s.Name != "" {
			units = append(units, s)
		}
	}
	e.Sums = units
	now, err := os.ReadFile(areaPage)
	if err != nil {
		return err
	}
	if err := e.Write(evidenceDir); err != nil {
		return err
	}
	if err := write(areaPage, e.AreaPage(target.Default, string(now))); err != nil {
		return err
	}
	return write(ecp5Page, e.AreaECP5Page(evidence.TimingPart))
}

// predict compiles the design and adds up what headers say. A module that says nothing is an error.
func (d sized) predict(ctx context.Context) (*driver.Hardware, evidence.Cells, error) {
	hw, err := emitted(ctx, d.model, d.plan, d.part)
	if err != nil {
		return nil, evidence.Cells{}, err
	}
	for _, w := range hw.Schedule.Warnings {
		if strings.Contains(w, "counts as nothing") {
			return nil, evidence.Cells{}, fmt.Errorf("%s", w)
		}
	}
	return hw, evidence.CellsOf(hw.Schedule.Cost()), nil
}

// counted has Yosys count a design, in a folder that goes afterwards.
func counted(ctx context.Context, d *emit.Design, o area.Options) (*area.Report, error) {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "design")
	if err := driver.Write(d, folder); err != nil {
		return nil, err
	}
	files, top, err := area.Sources(folder)
	if err != nil {
		return nil, err
	}
	return area.Count(ctx, folder, files, top, o)
}

// count has Yosys count the design. For the default part, whose limits are known, paths must be within them.
func (d sized) count(ctx context.Context) (line evidence.Area, err error) {
	line = evidence.Area{Model: d.model, Plan: d.plan, Part: d.part}
	hw, said, err := d.predict(ctx)
	if err != nil {
		return line, err
	}
	line.Predicted = said
	device, err := target.Find(d.part)
	if err != nil {
		return line, err
	}
	limited := d.part == target.Default
	r, err := counted(ctx, hw.Design, area.Options{Device: device, Timeout: time.Hour, Paths: limited})
	if err != nil {
		return line, err
	}
	if limited {
		if over := r.Longest.Over(paths.Limit); len(over) > 0 {
			return line, fmt.Errorf("%s", strings.Join(over, "; "))
		}
	}
	c := r.Total
	line.Counted = evidence.CellsOf(rtl.Cost{LUT: c.LUT, FF: c.FF, DSP: c.DSP, BRAM: c.BRAM18 + 2*c.BRAM36})
	return line, nil
}
