// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
)

// TestPack asks all layers to pack: those that can do, the others say why not.
func TestPack(t *testing.T) {
	g, r, err := decided(t, lowertest.Classifier(t),
		"[fold]\ndsp = \"pack\"\n[[fold.rule]]\nname = \"conv1\"\nout_lanes = 3\n"+
			"[[fold.rule]]\nname = \"conv?\"\nout_lanes = 2\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"conv1": "one", "conv2": "pack"}
	for _, n := range g.Nodes {
		if n.Op != sum.Conv {
			continue
		}
		if n.HW.DSP != want[n.Name] {
			t.Errorf("%s: %q, want %q", n.Name, n.HW.DSP, want[n.Name])
		}
		packed := slices.ContainsFunc(unitOf(t, n), func(p string) bool { return p == `MULT="pack"` })
		if packed != (n.HW.DSP == "pack") {
			t.Errorf("%s: packed is %v", n.Name, packed)
		}
	}
	if !slices.ContainsFunc(r.Notes, func(s string) bool {
		return strings.Contains(s, `conv1 keeps dsp = "one": out_lanes 3 are no multiple of 2`)
	}) {
		t.Errorf("notes: %q", r.Notes)
	}
}

// TestPackFour asks a layer of few bits to pack: four lanes share a DSP, two do not.
func TestPackFour(t *testing.T) {
	for lanes, want := range map[string]string{"4": "pack", "2": "one"} {
		b := lowertest.New(t, 1)
		g, r, err := decided(t, b.Done(b.Linear("fc", b.Input("x", 1, 16), 8, true)), "[quantize]\ndata = \"fixed(4)\"\n"+
			"weight = \"fixed(4)\"\n[fold]\ndsp = \"pack\"\n[[fold.rule]]\nname = \"fc*\"\nout_lanes = "+lanes)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range g.Nodes {
			if n.Op != sum.Linear {
				continue
			}
			if packed := slices.Contains(unitOf(t, n), `MULT="pack"`); n.HW.DSP != want || packed != (want == "pack") {
				t.Errorf("%s lanes: %q, packed is %v, want %q; notes: %q", lanes, n.HW.DSP, packed, want, r.Notes)
			}
		}
	}
}

// TestChain asks all layers to sum in DSPs: those that can do, the others say why not.
func TestChain(t *testing.T) {
	for _, c := range []struct{ plan, note string }{
		{"[fold]\ndsp = \"chain\"", ""},
		{"[quantize]\nweight = \"fixed(4)\"\n[fold]\ndsp = \"chain\"", "by weights of 4 take LUTs"},
		{"[quantize]\ndata = \"fixed(20)\"\nweight = \"fixed(20)\"\n[fold]\ndsp = \"chain\"", "do not fit into one DSP"},
	} {
		g, r, err := decided(t, lowertest.Classifier(t), c.plan)
		if err != nil {
			t.Fatal(err)
		}
		chained := 0
		for _, n := range g.Nodes {
			if n.Op == sum.Conv && slices.Contains(unitOf(t, n), `MULT="chain"`) {
				chained++
			}
		}
		noted := slices.ContainsFunc(r.Notes, func(s string) bool {
			return strings.Contains(s, `conv2 keeps dsp = "one": `) && strings.Contains(s, c.note)
		})
		if want := c.note != ""; noted != want || chained > 0 == want {
			t.Errorf("%s: %d convolutions are chained, notes: %q", c.plan, chained, r.Notes)
		}
	}
}

// unitOf lists the parameters of the unit of n.
func unitOf(t *testing.T, n *ir.Node) []string {
	t.Helper()
	u, err := n.Op.RTL(n)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, p := range u.Params {
		list = append(list, p.Name+"="+p.Value)
	}
	return list
}
