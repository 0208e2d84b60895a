// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
)

// smallScale is blocks with scale fields of 5 bits, of which the last is NaN.
type smallScale struct{ format.IntBlock }

func (smallScale) String() string           { return "small" }
func (s smallScale) CodeSet() format.Format { return s }

// TestRandomScales demands scales that the format has, of which most are near 1.
func TestRandomScales(t *testing.T) {
	f := smallScale{format.IntBlock{W: 6, K: 4, ScaleBits: 5, Bias: 20}}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{32}, Format: f}}
	g := &ir.Graph{In: []*ir.Node{x}, Nodes: []*ir.Node{x}, Stage: ir.StageQuantized}
	samples, err := RandomSamples(g, 64, 1)
	if err != nil {
		t.Fatal(err)
	}
	near, all := 0, map[int64]bool{}
	for _, s := range samples {
		for _, field := range s[0].BlockScales {
			if field < 0 || field > 30 {
				t.Fatalf("field %d is no scale", field)
			}
			if all[field] = true; field >= 8 && field <= 24 {
				near++
			}
		}
	}
	if count := 64 * 8; near < count*3/4 || len(all) < 25 {
		t.Errorf("%d of %d scales are near 1, %d different ones", near, count, len(all))
	}
}
