// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"cmp"
	"fmt"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/plan"
	"lathe/lower/schedule"
	"strings"
)

func (t *planText) fold() {
	f := &t.plan.Fold
	t.line("\n[fold]")
	t.key(true, "mode", f.Mode, strings.Join(plan.ModeWords, ", "))
	if f.Layers != "" {
		t.key(f.LayersFrom != "", "layers", f.Layers, strings.Join(plan.LayerWords, ", "))
	}
	t.key(f.Images > 1, "images", f.Images, "samples at once in the layers that share units")
	if f.FPS > 0 {
		t.key(true, "fps", f.FPS, "samples a second at clock_mhz")
	}
	for _, b := range f.Bounds() {
		if *b.Most > 0 {
			t.key(true, b.Key, *b.Most, "")
		}
	}
	dsp := f.DSP
	if dsp == "" {
		dsp = plan.DspWords[0]
	}
	t.key(f.DSP != "", "dsp", dsp, strings.Join(plan.DspWords, ", "))
	t.unrolled(&f.Sums, f.AutoUnroll)
	t.memory(&f.Memory)
	for _, r := range f.Rules {
		t.line("\n[[fold.rule]]")
		t.match(&r.Match)
		for _, k := range []struct {
			key string
			n   int
		}{{"in_lanes", r.InLanes}, {"out_lanes", r.OutLanes}, {"pad_channels", r.Channels}} {
			if k.n > 0 {
				t.key(true, k.key, k.n, "")
			}
		}
		for _, k := range []struct{ key, text string }{{"style", r.Style.String()}, {"mem", r.Mem},
			{"line_mem", r.Lines}, {"weights", r.Weights}, {"ram", r.Ram}, {"dsp", r.DSP}} {
			if k.text != "" {
				t.key(true, k.key, k.text, "")
			}
		}
	}
	if t.scheduled != nil {
		t.lanes(t.scheduled)
	}
}

// lanes writes the lanes of each unit as comments.
func (t *planText) lanes(r *schedule.Report) {
	named := make(map[string]bool, len(t.graph.Nodes)) // not what scheduling adds
	for _, n := range t.graph.Nodes {
		named[n.Name] = true
	}
	for _, u := range r.Units {
		if u.Module == "" || !named[u.Node] {
			continue
		}
		about := u.Module + ", " + diag.Cycles(u.II)
		if u.Costed {
			about += fmt.Sprintf(", %s LUT, %s DSP", diag.Grouped(u.Cost.LUT), diag.Grouped(u.Cost.DSP))
		}
		t.line("\n%-32s # %s", "# [[fold.rule]]", about)
		t.line("# %s", matchLine(u.Node))
		if u.Wired {
			t.line("# style = \"unroll\"")
		} else {
			t.line("# in_lanes = %d\n# out_lanes = %d", u.InLanes, u.OutLanes)
		}
		if channels := r.Pads[u.Node]; channels > 0 {
			t.line("# pad_channels = %d", channels)
		}
		t.store(r.Balance, u.Node)
	}
}

// memory writes where weights live; the port is a comment where all are in the chip.
func (t *planText) memory(m *plan.Memory) {
	t.line("\n[memory]")
	t.key(m.Weights != plan.WeightsWords[0], "weights", m.Weights, strings.Join(plan.WeightsWords, ", "))
	t.key(m.Ram != plan.RamWords[0], "ram", m.Ram, strings.Join(plan.RamWords, ", "))
	t.key(m.Cache != "" && m.Cache != plan.CacheWords[0], "cache", cmp.Or(m.Cache, plan.CacheWords[0]),
		strings.Join(plan.CacheWords, ", ")+": keys and values of a decoder")
	if m.Check {
		t.key(true, "check", plan.CheckWords[1], "weights in ROMs are read once after reset, before they are used")
	}
	t.key(m.AXIBits != plan.DefaultAXI, "axi_bits", m.AXIBits, "bits of the memory port")
	t.key(m.Burst != plan.DefaultBurst, "burst", m.Burst, "beats of a burst")
}

// store writes where weights and the line buffer of a node were moved to, as comments.
func (t *planText) store(b *unit.Balance, node string) {
	if b == nil {
		return
	}
	for _, s := range b.Stores {
		switch {
		case s.Node != node:
		case s.Lines:
			t.line("# line_mem = %q # %s", s.Memory, s.Why)
		case s.Memory == unit.StoreUltra:
			t.line("# weights = \"hold\" # %s\n# ram = %q", s.Why, s.Memory)
		default:
			t.line("# mem = %q # %s", s.Memory, s.Why)
		}
	}
}

// unrolled writes them.
func (t *planText) unrolled(s *ir.Sums, auto bool) {
	t.line("\n[unroll]")
	t.key(auto, "auto", auto, "in the balance mode, unroll the layers that then cost less")
	if s.Depth > 0 {
		t.key(true, "depth", s.Depth, "levels of logic of a sum, at most")
	}
	if s.Stages > 0 {
		t.key(true, "stages", s.Stages, "rows of registers in a layer")
	} else {
		t.key(s.StageLevels != plan.UsualSums.StageLevels, "stage_levels", s.StageLevels, "levels of logic between registers")
	}
	t.key(s.Effort != plan.UsualSums.Effort, "effort", s.Effort, "ways of adding up that are tried for each sum")
	if s.Digits > 0 {
		t.key(true, "digits", s.Digits, "bits of each element that go into a sum in a cycle")
	}
	word := plan.FamilyWords[0]
	if s.LUT == 4 {
		word = plan.FamilyWords[1]
	}
	t.key(s.LUT == 4, "family", word, "LUTs in front of carries")
}
