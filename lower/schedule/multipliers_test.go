// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/recurrent"
	"lathe/ir"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
	"lathe/lower/quantize"
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

// TestChain asks all layers to sum in DSPs, two products at once or one: those that can do, the others say why not.
func TestChain(t *testing.T) {
	for _, c := range []struct{ plan, note string }{
		{"[fold]\ndsp = \"chain\"", ""},
		{"[fold]\ndsp = \"pack_chain\"", ""},
		{"[quantize]\ndata = \"fixed(12)\"\nweight = \"fixed(12)\"\n[fold]\ndsp = \"pack_chain\"",
			"two products of 12 bits by weights of 12 do not fit"},
		{"[quantize]\nweight = \"fixed(4)\"\n[fold]\ndsp = \"chain\"", "by weights of 4 take LUTs"},
		{"[quantize]\ndata = \"fixed(20)\"\nweight = \"fixed(20)\"\n[fold]\ndsp = \"chain\"", "do not fit into one DSP"},
	} {
		g, r, err := decided(t, lowertest.Classifier(t), c.plan)
		if err != nil {
			t.Fatal(err)
		}
		chained := 0
		for _, n := range g.Nodes {
			if n.Op == sum.Conv && slices.ContainsFunc(unitOf(t, n), func(p string) bool {
				if strings.Contains(c.plan, "pack_chain") {
					return strings.HasPrefix(p, "LONG=")
				}
				return p == `MULT="chain"`
			}) {
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

// TestChosenChains: the lean mode has DSPs sum for a part where they can, and for no other one.
func TestChosenChains(t *testing.T) {
	for part, want := range map[string]bool{"": false, "xc7z020clg400-1": false, "xczu3eg-sbva484-1-e": true} {
		q, _, err := quantize.Run(t.Context(), lowertest.Classifier(t), plan.Default(), quantize.Calibration{},
			quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fold := "mode = \"lean\"\n"
		if part != "" {
			fold += "[target]\npart = \"" + part + "\"\n"
		}
		g, _ := inMode(t, q, fold)
		chains := slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return strings.HasSuffix(n.HW.DSP, "chain") })
		if chains != want {
			t.Errorf("%q: chains are chosen: %v, want %v", part, chains, want)
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

// TestNoDSPRecurrent: units with a state, and the products and functions of networks that are unrolled over time, obey
// dsp = "none" as layers do.
func TestNoDSPRecurrent(t *testing.T) {
	var nets []*ir.Graph
	for seed := range uint64(3) {
		kind := []recurrent.Kind{recurrent.LSTM, recurrent.GRU, recurrent.RNN}[seed%3]
		nets = append(nets, lowertest.Recurrent(t, seed, kind))
	}
	for _, dir := range []string{"digits-gru", "digits-lstm"} {
		nets = append(nets, lowertest.Load(t, dir, "model.onnx").Graph)
	}
	for i, g := range nets {
		for _, c := range []struct {
			keys string
			none bool
		}{{"dsp = \"one\"", false}, {"dsp = \"none\"", true}, {"dsp = \"none\"\n[quantize]\ndata = \"fixed(16)\"", true}} {
			p := lowertest.Plan(t, "[fold]\n"+c.keys)
			q, _, err := quantize.Run(context.Background(), g, p, quantize.Calibration{}, quantize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, r, err := Run(context.Background(), q, p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Cost().DSP; (got == 0) != c.none {
				t.Errorf("case %d, %s: %d DSPs", i, c.keys, got)
			}
		}
	}
}
