// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/ref"
)

// TestPictureLabels: classes of pixels stand along the last axis, or along the first behind the samples.
func TestPictureLabels(t *testing.T) {
	// Three classes of two by two pixels; the largest are 2, 0, 1, 0.
	byClass := []float32{1, 9, 2, 5, 3, 1, 7, 4, 8, 2, 3, 1}
	byPixel := make([]float32, len(byClass))
	for c := range 3 {
		for p := range 4 {
			byPixel[3*p+c] = byClass[4*c+p]
		}
	}
	labels, border := [][]int64{{2, 0, 1, 1}}, []int64{2, -100, -100, 1}
	for _, c := range []struct {
		shape  []int
		values []float32
		perm   []int
	}{{[]int{1, 3, 2, 2}, byClass, nil}, {[]int{1, 2, 2, 3}, byPixel, nil},
		{[]int{1, 2, 2, 3}, byPixel, []int{0, 3, 1, 2}}} {
		n := &ir.Node{Name: "y", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(c.shape...)}
		g := &ir.Graph{Name: "g", Nodes: []*ir.Node{n}, In: []*ir.Node{n},
			Out: []ir.Output{{Name: "y", Node: n, Perm: c.perm}}}
		out := ir.NewTensor(n.Type)
		copy(out.Floats, c.values)
		right, err := Accuracy(g, []ref.Sample{{out}}, labels)
		if err != nil || right != 0.75 {
			t.Errorf("%v: %v, %v, want 0.75", c.shape, right, err)
		}
		if err := CheckLabels("y.npy", labels, 1, g); err != nil {
			t.Errorf("%v: %v", c.shape, err)
		}
		if right, err = Accuracy(g, []ref.Sample{{out}}, [][]int64{border}); err != nil || right != 0.5 {
			t.Errorf("%v: %v, %v, want 0.5 without the border", c.shape, right, err)
		}
		if err := CheckLabels("y.npy", [][]int64{border}, 1, g); err != nil {
			t.Errorf("%v: %v", c.shape, err)
		}
		for _, wrong := range [][]int64{{2, 0, 1, 3}, {0, 1}, {-1, -1, -1, -1}, make([]int64, 9)} {
			if err := CheckLabels("y.npy", [][]int64{wrong}, 1, g); diag.CodeOf(err) != diag.Labels {
				t.Errorf("%v takes labels %v: %v", c.shape, wrong, err)
			}
		}
	}
}
