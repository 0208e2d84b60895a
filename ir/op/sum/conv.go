// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"fmt"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/draw"
	"lathe/ir/op/geometry"
)

// ConvAttrs are the attributes of conv.
type ConvAttrs struct {
	geometry.Window
	Groups int
}

// Conv is a 1-D or 2-D cross-correlation. Channels first: x [n,ic,h,w], w [oc,ic/groups,kh,kw], y [n,oc,oh,ow];
// channels last: x [n,h,w,ic], w [oc,kh,kw,ic/groups], y [n,oh,ow,oc]; bias [oc] is optional.
//
// Quantized, the sum is exact with one rounding into the result format, and padding is the value zero.
var Conv = &ir.Op{
	Name: "conv", Doc: "cross-correlation; quantized, with constant weights", Attrs: ConvAttrs{}, Arity: [2]int{2, 3},
	Traits: ir.Traits{Weighted: true, Windows: true,
		Last:   func(attrs any) *bool { return &attrs.(*ConvAttrs).ChannelsLast },
		Blocks: func(n *ir.Node) bool { return n.Attrs.(*ConvAttrs).Groups == 1 && column.SumsInBlocks(n) }},
	Infer:    convInfer,
	Eval:     convEval,
	Bounds:   weightedBounds,
	Exact:    dot.ExactSum,
	HLO:      convHLO,
	RTL:      convRTL,
	Products: convProducts,
	Lanes:    convLanes,
	CUDA:     convCUDA,
	Legal:    convLegal,
	Gen:      genConv,

	DSPCause: convDSPCause,
}

// Depthwise says that a convolution to out channels over images of g takes each channel by itself.
func (a *ConvAttrs) Depthwise(g *geometry.Grid, out int) bool {
	return a.Groups > 1 && a.Groups == g.C && a.Groups == out
}

func convInfer(n *ir.Node) ([]int, error) {
	a := n.Attrs.(*ConvAttrs)
	g, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, err
	}
	w := n.Args[1].Type.Shape
	if len(w) != len(a.Kernel)+2 {
		return nil, fmt.Errorf("weights have shape %s for a kernel of %d axes", ir.ShapeString(w), len(a.Kernel))
	}
	oc := w[0]
	if a.Groups < 1 || g.C%a.Groups != 0 || oc%a.Groups != 0 {
		return nil, fmt.Errorf("group %d does not divide %d input and %d output channels", a.Groups, g.C, oc)
	}
	ic, kernel := w[1], w[2:]
	if a.ChannelsLast {
		ic, kernel = w[len(w)-1], w[1:len(w)-1]
	}
	if ic != g.C/a.Groups {
		return nil, fmt.Errorf("weights %s take %d channels, input %s has %d in each of %d groups", ir.ShapeString(w), ic,
			ir.ShapeString(n.Args[0].Type.Shape), g.C/a.Groups, a.Groups)
	}
	for i, k := range kernel {
		if k != a.Kernel[i] {
			return nil, fmt.Errorf("weights %s do not match kernel %v", ir.ShapeString(w), a.Kernel)
		}
	}
	if len(n.Args) > 2 {
		if b := n.Args[2].Type.Shape; len(b) != 1 || b[0] != oc {
			return nil, fmt.Errorf("bias has shape %s for %d output channels", ir.ShapeString(b), oc)
		}
	}
	return g.OutShape(&a.Window, oc), nil
}

// convLegal: hardware takes channels-last images.
func convLegal(n *ir.Node) error {
	if !n.Attrs.(*ConvAttrs).ChannelsLast {
		return fmt.Errorf("conv must be channels-last before it is quantized")
	}
	return dot.Legal(n)
}

func convEval(n *ir.Node) (ir.Kernel, error) {
	a := n.Attrs.(*ConvAttrs)
	g, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if n.Type.IsFloat() {
		return convFloat(n, a, g)
	}
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	kernels := p.Groups(a.Groups)
	rows, terms := p.Size()
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, err := p.Input(n, args[0])
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		windowsOf(g, a.Groups, terms, x, func(group, pixel int, window dot.Input) {
			at := pixel*rows + group*rows/a.Groups
			kernels[group](window, out.Codes[at:at+rows/a.Groups])
		})
		return out, nil
	}, nil
}

// windowsOf gathers every window of every group of a channels-last image in the order ky, kx, channel; the scale fields
// of blocks, which have one group, in the order ky, kx, block. Padding is zero.
func windowsOf(g *geometry.Grid, groups, size int, x dot.Input, f func(group, pixel int, w dot.Input)) {
	blocks := 0 // of a pixel
	if len(x.Fields) > 0 {
		blocks = len(x.Fields) / (g.N * g.H * g.W)
	}
	w := dot.Input{Ints: make([]int64, size), Fields: make([]int64, g.KH*g.KW*blocks)}
	ic := g.C / groups
	for p := range g.N * g.OH * g.OW {
		img, oy, ox := p/(g.OH*g.OW), p/g.OW%g.OH, p%g.OW
		for group := range groups {
			clear(w.Ints)
			clear(w.Fields)
			g.Each(oy, ox, func(ky, kx, py, px int) {
				tap, from := ky*g.KW+kx, g.At(true, img, py, px, group*ic)
				copy(w.Ints[tap*ic:][:ic], x.Ints[from:])
				copy(w.Fields[tap*blocks:][:blocks], x.Fields[from/g.C*blocks:])
			})
			f(group, p, w)
		}
	}
}

func genConv(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape, w := draw.Window(r, false)
	a := &ConvAttrs{Window: w, Groups: 1}
	ic, oc := shape[len(shape)-1], draw.Between(r, 1, 6)
	switch k := r.IntN(100); {
	case k < 15: // depthwise
		a.Groups, oc = ic, ic
	case k < 25:
		for _, groups := range []int{ic, 3, 2} {
			if ic%groups == 0 {
				a.Groups, oc = groups, groups*draw.Between(r, 1, 2)
			}
		}
	}
	wshape := append(append([]int{oc}, w.Kernel...), ic/a.Groups)
	x := draw.Input("x", ir.Type{Shape: shape, Format: draw.Format(r)})
	return genSum(r, o, a, x, wshape, draw.Chance(r, 80))
}
