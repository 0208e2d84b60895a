// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// otherBlock is a block format that is none of ir/format's: scale fields of 6 bits around 2^0 = 40.
type otherBlock struct{ format.IntBlock }

func (o otherBlock) String() string         { return fmt.Sprintf("other(%d,%d)", o.W, o.K) }
func (o otherBlock) CodeSet() format.Format { return o }

// otherGraph is blocks in and out, a sum over them, and relu on them.
func otherGraph(w, k, row, out int) *ir.Graph {
	b := &blockGraph{r: Rand("other blocks", w), g: &ir.Graph{Name: "other", Stage: ir.StageQuantized}}
	f := otherBlock{format.IntBlock{W: w, K: k, ScaleBits: 6, Bias: 40}}
	x := b.node(pointwise.Cast, nil, f, b.input(format.Fixed{W: 14, F: 9, Signed: true}, 3, row))
	values := make([]float32, out*row)
	for i := range values {
		values[i] = float32(b.r.NormFloat64()) * float32(int(1)<<(i/k%5))
	}
	weights := ir.EncodeFloats(ir.Type{Shape: []int{out, row}, Format: f}, values)
	typ := weights.Type
	typ.Scales = ir.ScaleValues(f, weights.BlockScales)
	c := &ir.Node{Name: "w", Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob(weights.Codes)}, Type: typ}
	b.g.Nodes = append(b.g.Nodes, c)
	sum := b.node(sum.Linear, nil, format.Fixed{W: 30, F: 14, Signed: true, Round: format.RoundFloor}, x, c)
	y := b.node(pointwise.Relu, nil, f, b.node(pointwise.Cast, nil, f, sum))
	y = b.node(pointwise.Cast, nil, format.Fixed{W: 12, F: 5, Signed: true}, y)
	b.g.Out = []ir.Output{{Name: "y", Node: y}}
	return b.g
}

// TestOtherBlocks runs a block format of another scale and size on all engines: nothing outside of a format knows them.
func TestOtherBlocks(t *testing.T) {
	for _, c := range []struct{ w, k, row, out int }{{5, 4, 10, 6}, {9, 6, 12, 4}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			g := otherGraph(c.w, c.k, c.row, c.out)
			if err := g.Check(); err != nil {
				t.Fatal(err)
			}
			pjrttest.Engine(t)
			comparePJRT(t, g, Rand("other on pjrt", c.w), 0)
			Schedule(Rand("other lanes", c.w), g)
			compareRTL(t, Rand("other on rtl", c.w), []*ir.Graph{g}, rtlSamples, true)
		})
	}
}
