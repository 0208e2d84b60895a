// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
)

// TestKeptPlans: nodes share a plan where all that it is made of is the same, and only there.
func TestKeptPlans(t *testing.T) {
	n := manyNode(rand.New(rand.NewPCG(4, 4)), 8, true)
	plan := func(change func(n *ir.Node)) Sum {
		m := *n
		m.Args = nil
		for _, a := range n.Args {
			c := *a
			m.Args = append(m.Args, &c)
		}
		change(&m)
		p, err := New(&m)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := plan(func(*ir.Node) {})
	wide := format.Fixed{W: 12, F: 4, Signed: true}
	for what, change := range map[string]func(n *ir.Node){
		"data":    func(n *ir.Node) { n.Args[0].Type.Format = wide },
		"bias":    func(n *ir.Node) { n.Args[2].Attrs = &ir.Const{Data: ir.CodeBlob(make([]int64, 512))} },
		"no bias": func(n *ir.Node) { n.Args = n.Args[:2] },
		"scales":  func(n *ir.Node) { n.Args[1].Type.Scales = make([]float32, 512); fill(n.Args[1].Type.Scales) },
		"result":  func(n *ir.Node) { n.Type.Format = wide },
		"weights": func(n *ir.Node) {
			same := n.Args[1].Attrs.(*ir.Const).Data
			n.Args[1].Attrs = &ir.Const{Data: &ir.Blob{DType: same.DType, Bytes: same.Bytes}}
		},
	} {
		if plan(change) == first {
			t.Errorf("%s of another node, and the plan of the first", what)
		}
	}
	if plan(func(n *ir.Node) { n.HW.OutLanes, n.Name = 64, "z" }) != first {
		t.Error("lanes and names make no other plan")
	}
}

func fill(scales []float32) {
	for i := range scales {
		scales[i] = 1
	}
}
