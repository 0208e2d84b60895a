// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/sim/route"
)

const timingCommand = "go test -count=1 -timeout 6h -tags long -run '^TestTimingPage$' -v ./internal/driver -update"

// timingPath is that of the page.
const timingPath = "../../docs/timing.md"

// timingPart is what the page is about.
const timingPart = "ecp5-85k"

// timed is a row of the page: an example under the first plan with which it fits.
type timed struct {
	model, plan, failure string
	cycles               float64
	took                 time.Duration
	*route.Report
}

// TestTimingPage places and routes every example and writes the page of clocks if -update says so: after more than an
// hour, so without it the rows of the page are only held to be those of examples.
// With -run for some examples, the rows of the others stay.
func TestTimingPage(t *testing.T) {
	models, err := filepath.Glob(examples + "*/model.onnx")
	if err != nil || len(models) < 14 {
		t.Fatalf("%d examples, %v", len(models), err)
	}
	page, err := os.ReadFile(timingPath)
	if err != nil {
		t.Fatal(err)
	}
	const other = "\n## Unrolled networks\n" // which TestPeerRoute of sim/area writes
	own, section, found := strings.Cut(string(page), other)
	rows := timingRows(own)
	if !*update {
		timingsHold(t, models, rows)
		return
	}
	dir := tools.NeedRoute(t, "ecp5")
	text := fmt.Sprintf(timingHead, timingCommand, timingPart)
	var missing []string
	for _, m := range models {
		p := &timed{model: filepath.Base(filepath.Dir(m))}
		t.Run(p.model, func(t *testing.T) {
			if p.fill(t, dir); !t.Failed() {
				rows[p.model] = p.row()
			}
		})
		if text += rows[p.model]; rows[p.model] == "" {
			missing = append(missing, p.model)
		}
	}
	if missing != nil {
		text += "\nNot routed yet: " + strings.Join(missing, ", ") + ".\n"
	}
	text = strings.ReplaceAll(text, "~", "`")
	if found {
		text += other + section
	}
	if err := os.WriteFile(timingPath, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// timingsHold finds rows that are not those of examples.
func timingsHold(t *testing.T, models []string, rows map[string]string) {
	known := 0
	for _, m := range models {
		if rows[filepath.Base(filepath.Dir(m))] != "" {
			known++
		}
	}
	if known == 0 || known != len(rows) {
		t.Errorf("%d of %d rows of the page of clocks are those of examples: %s", known, len(rows), timingCommand)
	}
}

// timingRows are the rows of docs/timing.md, by their examples.
func timingRows(page string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(page) {
		if c := columns(line); len(c) == timingColumns && c[1] != "example" && !strings.HasPrefix(c[1], "-") {
			rows[c[1]] = line
		}
	}
	return rows
}

// timingColumns are the cells of a row, with an empty one at each end.
const timingColumns = 13

// columns are the cells of a line of a table, behind an empty one.
func columns(line string) []string {
	list := strings.Split(line, "|")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// fill routes an example under its default plan or, where that does not fit, with one multiplier a layer.
func (p *timed) fill(t *testing.T, toolFolder string) {
	start := time.Now()
	for _, p.plan = range []string{"", "serial"} {
		dir := examples + p.model + "/"
		s := driver.Source{Model: dir + "model.onnx"}
		if _, err := os.Stat(dir + "calib.npz"); err == nil {
			s.Calibrate = dir + "calib.npz"
		}
		if p.plan != "" {
			s.Plan = examples + "plans/" + p.plan + ".toml"
		}
		hw := emitted(t, s)
		dir = t.TempDir() + "/design"
		err := driver.Write(hw.Design, dir)
		if err != nil {
			t.Fatal(err)
		}
		p.cycles, p.failure = hw.Interval(), ""
		p.Report, err = route.Route(t.Context(), dir, route.Options{Part: timingPart, Tools: toolFolder,
			Timeout: time.Hour})
		if err == nil {
			p.took = time.Since(start)
			t.Logf("%s %s: %.1f MHz in %v", p.model, p.plan, p.MHz, p.took.Round(time.Second))
			return
		}
		if code := diag.CodeOf(err); code != diag.DesignTooLarge {
			t.Errorf("%s %s: %v", p.model, p.plan, err)
		}
		p.failure = err.(*diag.Error).Msg
		t.Logf("%s %s: %s", p.model, p.plan, p.failure)
	}
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
