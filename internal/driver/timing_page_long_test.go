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

// timingName is that of the page, which stands in docs/ once it is written.
const timingName = "timing"

// timingPart is what the page is about.
const timingPart = "ecp5-85k"

// timed is a row of the page: an example under the first plan with which it fits.
type timed struct {
	model, plan, failure string
	cycles               float64
	took                 time.Duration
	*route.Report
}

// TestTimingPage places and routes every example and writes the page of clocks, if -update says so: after more than an
// hour, so without it the rows of the page are only held to be those of examples. With -run for some examples, the
// rows of the others stay.
func TestTimingPage(t *testing.T) {
	models, err := inHardware("model.onnx")
	if err != nil || len(models) < 9 {
		t.Fatalf("%d examples, %v", len(models), err)
	}
	path := filepath.Join("..", "..", "docs", timingName+".md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const other = "\n## Unrolled networks\n" // which TestPeerRoute of sim/area writes
	own, section, found := strings.Cut(string(page), other)
	rows := map[string]string{}
	for _, m := range models {
		name := filepath.Base(filepath.Dir(m))
		if _, after, ok := strings.Cut(own, "\n| "+name+" |"); ok {
			row, _, _ := strings.Cut(after, "\n")
			rows[name] = "| " + name + " |" + row + "\n"
		}
	}
	if !*update {
		if len(rows) == 0 || len(rows)+2 != strings.Count(own, "\n|") {
			t.Errorf("the page of clocks has %d rows of examples: %s", len(rows), timingCommand)
		}
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
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fill routes an example under its default plan or, where that does not fit, with one multiplier a layer.
func (p *timed) fill(t *testing.T, toolFolder string) {
	start := time.Now()
	for _, p.plan = range []string{"", "serial"} {
		j, err := compile(t.Context(), p.model, "model.onnx", p.plan)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir() + "/design"
		if err := driver.Write(j.HW.Design, dir); err != nil {
			t.Fatal(err)
		}
		p.cycles, p.failure = j.HW.Interval(), ""
		p.Report, err = route.Route(t.Context(), dir, route.Options{Part: timingPart, Tools: toolFolder,
			Timeout: time.Hour})
		if err == nil {
			p.took = time.Since(start)
			t.Logf("%s %s: %.1f MHz in %v", p.model, p.plan, p.MHz, p.took.Round(time.Second))
			return
		}
		if code := diag.CodeOf(err); code != route.CodeFit {
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
