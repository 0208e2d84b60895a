// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"strings"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/stream"
	"lathe/ir/unit"
	"lathe/lower"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/schedule/tokens"
)

// attentionJob is a layer of attention with a short cut: 5 tokens of 2 heads of 4 features, causal, with a mask of
// keys.
func attentionJob(t *testing.T) *driver.Job {
	t.Helper()
	b := lowertest.New(t, 9)
	x := b.Input("x", 1, 5, 8)
	keep := b.Add(move.Reshape, "keep4", &move.ReshapeAttrs{Shape: []int{1, 1, 1, 5}}, b.Bits("keep", 1, 5))
	args := []*ir.Node{nil, nil, nil, keep}
	for i, name := range []string{"q", "k", "v"} {
		y := b.Add(move.Reshape, name+"_heads", &move.ReshapeAttrs{Shape: []int{1, 5, 2, 4}}, b.Linear(name, x, 8, true))
		args[i] = b.Add(move.Transpose, name+"_turn", &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, y)
	}
	y := b.Add(sequence.Attention, "attention", &sequence.AttentionAttrs{Causal: true}, args...)
	y = b.Add(move.Transpose, "turn", &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, y)
	y = b.Linear("out", b.Add(move.Reshape, "join", &move.ReshapeAttrs{Shape: []int{1, 5, 8}}, y), 8, true)
	g := b.Done(b.Add(pointwise.Add, "sum", nil, x, y))
	p, err := plan.Parse("plan.toml", []byte("[[fold.rule]]\nop = \"attend_scores\"\nout_lanes = 1\n"+
		"[[fold.rule]]\nop = \"attend_sum\"\nin_lanes = 1\n")) // a tile for each key
	if err != nil {
		t.Fatal(err)
	}
	q, report, err := lower.Quantize(t.Context(), g, p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hw, err := (&driver.Quantized{Plan: p, Float: g, Graph: q, Report: report}).Emit(t.Context(),
		verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	j := &driver.Job{HW: hw, Stalls: 30, Seeds: []uint64{1}}
	if j.Samples, err = driver.RandomSamples(hw.Scheduled, 20, 3); err != nil {
		t.Fatal(err)
	}
	return j
}

// TestAttentionCanFail breaks one thing at a time in the hardware of attention: verify must turn red and name the node.
func TestAttentionCanFail(t *testing.T) {
	e := engines(t)
	e.NoPJRT = true
	type fault struct{ name, node, file, old, with string }
	for _, c := range append(tools.Few(1, []fault{
		{"a mask that shows all keys", "attention.weights", "op_softmax_masked.sv", "assign live = open & seen;",
			"assign live = seen;"},
		{"a mask of the frame before", "attention.weights", "op_softmax_masked.sv", "open = fresh ? b_data : kept;",
			"open = kept;"},
		{"causal order that shows a key more", "attention.weights", "op_softmax_seen.sv", "left > J_W'(i)",
			"left >= J_W'(i)"},
		{"keys off by one", "attention.scores", "op_attend_feed.sv", ".en(en), .addr(addr)",
			".en(en), .addr(SUM == 0 && !tile_first ? addr - 1'b1 : addr)"},
		{"a tile of values off by one", "attention", "op_attend_feed.sv", ".en(en), .addr(addr)",
			".en(en), .addr(SUM != 0 && !tile_first ? addr - 1'b1 : addr)"},
	}), fault{"none", "", "op_attend_sum.sv", "", ""}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := attentionJob(t)
			replace(t, j, c.file, c.old, c.with)
			check, err := e.Verify(t.Context(), *j)
			switch {
			case err != nil:
				t.Fatal(err)
			case (check.Mismatches > 0) != (c.node != ""):
				t.Errorf("%d mismatches", check.Mismatches)
			case check.Mismatches > 0 && check.First[len(check.First)-1].Node != c.node:
				t.Errorf("%v; want node %s", check.First, c.node)
			}
		})
	}
}

// TestAttentionShallow makes each FIFO of attention one place shallower: verify must name it.
func TestAttentionShallow(t *testing.T) {
	e := engines(t)
	sound := attentionJob(t)
	times, err := tokens.Run(t.Context(), sound.HW.Scheduled, &unit.Cache{}, 16)
	if err != nil {
		t.Fatal(err)
	}
	fifos, short := 0, false
	for _, n := range sound.HW.Scheduled.Nodes {
		if n.Op != stream.Fifo {
			continue
		}
		fifos++
		graph, design := *sound, *sound
		graph.HW = withFifo(t, sound.HW, n.Name, n.HW.Fifo-1)
		_, err := e.Verify(t.Context(), graph)
		if diag.CodeOf(err) != "L0720" || !strings.Contains(err.Error(), n.Name) {
			t.Errorf("%s of %d beats in the graph: %v", n.Name, n.HW.Fifo-1, err)
		}
		if short || times.Most[n] == n.HW.Fifo {
			continue // one simulation is enough; a FIFO in front of a folded linear may be full
		}
		short = true
		design.HW = withFifo(t, sound.HW, n.Name, times.Most[n])
		design.HW.Scheduled = sound.HW.Scheduled
		_, err = e.Verify(t.Context(), design)
		if diag.CodeOf(err) != "L0721" || !strings.Contains(err.Error(), n.Name) {
			t.Errorf("%s of %d beats in hardware: %v", n.Name, times.Most[n], err)
		}
	}
	if fifos == 0 || !short {
		t.Errorf("%d FIFOs", fifos)
	}
}
