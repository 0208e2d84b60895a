// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// ArgMaxAttrs are the attributes of argmax.
type ArgMaxAttrs struct {
	Axis     int
	KeepDims bool
	// Last picks the last of equal maxima instead of the first.
	Last bool
	// Least looks for the least value instead of the largest, in float graphs.
	Least bool
}

// ArgMax is the index of the largest value along an axis; quantized, it is encoded in an integer format. NaN comes
// before all numbers, as NumPy, XLA and ONNX have it.
var ArgMax = &ir.Op{
	Name: "argmax", Doc: "index of the largest value along an axis", Attrs: ArgMaxAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Axis: func(attrs any) *int { return &attrs.(*ArgMaxAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		a, in := n.Attrs.(*ArgMaxAttrs), n.Args[0].Type.Shape
		axis, err := normAxis(a.Axis, len(in))
		if err != nil {
			return nil, err
		}
		out := append([]int(nil), in[:axis]...)
		if a.KeepDims {
			out = append(out, 1)
		}
		return append(out, in[axis+1:]...), nil
	},
	Format: func(n *ir.Node) (format.Format, error) {
		if n.Type.Format == format.FP32 { // as values, which lowering chooses formats for
			return format.FP32, nil
		}
		return ir.Int64, nil
	},
	Eval:  argMaxEval,
	RTL:   argMaxRTL,
	Lanes: reduceLanes,
	Gen:   genArgMax,
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		return argMaxHLO(b, n, args[0])
	},
	Legal: func(n *ir.Node) error {
		fx, ok := format.AsFixed(n.Type.Format)
		if !ok || fx.F != 0 {
			return fmt.Errorf("argmax gives integers, not %s", n.Type.Format)
		}
		if n.Attrs.(*ArgMaxAttrs).Least {
			return fmt.Errorf("hardware has the largest value, not the least")
		}
		return plain(n)
	},
}

// ArgMaxSize is the number of elements among which argmax node n looks: its results lie below.
func ArgMaxSize(n *ir.Node) int {
	shape, axis := n.Args[0].Type.Shape, n.Attrs.(*ArgMaxAttrs).Axis
	return shape[(axis+len(shape))%len(shape)]
}

func argMaxEval(n *ir.Node) (ir.Kernel, error) {
	a, shape := n.Attrs.(*ArgMaxAttrs), n.Args[0].Type.Shape
	axis, err := normAxis(a.Axis, len(shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	enc := encoder(n.Type.Format, 0)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		greater := func(i, j int) bool {
			x, y := args[0].Floats[i], args[0].Floats[j]
			return x > y || x != x && y == y
		}
		if a.Least {
			greater = func(i, j int) bool {
				x, y := args[0].Floats[i], args[0].Floats[j]
				return x < y || x != x && y == y
			}
		}
		if !args[0].Type.IsFloat() {
			ints := args[0].Codes
			if !ir.IsWhole(args[0].Type.Format) {
				l, err := args[0].Lattice()
				if err != nil {
					return nil, n.Errorf("L0308", "%v", err)
				}
				ints = l.Ints
			}
			greater = func(i, j int) bool { return ints[i] > ints[j] && !a.Least || ints[i] < ints[j] && a.Least }
		}
		out, at := ir.NewTensor(n.Type), 0
		lines(shape, axis, func(base, n, stride int) {
			best := 0
			for i := 1; i < n; i++ {
				if greater(base+i*stride, base+best*stride) || a.Last && !greater(base+best*stride, base+i*stride) {
					best = i
				}
			}
			if out.Codes != nil {
				out.Codes[at] = enc(int64(best))
			} else {
				out.Floats[at] = float32(best)
			}
			at++
		})
		return out, nil
	}, nil
}
