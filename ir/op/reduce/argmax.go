// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"fmt"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/walk"
	"lathe/rtl"
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
	Traits: ir.Traits{Axis: func(attrs any) *int { return &attrs.(*ArgMaxAttrs).Axis }, Positions: lineLength},
	Bounds: func(n *ir.Node, _ []ir.Bounds) (ir.Bounds, error) {
		return column.Between(n, 0, float64(lineLength(n)-1)), nil
	},
	Infer: func(n *ir.Node) ([]int, error) {
		a, in := n.Attrs.(*ArgMaxAttrs), n.Args[0].Type.Shape
		axis, err := walk.Axis(a.Axis, len(in))
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
		if n.Type.IsFloat() { // as values, which lowering chooses formats for
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
			return fmt.Errorf("the result of argmax is an integer, not %s", n.Type.Format)
		}
		if n.Attrs.(*ArgMaxAttrs).Least {
			return fmt.Errorf("hardware finds the largest value, not the smallest")
		}
		return column.Plain(n)
	},
}

// lineLength is the number of elements among which argmax looks.
func lineLength(n *ir.Node) int {
	shape, axis := n.Args[0].Type.Shape, n.Attrs.(*ArgMaxAttrs).Axis
	return shape[(axis+len(shape))%len(shape)]
}

func argMaxEval(n *ir.Node) (ir.Kernel, error) {
	a, shape := n.Attrs.(*ArgMaxAttrs), n.Args[0].Type.Shape
	axis, err := walk.Axis(a.Axis, len(shape))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	enc := arith.Encoder(n.Type.Format, 0)
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
					return nil, n.Errorf(diag.OpFormats, "%v", err)
				}
				ints = l.Ints
			}
			greater = func(i, j int) bool { return ints[i] > ints[j] && !a.Least || ints[i] < ints[j] && a.Least }
		}
		out, at := ir.NewTensor(n.Type), 0
		walk.Lines(shape, axis, func(base, n, stride int) {
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

func genArgMax(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: draw.Format(r)})
	rank := len(x.Type.Shape)
	a := &ArgMaxAttrs{Axis: draw.Between(r, -rank, rank-1), KeepDims: draw.Chance(r, 50), Last: draw.Chance(r, 50)}
	f := draw.Fixed(r, 8)
	f.F = 0
	return draw.Graph(o, a, ir.Type{Format: f}, x)
}

func argMaxHLO(b *hlo.Builder, n *ir.Node, x hlo.Value) (hlo.Value, error) {
	a := n.Attrs.(*ArgMaxAttrs)
	axis, err := walk.Axis(a.Axis, len(n.Args[0].Type.Shape))
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	size := n.Args[0].Type.Shape[axis]
	switch {
	case a.Least && n.Args[0].Type.IsFloat():
		x = b.Neg(x)
	case a.Least:
		x = b.Not(x) // -x - 1, of the least integer too
	}
	if a.Last {
		x = b.Reverse(x, b.Axis(axis))
	}
	v := b.ArgMax(x, b.Axis(axis))
	if a.Last {
		v = b.Sub(b.Splat(v, int64(size-1)), v)
	}
	v = b.Reshape(v, b.Dims(n.Type.Shape...)...)
	if n.Type.IsFloat() {
		return b.Convert(v, hlo.F32), b.Err()
	}
	return carrier.Requant(b, n, v, 0, 31)
}

// argMaxRTL is an index along the innermost axis of the stream.
func argMaxRTL(n *ir.Node) (*rtl.Unit, error) {
	r, err := runOf(n)
	if err != nil {
		return nil, err
	}
	if r.Inner > 1 {
		return nil, n.Errorf(diag.NoHardwareForm,
			"argmax of %s over axis %d, not the innermost, has no hardware in this version",
			ir.ShapeString(n.Args[0].Type.Shape), n.Attrs.(*ArgMaxAttrs).Axis).
			WithHint("take it over the channels of an image, or the last axis")
	}
	in, err := hardware.CodesIn(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	out, err := hardware.Result(n)
	if err != nil {
		return nil, err
	}
	return rtl.NewUnit("op_argmax", "OUTER", r.Outer, "N", r.N, "LANES", n.HW.InLanes, "E_W", in.W, "SIGNED",
		rtl.Flag(in.Signed),
		"TAIL", rtl.Flag(n.Attrs.(*ArgMaxAttrs).Last), "OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "OVER",
		int(out.Over)), nil
}
