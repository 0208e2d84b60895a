// SPDX-License-Identifier: Apache-2.0

//go:build long

package area_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/sim/area"
	"lathe/sim/route"
)

// routed are jets-mlp with activations of 4 bits and weights of 2: ours as the plan says, and alkaid's.
var routed = []struct {
	who, shown, plan string
	levels           int // between registers of alkaid
}{
	{who: "alkaid", shown: "5 levels", levels: peerLevels},
	{who: "alkaid", shown: "1 level", levels: 1},
	{who: "Lathe", shown: "`stages = 2`", plan: unrollStages},
	{who: "Lathe", shown: "`stage_levels = 3`", plan: unrollThree},
	{who: "Lathe", shown: "`stage_levels = 1.3`", plan: unrollLevels},
}

const (
	unrollStages = "[unroll]\nstages = 2\ndepth = 11\nfamily = \"lut4\"\n"
	unrollThree  = "[unroll]\nstage_levels = 3\ndepth = 11\nfamily = \"lut4\"\n"
	unrollLevels = "[unroll]\nstage_levels = 1.3\ndepth = 11\nfamily = \"lut4\"\n"
	narrow       = "[quantize]\nround = \"up\"\ndata = \"fixed(4)\"\nunsigned = true\nweight = \"fixed(2)\"\n"
)

// routeTime is what a network may take.
const routeTime = time.Hour

const peerRoute = "scripts/measure alkaid-route"

// TestPeerRoute places and routes jets-mlp unrolled, ours and alkaid's, by the same commands of Yosys and nextpnr with
// the same seed, and writes a section of docs/timing.md if -update says so: after an hour, so without it the rows of
// the section are only held to be those of designs. With -run for some, the rows of the others stay.
func TestPeerRoute(t *testing.T) {
	const path = "../../docs/timing.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, rows := fmt.Sprintf(routedHead, peerRoute), 0
	for _, r := range routed {
		start := fmt.Sprintf("| %s | %s |", r.who, r.shown)
		_, after, found := strings.Cut(string(page), "\n"+start)
		row, _, _ := strings.Cut(after, "\n")
		if *area.Update {
			t.Run(r.who+"_"+strings.ReplaceAll(r.shown, "`", ""), func(t *testing.T) {
				row = peerRow(t, r.plan, r.levels)
				found = true
				t.Log(start + row)
			})
		}
		if found {
			text += start + row + "\n"
			rows++
		}
	}
	_, section, written := strings.Cut(string(page), "\n## Unrolled networks\n")
	if *area.Update {
		area.Section(t, path, "Unrolled networks", strings.ReplaceAll(text, "~", "`"))
	} else if !written {
		t.Logf("docs/timing.md has no section of unrolled networks yet: %s", peerRoute)
	} else if rows == 0 || rows+2 != strings.Count(section, "\n|") {
		t.Errorf("%d rows of the section are those of designs: %s", rows, peerRoute)
	}
}

// peerRow is the rest of a row: clock, median, cells, cycles, and the slowest path.
func peerRow(t *testing.T, plan string, levels int) string {
	n := network{model: jets.model, calibrate: jets.calibrate,
		plan: plan + narrow}
	hw := hardware(t, n.source(t))
	dir, cycles := filepath.Join(t.TempDir(), "design"), 0
	if levels > 0 {
		d := describe(t, hw.Graph)
		samples(t, hw, &d, 2)
		p := alkaid(t, d, levels)
		dir, cycles = p.folder(t), p.Cycles
	} else {
		for _, u := range hw.Design.Units {
			cycles += u.Latency
		}
		if err := driver.Write(hw.Design, dir); err != nil {
			t.Fatal(err)
		}
	}
	r, err := route.Route(t.Context(), dir, route.Options{Part: "ecp5-85k", Tools: tools.NeedRoute(t, "ecp5"),
		Seeds: 1, Timeout: routeTime})
	if err != nil {
		why, _, _ := strings.Cut(strings.ReplaceAll(err.Error(), "|", "/"), "\n")
		return fmt.Sprintf(" | | | %d | not routed: %s | | |", cycles, why)
	}
	for _, h := range r.Path {
		t.Logf("%-16s %5.2f ns  %s", h.Kind, h.NS, h.Place())
	}
	from, to := r.Path[0], r.Path[len(r.Path)-1]
	logic := 0
	for _, h := range r.Path {
		if h.Kind == "logic" {
			logic++
		}
	}
	return fmt.Sprintf(" %.1f | %d | %d | %d | ~%s~ to ~%s~ | %d | %.0f %% |", r.MHz, r.LUT, r.FF, cycles,
		from.Place(), to.Place(), logic, 100*r.Wire/(r.Logic+r.Wire))
}

// folder is alkaid's text as a folder that route takes, without modules of its library that nothing instantiates.
func (p *peer) folder(t *testing.T) string {
	dir := t.TempDir()
	all := map[string]string{}
	for _, name := range p.files {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(data)
	}
	for name, text := range all {
		module := strings.TrimSuffix(filepath.Base(name), ".v")
		used := filepath.Dir(name) == "."
		for other, text := range all {
			used = used || other != name && strings.Contains(text, " "+module+" #(")
		}
		if !used {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := `{"top": "peer", "core": "peer", "units": []}`
	if err := os.WriteFile(filepath.Join(dir, "design.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ~ stands for a backquote.
const routedHead = `
Written by

    %s

jets-mlp unrolled ([unrolled.md](unrolled.md)), a sample a cycle, beside the same network by alkaid 0.8.2
([area.md](area.md)): activations of 4 bits, rounded half up, and weights of 2, since nextpnr did not find wires for
wider ones ([route.md](route.md)). Part and options are those of the page, with one seed; registers are at the ends of
both.

| made by | registers | MHz | LUT | FF | cycles | slowest path | logic hops | wires |
|---|---|--:|--:|--:|--:|---|--:|--:|
`
