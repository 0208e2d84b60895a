// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
)

// ConvAttrs are the attributes of conv.
type ConvAttrs struct {
	Window
	Groups int
}

// Conv is a 1-D or 2-D cross-correlation. Channels first: x [n,ic,h,w], w [oc,ic/groups,kh,kw], y [n,oc,oh,ow];
// channels last: x [n,h,w,ic], w [oc,kh,kw,ic/groups], y [n,oh,ow,oc]; bias [oc] is optional.
//
// Quantized, the sum is exact with one rounding into the result format, and padding is the value zero.
var Conv = &ir.Op{
	Name: "conv", Doc: "cross-correlation with constant weights", Attrs: ConvAttrs{}, Arity: [2]int{2, 3},
	Traits: ir.Traits{Weighted: true, Last: func(attrs any) *bool { return &attrs.(*ConvAttrs).ChannelsLast }},
	Infer:  convInfer,
	Eval:   convEval,
	HLO:    convHLO,
	RTL:    convRTL,
	CUDA:   convCUDA,
	Flow:   convFlow,
	Legal:  convLegal,
	Gen:    genConv,
}

// Depthwise says that a convolution to out channels over images of g takes each channel by itself.
func (a *ConvAttrs) Depthwise(g *Geometry, out int) bool {
	return a.Groups > 1 && a.Groups == g.C && a.Groups == out
}

func convInfer(n *ir.Node) ([]int, error) {
	a := n.Attrs.(*ConvAttrs)
	g, err := NewGeometry(n.Args[0].Type.Shape, &a.Window)
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
		return nil, fmt.Errorf("weights %s take %d channels, the input %s gives %d in %d groups", ir.ShapeString(w), ic,
			ir.ShapeString(n.Args[0].Type.Shape), g.C/a.Groups, a.Groups)
	}
	for i, k := range kernel {
		if k != a.Kernel[i] {
			return nil, fmt.Errorf("weights %s do not have the kernel %v", ir.ShapeString(w), a.Kernel)
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
	return macLegal(n)
}

func convEval(n *ir.Node) (ir.Kernel, error) {
	a := n.Attrs.(*ConvAttrs)
	g, err := NewGeometry(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	if n.Type.IsFloat() {
		return convFloat(n, a, g)
	}
	if usesWindow(n) {
		return windowConv(n)
	}
	m, err := planMAC(n)
	if err != nil {
		return nil, err
	}
	groups := m.groups(a.Groups)
	kernels := make([]dotKernel, len(groups))
	for i, part := range groups {
		kernels[i] = part.kernel(n.Type.Format)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, err := m.values(n, args[0])
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		windowsOf(g, a.Groups, m.in, x, func(group, pixel int, window []int64) {
			at := pixel*m.out + group*m.out/a.Groups
			kernels[group](window, out.Codes[at:at+m.out/a.Groups])
		})
		return out, nil
	}, nil
}

// groups cuts the rows of a mac into equal runs, one for each group of a grouped convolution.
func (m *mac) groups(n int) []*mac {
	parts := make([]*mac, n)
	rows := m.out / n
	for i := range parts {
		p := *m
		p.out = rows
		p.weights = m.weights[i*rows*m.in : (i+1)*rows*m.in]
		p.psh, p.bias, p.res = m.psh[i*rows:(i+1)*rows], m.bias[i*rows:(i+1)*rows], m.res.channels(i*rows, rows)
		parts[i] = &p
	}
	return parts
}

// windowsOf gathers every window of every group of a channels-last image in the order ky, kx, channel.
func windowsOf(g *Geometry, groups, size int, x []int64, f func(group, pixel int, w []int64)) {
	window := make([]int64, size)
	ic := g.C / groups
	for p := range g.N * g.OH * g.OW {
		img, oy, ox := p/(g.OH*g.OW), p/g.OW%g.OH, p%g.OW
		for group := range groups {
			clear(window)
			g.each(oy, ox, func(ky, kx, py, px int) {
				copy(window[(ky*g.KW+kx)*ic:][:ic], x[g.at(true, img, py, px, group*ic):])
			})
			f(group, p, window)
		}
	}
}
