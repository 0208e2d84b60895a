// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/sum"
	"lathe/ir/op/walk"
	"lathe/ir/op/whole"
)

// TestStored: weights and tables in 16 bits, which are read where they lie, give what their copies in float32 give.
func TestStored(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for _, d := range []ir.DType{ir.BF, ir.F16} {
		blob := func(shape ...int) *ir.Blob {
			b := &ir.Blob{DType: d, Bytes: make([]byte, 2*walk.Size(shape))}
			for i := range b.Bytes {
				if b.Bytes[i] = byte(r.IntN(256)); i%2 == 1 {
					b.Bytes[i] &= 0xbf // neither large nor infinite
				}
			}
			return b
		}
		for _, rows := range []int{1, 9} {
			x := draw.Values(r, "x", ir.Float(rows, 70))
			image := draw.Values(r, "x", ir.Float(1, 6, 5, rows))
			index := draw.Const("i", ir.Type{Shape: []int{rows}, Format: ir.Int64}, make([]int64, rows))
			conv := &sum.ConvAttrs{Groups: 2,
				Window: geometry.Window{Kernel: []int{3, 1}, Strides: []int{1, 1}, Pads: make([]int, 4),
					Dilations: []int{1, 1}}}
			sameStored(t, sum.Linear, nil, x, blob(33, 70), 1, 33, 70)
			sameStored(t, sum.Conv, conv, image, blob(10, 3, 3, 1), 1, 10, 3, 3, 1)
			sameStored(t, whole.Gather, &column.AxisAttrs{}, index, blob(4, 12), 0, 4, 12)
		}
	}
}

// sameStored evaluates a node with data as constant argument at, of the given shape, and with its copy.
func sameStored(t *testing.T, o *ir.Op, attrs any, x *ir.Node, data *ir.Blob, at int, shape ...int) {
	t.Helper()
	var results [2][]float32
	for i, b := range []*ir.Blob{data, ir.FloatBlob(data.Floats())} {
		args := make([]*ir.Node, 2)
		args[at] = &ir.Node{Name: "c", Op: leaf.Const, Type: ir.Float(shape...), Attrs: &ir.Const{Data: b}}
		args[1-at] = &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: x.Type}
		n, err := ir.NewNode(o, "y", "test", attrs, args...)
		if err != nil {
			t.Fatal(err)
		}
		k, err := n.Op.Eval(n)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]*ir.Tensor, 2)
		if values[1-at], err = x.Value(); err != nil {
			t.Fatal(err)
		}
		y, err := k(values)
		if err != nil {
			t.Fatal(err)
		}
		results[i] = y.Floats
	}
	if !slices.Equal(results[0], results[1]) {
		t.Errorf("%s of %s: other results", o.Name, data.DType)
	}
}
