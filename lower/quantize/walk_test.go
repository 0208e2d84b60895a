// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"slices"
	"testing"

	"lathe/ir"
	"lathe/lower/float"
	"lathe/lower/pass"
)

// TestWalkBack asks for the values of nodes in the order of another graph, from the outputs on.
func TestWalkBack(t *testing.T) {
	e := load(t, "digits-resnet", "model.onnx")
	g, err := float.Simplify(t.Context(), e.Graph, pass.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := e.calib.arrange(e.Graph)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*ir.Node][]float32{}
	for _, back := range []bool{false, true} {
		w := newWalk(t.Context(), g, samples[:2])
		nodes := slices.Clone(g.Nodes)
		if back {
			slices.Reverse(nodes)
		}
		for _, n := range nodes {
			if n.IsConst() {
				continue
			}
			values, err := w.through(n)
			if err != nil || len(values) != 2 {
				t.Fatalf("%s: %d samples, %v", n.Name, len(values), err)
			}
			if x := values[1].Floats; back && !slices.Equal(x, seen[n]) {
				t.Errorf("%s: other values on the way back", n.Name)
			} else {
				seen[n] = x
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d nodes", len(seen))
	}
}
