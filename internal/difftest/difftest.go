// SPDX-License-Identifier: Apache-2.0

// Package difftest draws random graphs and runs them on every engine. An operation enters by standing in op.All, with
// its Gen column, and by its definition in the slow evaluator, in exact fractions (slow_*.go); formats are defined a
// second time there too. Operations and formats are also named where random graphs form chains and blocks, and in cases
// of single values.
//
// The tests of this folder compare
//
//	here       the Eval column            with the slow evaluator, over all formats
//	floats     float graphs               with the slow evaluator, and with PJRT within a tolerance
//	programs   StableHLO on PJRT          with the Eval column, code by code
//	hardware   Verilated and Icarus RTL   with the Eval column, code by code, under random stalls
//	kernels    CUDA kernels, emulated     with the Eval column, code by code; float graphs within a tolerance
//
// for every operation alone and for chains. They are packages of their own, since go test runs packages side by side.
// Case i of operation o is the same graph on every machine; a failure names it (linear/17), and
// `go test ./internal/difftest -run 'TestExact/linear/17'` runs it again.
package difftest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/op/leaf"
)

// Rand is the random source of case i of the test called name.
func Rand(name string, i int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(i)))
}

// Case draws graph i of operation o.
func Case(o *ir.Op, i int) (*ir.Graph, *rand.Rand) {
	r := Rand(o.Name, i)
	return o.Gen(r, o), r
}

// Ops are the operations that tests can draw: all but inputs and constants.
func Ops() []*ir.Op {
	var ops []*ir.Op
	for _, o := range op.All {
		if o != leaf.Input && o != leaf.Const {
			ops = append(ops, o)
		}
	}
	return ops
}

// Describe prints the nodes of a graph for a failure: types, attributes, and constants up to 64 elements.
func Describe(g *ir.Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s = %s(", n.Name, n.Op.Name)
		for i, a := range n.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(a.Name)
		}
		fmt.Fprintf(&b, ") %s", n.Type)
		if c, ok := n.Attrs.(*ir.Const); ok {
			if ints, err := c.Data.Ints(); err == nil && len(ints) <= 64 {
				fmt.Fprintf(&b, " %v", ints)
			}
		} else if n.Attrs != nil {
			fmt.Fprintf(&b, " %+v", n.Attrs)
		}
		if h := n.HW; h.OutLanes != 0 {
			fmt.Fprintf(&b, " lanes %d (stream %d) to %d, %s %s fifo %d", h.InLanes, h.StreamIn, h.OutLanes, h.Style,
				h.Mem, h.Fifo)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Merge puts graphs side by side into one, node names prefixed by c0_, c1_, ...: many small cases then cost one program
// or one simulation. Outputs are named after their case.
func Merge(name string, graphs []*ir.Graph) *ir.Graph {
	m := &ir.Graph{Name: name, Stage: graphs[0].Stage}
	for i, g := range graphs {
		c := g.Clone()
		for _, n := range c.Nodes {
			n.Name = fmt.Sprintf("c%d_%s", i, n.Name)
		}
		m.Nodes, m.In = append(m.Nodes, c.Nodes...), append(m.In, c.In...)
		for _, o := range c.Out {
			m.Out = append(m.Out, ir.Output{Name: fmt.Sprintf("c%d_%s", i, o.Name), Node: o.Node, Perm: o.Perm})
		}
	}
	return m
}
