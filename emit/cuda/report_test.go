// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"encoding/json"
	"slices"
	"testing"

	"lathe/emit/cuda"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
)

// TestArrayShapes: perm of an input says which axis of the array an axis of the value is, that of an output which axis
// of the value an axis of the array is.
func TestArrayShapes(t *testing.T) {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{Perm: []int{0, 2, 3, 1}}, Type: ir.Float(1, 32, 24, 3)}
	y := &ir.Node{Name: "y", Op: pointwise.Relu, Args: []*ir.Node{x}, Type: x.Type}
	g := &ir.Graph{Name: "net", Stage: ir.StageFloat, In: []*ir.Node{x}, Nodes: []*ir.Node{x, y},
		Out: []ir.Output{{Name: "y", Node: y, Perm: []int{0, 3, 1, 2}}, {Name: "z", Node: y}}}
	d, err := cuda.Emit(g, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := d.Files(nil, "", cuda.Host{})
	if err != nil {
		t.Fatal(err)
	}
	type port struct {
		Shape []int `json:"shape"`
		Array []int `json:"array_shape"`
	}
	var r struct{ Inputs, Outputs []port }
	if err := json.Unmarshal(files[len(files)-1].Data, &r); err != nil {
		t.Fatal(err)
	}
	for _, p := range []port{r.Inputs[0], r.Outputs[0]} {
		if !slices.Equal(p.Shape, []int{1, 32, 24, 3}) || !slices.Equal(p.Array, []int{1, 3, 32, 24}) {
			t.Errorf("shape %v, array_shape %v", p.Shape, p.Array)
		}
	}
	if p := r.Outputs[1]; p.Array != nil {
		t.Errorf("an output without perm has array_shape %v", p.Array)
	}
}
