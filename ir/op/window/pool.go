// SPDX-License-Identifier: Apache-2.0

package window

import (
	"fmt"
	"math"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/geometry"
	"lathe/ir/op/walk"
)

// MaxPool is the largest value of each window; padding is never chosen.
var MaxPool = &ir.Op{
	Name: "maxpool", Doc: "largest value of each window", Attrs: geometry.Window{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{KeepsCodes: true, Compares: true, Monotone: true, Windows: true,
		Last: func(attrs any) *bool { return &attrs.(*geometry.Window).ChannelsLast }},
	Infer: poolInfer,
	Eval:  maxPoolEval,
	HLO:   maxPoolHLO,
	RTL:   geometry.Framed(maxPoolRTL),
	Gen:   genMaxPool,
	Legal: func(n *ir.Node) error {
		if err := column.SameFormat(n); err != nil {
			return err
		}
		return channelsLast(n, n.Attrs.(*geometry.Window))
	},
}

// AvgAttrs are the attributes of avgpool.
type AvgAttrs struct {
	geometry.Window
	// IncludePad divides by the elements inside the padded image; else only by those inside the image.
	IncludePad bool
}

// AvgPool is the mean of each window: the exact sum, divided exactly, one rounding into the result format.
var AvgPool = &ir.Op{
	Name: "avgpool", Doc: "mean of each window", Attrs: AvgAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Monotone: true, Windows: true,
		Last: func(attrs any) *bool { return &attrs.(*AvgAttrs).ChannelsLast }},
	Infer: func(n *ir.Node) ([]int, error) { return inferWindow(n, &n.Attrs.(*AvgAttrs).Window) },
	Eval:  func(n *ir.Node) (ir.Kernel, error) { return avgEval(n, n.Attrs.(*AvgAttrs)) },
	HLO:   avgPoolHLO,
	RTL:   geometry.Framed(avgPoolRTL),
	Gen:   genAvgPool,
	Legal: func(n *ir.Node) error { return channelsLast(n, &n.Attrs.(*AvgAttrs).Window) },
}

// GlobalAttrs are the attributes of global pools.
type GlobalAttrs struct {
	ChannelsLast bool
}

// GlobalAvgPool is the mean of each channel over the whole image; the spatial axes keep size 1.
var GlobalAvgPool = &ir.Op{
	Name: "global_avgpool", Doc: "mean of each channel", Attrs: GlobalAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Monotone: true, Last: func(attrs any) *bool { return &attrs.(*GlobalAttrs).ChannelsLast }},
	Infer: func(n *ir.Node) ([]int, error) {
		a, err := globalWindow(n)
		if err != nil {
			return nil, err
		}
		return inferWindow(n, &a.Window)
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		a, err := globalWindow(n)
		if err != nil {
			return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
		}
		return avgEval(n, a)
	},
	HLO: globalAvgHLO,
	RTL: geometry.Framed(globalAvgRTL),
	Gen: genGlobalAvg,
	Legal: func(n *ir.Node) error {
		return channelsLast(n, &geometry.Window{ChannelsLast: n.Attrs.(*GlobalAttrs).ChannelsLast})
	},
}

// globalWindow is the window that covers the whole image.
func globalWindow(n *ir.Node) (*AvgAttrs, error) {
	shape := n.Args[0].Type.Shape
	rank := len(shape) - 2
	if rank < 1 || rank > 2 {
		return nil, fmt.Errorf("shape %s does not have one or two spatial axes", ir.ShapeString(shape))
	}
	a := &AvgAttrs{}
	a.ChannelsLast = n.Attrs.(*GlobalAttrs).ChannelsLast
	a.Kernel = append([]int(nil), shape[2:]...)
	if a.ChannelsLast {
		a.Kernel = append([]int(nil), shape[1:1+rank]...)
	}
	a.Pads = make([]int, 2*rank)
	for range rank {
		a.Strides, a.Dilations = append(a.Strides, 1), append(a.Dilations, 1)
	}
	return a, nil
}

func poolInfer(n *ir.Node) ([]int, error) { return inferWindow(n, n.Attrs.(*geometry.Window)) }

func inferWindow(n *ir.Node, w *geometry.Window) ([]int, error) {
	g, err := geometry.New(n.Args[0].Type.Shape, w)
	if err != nil {
		return nil, err
	}
	return g.OutShape(w, g.C), g.Empty()
}

func channelsLast(n *ir.Node, w *geometry.Window) error {
	if err := column.Plain(n); err != nil {
		return err
	}
	if !w.ChannelsLast {
		return fmt.Errorf("%s must be channels-last before it is quantized", n.Op.Name)
	}
	return nil
}

func maxPoolEval(n *ir.Node) (ir.Kernel, error) {
	w := n.Attrs.(*geometry.Window)
	g, err := geometry.New(n.Args[0].Type.Shape, w)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		if n.Type.IsFloat() {
			x := args[0].Floats
			eachPool(g, w.ChannelsLast, func(at int, in []int, _ int) {
				best := float32(math.Inf(-1))
				for _, i := range in {
					best = max(best, x[i])
				}
				out.Floats[at] = best
			})
			return out, nil
		}
		l, err := args[0].Lattice()
		if err != nil {
			return nil, n.Errorf(diag.OpFormats, "%v", err)
		}
		poolLoop(g, w.ChannelsLast, func(at int, in []int, _ int) {
			best := in[0]
			for _, i := range in[1:] {
				if l.Ints[i] > l.Ints[best] {
					best = i
				}
			}
			out.Codes[at] = args[0].Codes[best]
		})
		return out, nil
	}, nil
}

// poolLoop calls f for every result element with the indices of the input elements of its window, which is never empty:
// inferWindow refuses that.
// covered counts the kernel elements inside the padded image.
func poolLoop(g *geometry.Grid, last bool, f func(at int, in []int, covered int)) {
	poolPixels(g, last, 0, g.N*g.OH*g.OW, f)
}

// eachPool is poolLoop, several elements at once.
func eachPool(g *geometry.Grid, last bool, f func(at int, in []int, covered int)) {
	grain := 1 + walk.Grain/max(1, g.C*g.KH*g.KW)
	workers.Ranges(g.N*g.OH*g.OW, grain, func(from, to int) { poolPixels(g, last, from, to, f) })
}

// poolPixels is poolLoop for pixels from to to of the result.
func poolPixels(g *geometry.Grid, last bool, from, to int, f func(at int, in []int, covered int)) {
	in := make([]int, 0, g.KH*g.KW)
	step := g.At(last, 0, 0, 0, min(1, g.C-1))
	for p := from; p < to; p++ {
		img, oy, ox := p/(g.OH*g.OW), p/g.OW%g.OH, p%g.OW
		covered := reach(oy, g.KH, g.SH, g.DH, g.H+g.PT+g.PB) * reach(ox, g.KW, g.SW, g.DW, g.W+g.PL+g.PR)
		in = in[:0]
		g.Each(oy, ox, func(_, _, y, x int) { in = append(in, g.At(last, img, y, x, 0)) })
		for c := range g.C {
			f(g.OutAt(last, g.C, img, oy, ox, c), in, covered)
			for i := range in {
				in[i] += step
			}
		}
	}
}

func avgEval(n *ir.Node, a *AvgAttrs) (ir.Kernel, error) {
	g, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if n.Type.IsFloat() {
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			out, x := ir.NewTensor(n.Type), args[0].Floats
			eachPool(g, a.ChannelsLast, func(at int, in []int, covered int) {
				sum := 0.0
				for _, i := range in {
					sum += float64(x[i])
				}
				out.Floats[at] = float32(sum / float64(a.divisor(len(in), covered)))
			})
			return out, nil
		}, nil
	}
	if factorMean(n) {
		return factorMeanEval(n, g, a)
	}
	exp, err := arith.CommonStep(n)
	if err != nil {
		return nil, err
	}
	bits := arith.Magnitude(n.Args[0].Type.Format)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		l, err := args[0].Lattice()
		if err != nil {
			return nil, n.Errorf(diag.OpFormats, "%v", err)
		}
		out := ir.NewTensor(n.Type)
		poolLoop(g, a.ChannelsLast, func(at int, in []int, covered int) {
			mean := arith.Total(l.Ints, in, exp, bits).Quo(format.FromInt(int64(a.divisor(len(in), covered)), 0))
			out.Codes[at] = n.Type.Format.Encode(mean)
		})
		return out, nil
	}, nil
}

// divisor of a window with count elements inside the image and covered ones inside the padded image. What a last window
// of ceil mode has beyond the padding never counts (ONNX AveragePool-19).
func (a *AvgAttrs) divisor(count, covered int) int {
	if a.IncludePad {
		return covered
	}
	return count
}

// reach counts the elements of window o along an axis that lie inside the padded size.
func reach(o, k, s, d, size int) int {
	return min(k, (size-1-o*s)/d+1)
}

func genMaxPool(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape, w := draw.Window(r, draw.Chance(r, 20))
	x := draw.Input("x", ir.Type{Shape: shape, Format: draw.Format(r)})
	return draw.Graph(o, &w, draw.Keeps(x.Type), x)
}

func genAvgPool(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape, w := draw.Window(r, draw.Chance(r, 20))
	x := draw.Input("x", ir.Type{Shape: shape, Format: draw.Format(r)})
	a := &AvgAttrs{Window: w, IncludePad: draw.Chance(r, 70)}
	return genFactorMean(r, draw.Graph(o, a, ir.Type{Format: draw.Result(r, draw.Top(x.Type))}, x))
}

func genGlobalAvg(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape, _ := draw.Window(r, false)
	x := draw.Input("x", ir.Type{Shape: shape, Format: draw.Format(r)})
	return genFactorMean(r,
		draw.Graph(o, &GlobalAttrs{ChannelsLast: true}, ir.Type{Format: draw.Result(r, draw.Top(x.Type))}, x))
}

// genFactorMean makes codes with a real scale of the argument and the result of a mean, in some of the cases.
func genFactorMean(r *rand.Rand, g *ir.Graph) *ir.Graph {
	if draw.Chance(r, 30) {
		n := g.Out[0].Node
		n.Args[0].Type.Format = draw.Affine(r, 10)
		n.Type.Format = draw.AffineResult(r, draw.Top(n.Args[0].Type))
	}
	return g
}
