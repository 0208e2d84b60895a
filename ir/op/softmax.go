// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"

	"lathe/golden/hlo"
	"lathe/ir"
	"lathe/ir/format"
)

// AxisAttrs name the axis that an operation works along.
type AxisAttrs struct {
	Axis int
}

// Softmax is exp(x - max)/sum(exp(x - max)) along an axis; float only for now.
var Softmax = &ir.Op{
	Name: "softmax", Doc: "exp(x)/sum(exp(x)) along an axis", Attrs: AxisAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{FloatOnly: true, Axis: func(attrs any) *int { return &attrs.(*AxisAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		_, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(n.Args[0].Type.Shape))
		return n.Args[0].Type.Shape, err
	},
	Eval:  softmaxEval,
	HLO:   softmaxHLO,
	Gen:   genSoftmax,
	Legal: func(*ir.Node) error { return fmt.Errorf("softmax has no integer form in this version") },
}

// lines calls f for every line of shape along axis: n elements from base, stride apart.
func lines(shape []int, axis int, f func(base, n, stride int)) {
	stride := product(shape[axis+1:])
	n := shape[axis]
	for outer := range product(shape[:axis]) {
		for inner := range stride {
			f(outer*n*stride+inner, n, stride)
		}
	}
}

func softmaxEval(n *ir.Node) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return nil, n.Errorf("L0410", "softmax has no integer form in this version")
	}
	shape := n.Type.Shape
	axis, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, out := args[0].Floats, ir.NewTensor(n.Type)
		lines(shape, axis, func(base, n, stride int) {
			top := math.Inf(-1)
			for i := range n {
				top = math.Max(top, float64(x[base+i*stride]))
			}
			total := 0.0
			for i := range n {
				total += math.Exp(float64(x[base+i*stride]) - top)
			}
			for i := range n {
				out.Floats[base+i*stride] = float32(math.Exp(float64(x[base+i*stride])-top) / total)
			}
		})
		return out, nil
	}, nil
}

// ArgMaxAttrs are the attributes of argmax.
type ArgMaxAttrs struct {
	Axis     int
	KeepDims bool
	// Last picks the last of equal maxima instead of the first.
	Last bool
}

// ArgMax is the index of the largest value along an axis; quantized, it is encoded in an integer format.
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
	Eval: argMaxEval,
	Gen:  genArgMax,
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		return argMaxHLO(b, n, args[0])
	},
	Legal: func(n *ir.Node) error {
		fx, ok := format.AsFixed(n.Type.Format)
		if !ok || fx.F != 0 {
			return fmt.Errorf("argmax gives integers, not %s", n.Type.Format)
		}
		return plain(n)
	},
}

func argMaxEval(n *ir.Node) (ir.Kernel, error) {
	a, shape := n.Attrs.(*ArgMaxAttrs), n.Args[0].Type.Shape
	axis, err := normAxis(a.Axis, len(shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	enc := encoder(n.Type.Format, 0)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		greater := func(i, j int) bool { return args[0].Floats[i] > args[0].Floats[j] }
		if !args[0].Type.IsFloat() {
			l, err := args[0].Lattice()
			if err != nil {
				return nil, n.Errorf("L0308", "%v", err)
			}
			greater = func(i, j int) bool { return l.Ints[i] > l.Ints[j] }
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

// Cast re-encodes values in another format, with one rounding.
var Cast = &ir.Op{
	Name: "cast", Doc: "the same value in another format, rounded once", Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, Monotone: true},
	Infer:  sameShape,
	Eval:   castEval,
	HLO:    castHLO,
	RTL:    castRTL,
	Legal:  plain,
	Gen:    genUnary,
}

// castEval goes by lattice integers between fixed formats. Others may have a NaN or a negative zero, which those lose.
func castEval(n *ir.Node) (ir.Kernel, error) {
	in, out := n.Args[0].Type, n.Type
	if _, fixed := format.AsFixed(in.Format); fixed || out.IsFloat() {
		return unary{
			fl: func(*ir.Node) func(float32) float32 { return func(x float32) float32 { return x } },
			ex: func(n *ir.Node, exp int) (func(int64) int64, error) { return encoder(n.Type.Format, exp), nil },
		}.eval(n)
	}
	if _, ok := step(in); !ok {
		return nil, n.Errorf("L0308", "%s has no common step, which %s needs", in.Format, n.Op.Name)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(out)
		for i, c := range args[0].Codes {
			y.Codes[i] = out.Format.Encode(in.Format.Decode(c))
		}
		return y, nil
	}, nil
}

// finite refuses NaN and infinities among attributes.
func finite(name string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%s is %g", name, v)
	}
	return nil
}
