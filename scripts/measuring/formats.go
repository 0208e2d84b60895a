// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"sync"

	"lathe/internal/choose"
	"lathe/internal/driver"
	"lathe/internal/driver/proof"
	"lathe/internal/evidence"
	"lathe/internal/workers"
	"lathe/sim/nvrtc"
)

const formatsPage = "docs/formats-exact.md"

// formed is an example under formats.
type formed struct {
	model string
	proof.Formats
}

// allFormed are the rows of docs/formats-exact.md, each with every example.
func allFormed() []formed {
	var all []formed
	for _, f := range proof.FormatRows() {
		for _, model := range evidence.FormatModels {
			all = append(all, formed{model, f})
		}
	}
	return all
}

// String is what -run matches.
func (f formed) String() string {
	return fmt.Sprintf("%s, data %s, weights %s", f.model, f.Data, f.Weight)
}

// formats proves the examples that -run matches in their formats, keeps what they show as evidence, and prints the
// page.
func formats(ctx context.Context, f *flags, _ []string, say func(string)) error {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		return err
	}
	eng, err := engines(f)
	if err != nil {
		return err
	}
	cuda := filepath.Join(f.cache, "cuda")
	compiler, err := nvrtc.Open(cuda, filepath.Join(cuda, "modules"))
	if err != nil {
		return err
	}
	eng.CUDA = proof.Emulated(compiler)
	all := allFormed()
	var lock sync.Mutex
	failed := 0
	err = workers.Try(ctx, len(all), 2, func(i int) error {
		row := all[i]
		if !f.run.MatchString(row.String()) {
			return nil
		}
		line, err := row.prove(ctx, eng)
		line.Commit = f.commit
		lock.Lock()
		defer lock.Unlock()
		if err != nil {
			say(fmt.Sprintf("%s: %v", row, err))
			failed++
			return nil
		}
		say(fmt.Sprintf("%s: %+v", row, line))
		e.SetFormat(line)
		return saveFormats(e)
	})
	if err != nil {
		return err
	}
	return failures(ctx, failed)
}

// saveFormats writes the evidence, with the lines in order, and prints docs/formats-exact.md.
func saveFormats(e *evidence.Evidence) error {
	var lines []evidence.Format
	for _, row := range allFormed() {
		if f := e.Format(row.model, row.Data, row.Weight); f != nil {
			lines = append(lines, *f)
		}
	}
	e.Formats = lines
	if err := e.Write(evidenceDir); err != nil {
		return err
	}
	return write(formatsPage, e.FormatsPage())
}

// measure is the line without codes: accuracy on the stored samples, and what the hardware is predicted to take.
func (f formed) measure(ctx context.Context) (line evidence.Format, err error) {
	dir := filepath.Join("examples", f.model) + "/"
	s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz"}
	g, err := s.Import()
	if err != nil {
		return line, err
	}
	subject, err := s.Subject(ctx, g, driver.Data{Inputs: dir + "inputs.npz", Labels: dir + "labels.npy"})
	if err != nil {
		return line, err
	}
	plan, err := f.Plan()
	if err != nil {
		return line, err
	}
	p, _, err := choose.Measure(ctx, subject, subject.Known, plan, true)
	if err != nil {
		return line, err
	}
	if p.Cost == nil {
		return line, fmt.Errorf("no cost is predicted: %s", p.Refused)
	}
	return evidence.Format{Model: f.model, Data: f.Data, Weight: f.Weight, Bits: math.Round(100*p.WeightBits) / 100,
		Accuracy: math.Round(1000**p.Accuracy) / 10, LUT: p.Cost.LUT, FF: p.Cost.FF, DSP: p.Cost.DSP,
		Interval: p.Cost.Interval}, nil
}

// prove measures, and compares all engines on stored and random samples.
func (f formed) prove(ctx context.Context, e driver.Engines) (evidence.Format, error) {
	line, err := f.measure(ctx)
	if err != nil {
		return line, err
	}
	j, err := f.Job(ctx, "examples", f.model)
	if err != nil {
		return line, err
	}
	random, err := driver.RandomSamples(j.HW.Scheduled, evidence.FormatSamples, 1)
	if err != nil {
		return line, err
	}
	j.Samples = append(j.Samples, random...)
	j.Stalls, j.Seeds = evidence.StallPercent, evidence.StallSeeds
	c, err := e.Verify(ctx, *j)
	if err != nil {
		return line, err
	}
	line.Codes, line.Mismatches = c.Compared, c.Mismatches
	return line, everyEngine(c, j)
}

// everyEngine finds codes that differ, engines that saw fewer codes than they should, kinds of stalls that never
// happened.
func everyEngine(c *driver.Check, j *driver.Job) error {
	each := 0 // codes of a sample, and the scales of its blocks
	for _, out := range j.HW.Scheduled.Out {
		each += out.Node.Type.Elems() + out.Node.Type.Blocks()
	}
	all := len(j.Samples) * each
	for _, e := range []struct {
		engine string
		codes  int
	}{{"pjrt", all}, {"cuda", all}, {"rtl", len(j.Seeds)*all + c.Quiet*each}} {
		if c.Compared[e.engine] != e.codes {
			return fmt.Errorf("%s was compared on %d codes, not on %d", e.engine, c.Compared[e.engine], e.codes)
		}
	}
	switch {
	case c.Mismatches != 0:
		return fmt.Errorf("%d codes differ: %v", c.Mismatches, c.First)
	case c.Stalls.Starved == 0 || c.Stalls.Blocked == 0:
		return fmt.Errorf("a kind of stall never happened: %+v", c.Stalls)
	}
	return nil
}
