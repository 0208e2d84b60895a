// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"lathe/emit/verilog"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/driver/proof"
	"lathe/internal/evidence"
	"lathe/sim/route"
)

// timed is a row of the page: an example under the first plan with which it fits.
type timed struct {
	model, plan, failure string
	cycles               float64
	*route.Report
}

// timing places and routes the examples that -run matches, each for minutes, and writes their clocks and the pages that
// have them. The clocks of the others stay, as does that of one that fails.
func timing(ctx context.Context, f *flags, _ []string, say func(string)) error {
	models, err := timedModels()
	if err != nil {
		return err
	}
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		return err
	}
	failed := 0
	for _, m := range models {
		if !f.run.MatchString(m) {
			continue
		}
		p := &timed{model: m}
		if err := p.fill(ctx, f.tools(), say); err != nil {
			say(fmt.Sprintf("%s %s: %v", p.model, p.plan, err))
			failed++
			continue
		}
		e.SetClock(p.clock())
		if err := saveClocks(e, models); err != nil {
			return err
		}
	}
	return failures(ctx, failed)
}

// saveClocks writes the evidence and prints the pages that have its clocks, docs/timing.md with those of the models.
func saveClocks(e *evidence.Evidence, models []string) error {
	page, err := os.ReadFile(timingPage)
	if err != nil {
		return err
	}
	if err := write(timingPage, e.ClocksPage(models, string(page))); err != nil {
		return err
	}
	return save(e)
}

// timedModels are the names of the examples.
func timedModels() ([]string, error) {
	files, err := filepath.Glob("examples/*/model.onnx")
	if err != nil || len(files) < 14 {
		return nil, fmt.Errorf("%d examples (%v)", len(files), err)
	}
	for i, m := range files {
		files[i] = filepath.Base(filepath.Dir(m))
	}
	return files, nil
}

// fill routes an example under its default plan or, where that does not fit, with one multiplier a layer.
func (p *timed) fill(ctx context.Context, tools string, say func(string)) error {
	for _, p.plan = range []string{"", "serial"} {
		start := time.Now()
		hw, err := emitted(ctx, p.model, p.plan, "")
		if err != nil {
			return err
		}
		p.cycles, p.failure = hw.Interval(), ""
		p.Report, err = routed(ctx, route.Options{Part: evidence.TimingPart, Tools: tools, Timeout: time.Hour},
			func(dir string) error { return driver.Write(hw.Design, filepath.Join(dir, "design")) }, "design")
		if err == nil {
			say(fmt.Sprintf("%s %s: %.1f MHz in %v", p.model, p.plan, p.MHz, time.Since(start).Round(time.Second)))
			return nil
		}
		if diag.CodeOf(err) != diag.DesignTooLarge {
			return err
		}
		p.failure = err.(*diag.Error).Msg
		say(fmt.Sprintf("%s %s: %s", p.model, p.plan, p.failure))
	}
	return nil
}

// emitted is the hardware of an example under a plan ("default": none) for a part; "": that of the plan.
func emitted(ctx context.Context, model, plan, part string) (*driver.Hardware, error) {
	dir := filepath.Join("examples", model)
	s := driver.Source{Model: filepath.Join(dir, "model.onnx")}
	if part != "" {
		s.Settings.Part = &part
	}
	if calib := filepath.Join(dir, "calib.npz"); exists(calib) {
		s.Calibrate = calib
	}
	if plan != "" && plan != proof.Default {
		s.Plan = filepath.Join("examples", "plans", plan+".toml")
	}
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	q, err := s.Quantize(ctx, g)
	if err != nil {
		return nil, err
	}
	return q.Emit(ctx, verilog.Options{Version: "test"})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// routed places and routes the design that fill puts below a folder of its own, as name.
func routed(ctx context.Context, o route.Options, fill func(dir string) error, name string) (*route.Report, error) {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := fill(dir); err != nil {
		return nil, err
	}
	return route.Route(ctx, filepath.Join(dir, name), o)
}

// failures is the error of a run in which some measurements failed, or that was interrupted.
func failures(ctx context.Context, failed int) error {
	if ctx.Err() != nil || failed == 0 {
		return ctx.Err()
	}
	return fmt.Errorf("%d rows were not measured", failed)
}

// write replaces a page.
func write(path, text string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// clock is what evidence keeps of a row.
func (p *timed) clock() evidence.Clock {
	c := evidence.Clock{Model: p.model, Plan: cmp.Or(p.plan, proof.Default), Failure: p.failure}
	if p.Report == nil {
		return c
	}
	tenth := func(mhz float64) float64 { return math.Round(10*mhz) / 10 }
	c.MHz, c.Median, c.Rate = tenth(p.MHz), tenth(p.Median), p.MHz*1e6/p.cycles
	c.LUT, c.FF, c.DSP, c.BRAM = p.LUT, p.FF, p.DSP, p.BRAM
	c.Layer, c.Wires = p.Report.Layer(), int(math.Round(100*p.Wire/(p.Logic+p.Wire)))
	return c
}
