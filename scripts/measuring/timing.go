// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/emit/verilog"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/evidence"
	"lathe/sim/route"
)

const timingCommand = "scripts/measure timing"

// unrolled begins the section of docs/timing.md that TestPeerRoute of sim/area writes.
const unrolled = "\n## Unrolled networks\n"

// timed is a row of the page: an example under the first plan with which it fits.
type timed struct {
	model, plan, failure string
	cycles               float64
	*route.Report
}

// timing places and routes the examples that -run matches, each for minutes, and writes the page of clocks. The rows of
// the others stay, as does that of one that fails.
func timing(ctx context.Context, f *flags, _ []string, say func(string)) error {
	models, err := timedModels()
	if err != nil {
		return err
	}
	page, err := os.ReadFile(timingPage)
	if err != nil {
		return err
	}
	rows, failed := timingRows(string(page)), 0
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
		rows[m] = p.row()
		if err := write(timingPage, timingText(string(page), models, rows)); err != nil {
			return err
		}
	}
	return failures(ctx, failed)
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

// timingRows are the rows of docs/timing.md, by their examples.
func timingRows(page string) map[string]string {
	rows := map[string]string{}
	own, _, _ := strings.Cut(page, unrolled)
	for line := range strings.Lines(own) {
		if c, ok := evidence.TimingRow(line); ok {
			rows[c[1]] = line
		}
	}
	return rows
}

// timingText is the page with these rows, and with the section on unrolled networks that the page has now.
func timingText(page string, models []string, rows map[string]string) string {
	text := fmt.Sprintf(timingHead, timingCommand, evidence.TimingPart)
	var missing []string
	for _, m := range models {
		if text += rows[m]; rows[m] == "" {
			missing = append(missing, m)
		}
	}
	if missing != nil {
		text += "\nNot routed yet: " + strings.Join(missing, ", ") + ".\n"
	}
	text = strings.ReplaceAll(text, "~", "`")
	if _, section, found := strings.Cut(page, unrolled); found {
		text += unrolled + section
	}
	return text
}

// fill routes an example under its default plan or, where that does not fit, with one multiplier a layer.
func (p *timed) fill(ctx context.Context, tools string, say func(string)) error {
	for _, p.plan = range []string{"", "serial"} {
		start := time.Now()
		hw, err := p.emit(ctx)
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

// emit compiles the example under the plan.
func (p *timed) emit(ctx context.Context) (*driver.Hardware, error) {
	dir := filepath.Join("examples", p.model)
	s := driver.Source{Model: filepath.Join(dir, "model.onnx")}
	if calib := filepath.Join(dir, "calib.npz"); exists(calib) {
		s.Calibrate = calib
	}
	if p.plan != "" {
		s.Plan = filepath.Join("examples", "plans", p.plan+".toml")
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

func (p *timed) row() string {
	plan := p.plan
	if plan == "" {
		plan = "default"
	}
	if p.Report == nil {
		return fmt.Sprintf("| %s | %s | %s | | | | | | | | |\n", p.model, plan, p.failure)
	}
	wires := 100 * p.Wire / (p.Logic + p.Wire)
	return fmt.Sprintf("| %s | %s | %.1f | %.1f | %s | %d | %d | %d | %d | %s | %.0f %% |\n", p.model, plan, p.MHz,
		p.Median, diag.Number(p.MHz*1e6/p.cycles, 4), p.LUT, p.FF, p.DSP, p.BRAM, p.Report.Layer(), wires)
}

// ~ stands for a backquote.
const timingHead = `# Clocks after place and route

Written by

    %s

Examples under their default plans (-run writes the rows of some anew), placed and routed by
~lathe route~ ([route.md](route.md)) for %s, speed grade 6,
the slowest, with two seeds. An example that does not fit is built with one multiplier a layer (plan ~serial~). The rate
is the clock divided by the cycles of a sample. The layer is that in which the slowest path spends most of its time, and
wires are their share of that path.

| example | plan | MHz | median | samples/s | LUT | FF | DSP | BRAM | slowest in | wires |
|---|---|--:|--:|--:|--:|--:|--:|--:|---|--:|
`
