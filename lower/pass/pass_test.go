// SPDX-License-Identifier: Apache-2.0

package pass_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/lower/float"
	"lathe/lower/float/simplify"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// turn leaves a node that reads nothing but constants.
func turn(_ *pass.Report, g *ir.Graph) error {
	fc := g.Find("fc1")
	w := fc.Args[1]
	same := &ir.Node{Name: "same", Op: move.Identity, Args: []*ir.Node{w}, Type: w.Type}
	g.InsertBefore(fc, same)
	fc.Args[1] = same
	return nil
}

// scale multiplies weights.
func scale(by float32) func(*pass.Report, *ir.Graph) error {
	return func(_ *pass.Report, g *ir.Graph) error {
		fc := g.Find("fc1")
		w, err := fc.Args[1].Value()
		if err != nil {
			return err
		}
		values := slices.Clone(w.Floats)
		for i := range values {
			values[i] *= by
		}
		simplify.SetConst(g, fc, 1, w.Type.Shape, values)
		return nil
	}
}

// hold runs a pass under Verify: it must keep its promise where part is "", else the manager's error says part.
func hold(t *testing.T, step pass.Pass[*pass.Report], part string) {
	t.Helper()
	g, report := lowertest.Network(t), &pass.Report{}
	r := float.NewRunner(context.Background(), g, plan.Default(), nil, report, pass.Options{Verify: true})
	err := pass.Run(r, report, pass.Pipeline[*pass.Report]{step}, g)
	switch {
	case part == "" && err != nil:
		t.Errorf("%s: %v", step.Name, err)
	case part != "" && (diag.CodeOf(err) != "L0405" || !strings.Contains(err.Error(), part)):
		t.Errorf("%s: %v, want %q", step.Name, err, part)
	}
}

// TestManagerNamesThePass runs passes that break their promises: the manager must find each and name it.
func TestManagerNamesThePass(t *testing.T) {
	for _, c := range []struct {
		step pass.Pass[*pass.Report]
		part string
	}{
		{pass.New("good", "", pass.Annotate, 0, func(_ *pass.Report, g *ir.Graph) error {
			g.Nodes[0].HW.InLanes = 3
			return nil
		}), ""},
		{pass.New("good", "", pass.Lossy, 0.1, scale(1.0001)), ""},
		{pass.New("exact", "", pass.Exact, 0, scale(1.0001)), "pass exact promises the same values"},
		{pass.New("bounded", "", pass.Lossy, 1e-6, scale(1.0001)), `pass bounded changes output "y0"`},
		{pass.New("notes", "", pass.Annotate, 0, scale(1.0001)),
			`pass notes promises to annotate, but changes the operation of node "const"`},
		{pass.New("renames", "", pass.Annotate, 0, func(_ *pass.Report, g *ir.Graph) error {
			g.Find("relu").Name = "r"
			return nil
		}), `changes node "relu", which is gone`},
		{pass.New("rewires", "", pass.Annotate, 0, func(_ *pass.Report, g *ir.Graph) error {
			g.Find("fc2").Args[0] = g.Find("fc1")
			return nil
		}), `changes the arguments of node "fc2"`},
		{pass.New("breaks", "", pass.Exact, 0, func(_ *pass.Report, g *ir.Graph) error {
			g.Find("relu").Type = ir.Float(7)
			return nil
		}), "pass breaks leaves a graph that breaks the rules"},
		{pass.New("turns", "", pass.Exact, 0, turn), `pass turns leaves node "same" to read nothing but constants`},
	} {
		hold(t, c.step, c.part)
	}
}

// TestManagerHoldsCuts: a graph may end at other nodes that it had, with the values that these had.
func TestManagerHoldsCuts(t *testing.T) {
	hold(t, pass.New("cuts", "", pass.Cut, 0, func(_ *pass.Report, g *ir.Graph) error {
		g.Out[0].Node = g.Find("relu")
		g.DropDead()
		return nil
	}), "")
	hold(t, pass.New("cuts", "", pass.Cut, 0, scale(1.0001)), "pass cuts promises the same values")
	hold(t, pass.New("cuts", "", pass.Cut, 0, func(_ *pass.Report, g *ir.Graph) error {
		g.Out[0].Node.Name = "end"
		return nil
	}), `pass cuts ends at node "end", which the graph did not have`)
}
