// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/op/draw"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/walk"
)

// plainConv is the definition: taps in the order of the weights, sums of even and of odd ones in float64.
func plainConv(a *ConvAttrs, g *geometry.Grid, oc int, x, w, bias []float32) []float32 {
	out := make([]float32, g.N*oc*g.OH*g.OW)
	ic, rows := g.C/a.Groups, oc/a.Groups
	size := ic * g.KH * g.KW
	for at := range out {
		n, c, oy, ox := at/(oc*g.OH*g.OW), at/(g.OH*g.OW)%oc, at/g.OW%g.OH, at%g.OW
		if a.ChannelsLast {
			n, oy, ox, c = at/(oc*g.OH*g.OW), at/(oc*g.OW)%g.OH, at/oc%g.OW, at%oc
		}
		var s [2]float64
		for j := range size {
			i, ky, kx := j/(g.KH*g.KW), j/g.KW%g.KH, j%g.KW
			if a.ChannelsLast {
				ky, kx, i = j/(g.KW*ic), j/ic%g.KW, j%ic
			}
			y, xx := oy*g.SH-g.PT+ky*g.DH, ox*g.SW-g.PL+kx*g.DW
			if y < 0 || y >= g.H || xx < 0 || xx >= g.W {
				continue
			}
			v := x[g.At(a.ChannelsLast, n, y, xx, c/rows*ic+i)]
			s[j%2] += float64(w[c*size+j]) * float64(v)
		}
		if bias != nil {
			s[0] += float64(bias[c])
		}
		out[at] = float32(s[0] + s[1])
	}
	return out
}

// TestConvFloat compares convolutions of both layouts with the definition, bit for bit: strides, dilations, padding on
// each side, groups, one and two axes, several images.
func TestConvFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 120 {
		rank := 1 + r.IntN(2)
		groups := []int{1, 1, 2, 3, 6}[r.IntN(5)]
		a := &ConvAttrs{Groups: groups, Window: geometry.Window{ChannelsLast: i%2 == 0, Pads: make([]int, 2*rank)}}
		ic, oc, n := groups*(1+r.IntN(3)), groups*(1+r.IntN(20)), 1+r.IntN(2)
		var spatial []int
		for k := range rank {
			a.Kernel = append(a.Kernel, 1+r.IntN(3))
			a.Strides, a.Dilations = append(a.Strides, 1+r.IntN(2)), append(a.Dilations, 1+r.IntN(2))
			a.Pads[k], a.Pads[k+rank] = r.IntN(4), r.IntN(4)
			spatial = append(spatial, 5+r.IntN(6))
		}
		shape := append([]int{n, ic}, spatial...)
		weights := append([]int{oc, ic / groups}, a.Kernel...)
		if a.ChannelsLast {
			shape = append(append([]int{n}, spatial...), ic)
			weights = append(append([]int{oc}, a.Kernel...), ic/groups)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { checkConv(t, r, a, shape, weights) })
	}
}

func checkConv(t *testing.T, r *rand.Rand, a *ConvAttrs, shape, weights []int) {
	values := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	konst := func(name string, v []float32, shape ...int) *ir.Node {
		return &ir.Node{Name: name, Op: leaf.Const, Type: ir.Float(shape...), Attrs: &ir.Const{Data: ir.FloatBlob(v)}}
	}
	x, w := values(walk.Size(shape)), values(walk.Size(weights))
	args := []*ir.Node{{Name: "x", Op: leaf.Input, Type: ir.Float(shape...)}, konst("w", w, weights...)}
	var bias []float32
	if r.IntN(2) == 0 {
		bias = values(weights[0])
		args = append(args, konst("b", bias, weights[0]))
	}
	n, err := ir.NewNode(Conv, "y", "test", a, args...)
	if err != nil {
		t.Fatal(err)
	}
	k, err := n.Op.Eval(n)
	if err != nil {
		t.Fatal(err)
	}
	got, err := k([]*ir.Tensor{{Type: args[0].Type, Floats: x}, nil, nil})
	if err != nil {
		t.Fatal(err)
	}
	g, err := geometry.New(shape, &a.Window)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range plainConv(a, g, weights[0], x, w, bias) {
		if got.Floats[i] != want {
			t.Fatalf("%s by %s, %+v: element %d is %g, not %g", ir.ShapeString(shape), ir.ShapeString(weights), a, i,
				got.Floats[i], want)
		}
	}
}

// floatBench evaluates a node with random weights, and reports the products a second on all cores.
func floatBench(b *testing.B, o *ir.Op, attrs any, macs int, x *ir.Node, shapes ...[]int) {
	r := rand.New(rand.NewPCG(5, 5))
	args := []*ir.Node{x}
	for _, s := range shapes {
		args = append(args, draw.Values(r, "w", ir.Float(s...)))
	}
	n, err := ir.NewNode(o, "y", "bench", attrs, args...)
	if err != nil {
		b.Fatal(err)
	}
	k, err := n.Op.Eval(n)
	if err != nil {
		b.Fatal(err)
	}
	values := make([]*ir.Tensor, len(args))
	values[0] = ir.NewTensor(x.Type)
	for i := range values[0].Floats {
		values[0].Floats[i] = float32(r.NormFloat64())
	}
	for b.Loop() {
		if _, err := k(values); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(macs)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
}

// BenchmarkFloatLinear is a layer of a large transformer, for 128 tokens and for one.
func BenchmarkFloatLinear(b *testing.B) {
	for _, rows := range []int{128, 1} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			floatBench(b, Linear, nil, rows*768*3072, draw.Input("x", ir.Float(rows, 768)), []int{3072, 768}, []int{3072})
		})
	}
}

// BenchmarkFloatConv is layers of an image classifier, channels first: 3x3, depthwise 3x3, and single pixels.
func BenchmarkFloatConv(b *testing.B) {
	for _, c := range []struct {
		name             string
		kernel, channels int
		groups           int
	}{{"3x3", 3, 64, 1}, {"depthwise", 3, 64, 64}, {"1x1", 1, 64, 1}} {
		b.Run(c.name, func(b *testing.B) {
			pad := c.kernel / 2
			a := &ConvAttrs{Groups: c.groups, Window: geometry.Window{Kernel: []int{c.kernel, c.kernel}, Strides: []int{1, 1},
				Pads: []int{pad, pad, pad, pad}, Dilations: []int{1, 1}}}
			w := []int{c.channels, c.channels / c.groups, c.kernel, c.kernel}
			floatBench(b, Conv, a, 56*56*walk.Size(w), draw.Input("x", ir.Float(1, c.channels, 56, 56)), w)
		})
	}
}
