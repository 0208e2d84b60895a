// SPDX-License-Identifier: Apache-2.0

//go:build long

package programs

import (
	"flag"
	"slices"
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
)

var rows = flag.Int("rows", 1_000_000, "random rows of each operation that TestRows compares")

// rowSamples run on each program, and one in slowShare also in the slow evaluator.
const (
	rowSamples = 1024
	slowShare  = 16
)

// rowOps are the operations that transformers add to convolutions and linear layers.
var rowOps = []string{"softmax", "log_softmax", "layer_norm", "rms_norm", "attend_scores", "attend_weights",
	"attend_sum", "scale", "rotate", "embedding", "gelu", "gelu_tanh", "silu", "argmax"}

// TestRows compares random rows of each of these operations, code by code: the reference with StableHLO on PJRT in all
// of them, and with the slow evaluator in exact fractions in every sixteenth sample. Graphs have all formats and shapes
// that tests draw; fixed-point inputs of every second one are given 8 or, by turns, 16 bits, where the operation takes
// them. A row is a line of a result along its last axis.
//
//	go test -count=1 -timeout 24h -tags long -run '^TestRows$' -v ./internal/difftest/programs [-rows 50000]
func TestRows(t *testing.T) {
	found := 0
	for _, o := range difftest.Ops() {
		if !slices.Contains(rowOps, o.Name) {
			continue
		}
		found++
		t.Run(o.Name, func(t *testing.T) {
			var c counts
			for next := 0; c.rows < *rows; {
				m := merged(t, o, &next, &c)
				c.compare(t, m, difftest.Samples(difftest.Rand(o.Name+" rows", next), m, rowSamples))
			}
			t.Logf("%s: %d rows (%d in the slow evaluator, too) of %d graphs, inputs of 8 bits in %d of them, of 16 in %d; "+
				"samples of a program that differ: %d on PJRT, %d from the slow evaluator",
				o.Name, c.rows, c.slowRows, c.graphs, c.bits[8], c.bits[16], c.programs, c.slow)
		})
	}
	if found != len(rowOps) {
		t.Errorf("%d of %d operations are known", found, len(rowOps))
	}
}

// counts are of what was compared, and of samples that differ.
type counts struct {
	rows, slowRows, graphs, slow, programs int
	bits                                   map[int]int // graphs by the bits of argument 0
}

// merged is the next graphs that have a StableHLO form, as one.
func merged(t *testing.T, o *ir.Op, next *int, c *counts) *ir.Graph {
	var graphs []*ir.Graph
	for refused := 0; len(graphs) < PerProgram; *next++ {
		g, _ := difftest.Case(o, *next)
		if len(graphs)%2 == 0 {
			g = resized(g, 8<<(len(graphs)/2%2))
		}
		bits := g.Out[0].Node.Args[0].Type.Format.Width()
		if _, err := golden.Print(g, 1, false); err == nil {
			graphs = append(graphs, g)
			if c.graphs++; c.bits == nil {
				c.bits = map[int]int{}
			}
			c.bits[bits]++
		} else if refused++; !slices.Contains(Refused, diag.CodeOf(err)) || refused > 1000 {
			t.Fatalf("case %d: %v", *next, err)
		}
	}
	return difftest.Merge(o.Name, graphs)
}

// resized is g with inputs of so many bits and the same range, where the operation allows it.
func resized(g *ir.Graph, bits int) *ir.Graph {
	c := g.Clone()
	for _, n := range c.In {
		if f, fixed := n.Type.Format.(format.Fixed); fixed {
			n.Type.Format = format.Fixed{W: bits, F: f.F + bits - f.W, Signed: f.Signed}
		}
	}
	n := c.Out[0].Node
	if n.Args[0].IsConst() || c.Check() != nil || n.Op.Legal != nil && n.Op.Legal(n) != nil {
		return g
	}
	return c
}

// rowsOf counts the rows of a sample's results.
func rowsOf(g *ir.Graph) (n int) {
	for _, o := range g.Out {
		last := 1
		if s := o.Node.Type.Shape; len(s) > 0 {
			last = s[len(s)-1]
		}
		n += o.Node.Type.Elems() / max(last, 1)
	}
	return n
}

// compare runs samples, counts those whose results differ, and says of the first how.
func (c *counts) compare(t *testing.T, g *ir.Graph, samples []ref.Sample) {
	want, err := difftest.Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatal(err)
	}
	got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, samples, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for s := range samples {
		c.rows += rowsOf(g)
		if d := difftest.Differ(g, want[s], got[s], 0); d != "" {
			if c.programs++; c.programs == 1 {
				t.Errorf("PJRT: %s", d)
			}
		}
		if s%slowShare != c.graphs%slowShare { // another one of each program
			continue
		}
		exact, err := difftest.Slow(g, samples[s])
		if err != nil {
			t.Fatal(err)
		}
		c.slowRows += rowsOf(g)
		if d := difftest.Differ(g, exact, want[s], 0); d != "" {
			if c.slow++; c.slow == 1 {
				t.Errorf("slow evaluator: %s", d)
			}
		}
	}
}
