// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// convCUDA takes convolutions of floats with what follows them, and those of codes alone; of single pixels as linear
// nodes.
func convCUDA(g *ir.Group, t cuda.Target) (*cuda.Unit, error) {
	n := g.Anchor
	a := n.Attrs.(*ConvAttrs)
	grid, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	switch {
	case err != nil:
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	case a.Groups != 1:
		return nil, cuda.Refuse("the library has no convolutions in %d groups", a.Groups)
	case n.Args[0].Type.IsFloat():
		return convHalves(g, grid, t)
	case !a.ChannelsLast:
		return nil, cuda.Refuse("the library convolves codes channels last")
	}
	return convCodes(g, grid, t)
}

// convCodes is a convolution of codes, alone or with a sum behind it; of single pixels and alone, a linear node.
func convCodes(g *ir.Group, grid *geometry.Grid, t cuda.Target) (*cuda.Unit, error) {
	n := g.Anchor
	inputs, w := n.Args, &dot.Windows{Images: imagesOf(grid, true)}
	if single := grid.KH*grid.KW == 1 && grid.SH*grid.SW == 1 && grid.OH == grid.H && grid.OW == grid.W; single {
		w = nil
	}
	if len(g.Members) > 1 {
		added, other, err := addedTo(g)
		if err != nil {
			return nil, err
		}
		inputs, w = []*ir.Node{n.Args[0], other}, &dot.Windows{Images: imagesOf(grid, true), Added: added}
	}
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	u, err := p.Product(n, w, t)
	if err != nil {
		return nil, err
	}
	return u, g.Bind(u, inputs)
}

// addedTo reads a group of a convolution of codes and a sum of its result and another value.
func addedTo(g *ir.Group) (*gemm.Added, *ir.Node, error) {
	refuse := func() (*gemm.Added, *ir.Node, error) {
		return nil, nil, cuda.Refuse("a convolution of codes ends in one sum of codes of up to 8 bits")
	}
	if len(g.Members) != 2 || len(g.Outputs) != 1 || g.Outputs[0] == g.Anchor {
		return refuse()
	}
	n := g.Outputs[0]
	s, ok := pointwise.SumOfCodes(n)
	if !ok || s.Zero != int64(int32(s.Zero)) {
		return refuse()
	}
	at := slices.Index(n.Args, g.Anchor)
	other := n.Args[1-at]
	f, ok := format.IntegersOf(other.Type.Format)
	if !ok || f.Codes.W > 8 || !slices.Contains(g.Inputs, other) || !slices.Equal(other.Type.Shape, n.Type.Shape) ||
		!slices.Equal(g.Anchor.Type.Shape, n.Type.Shape) {
		return refuse()
	}
	return &gemm.Added{Unsigned: !f.Codes.Signed, Mul: s.Factors[at], Factor: s.Factors[1-at], Bias: s.Bias,
		Shift: s.Shift, Result: s.Result, Zero: int32(s.Zero)}, other, nil
}

// imagesOf are the images of a grid, as the library has them.
func imagesOf(g *geometry.Grid, channelsLast bool) gemm.Images {
	return gemm.Images{Count: g.N, H: g.H, W: g.W, C: g.C, OH: g.OH, OW: g.OW, KH: g.KH, KW: g.KW, SH: g.SH, SW: g.SW,
		DH: g.DH, DW: g.DW, PT: g.PT, PL: g.PL}.Laid(channelsLast)
}

// convHalves is a convolution in one float of 16 bits. Images may be planes of channels; what is stored has the
// channels of a pixel side by side.
func convHalves(g *ir.Group, grid *geometry.Grid, t cuda.Target) (*cuda.Unit, error) {
	n := g.Anchor
	a, x, w := n.Attrs.(*ConvAttrs), n.Args[0], n.Args[1]
	in, err := column.FloatWord(n, x.Type)
	if err != nil {
		return nil, err
	}
	if in == word.Float32 {
		return nil, cuda.Refuse("the library does not convolve fp32 images")
	}
	e := &epilogue{rows: []*ir.Node{n}}
	if a.ChannelsLast {
		e, err = epilogueOf(g)
	} else {
		err = pixelsTogether(g)
	}
	if err != nil {
		return nil, err
	}
	if err := e.operands(); err != nil {
		return nil, err
	}
	sink, err := e.sink(g)
	if err != nil {
		return nil, err
	}
	p := gemm.Conv16{Images: imagesOf(grid, a.ChannelsLast), N: w.Type.Shape[0], Word: in, Epilogue: sink}
	u := &cuda.Unit{}
	o, err := e.arguments(u, g, sink)
	if err != nil {
		return nil, err
	}
	o.W = table(u, func() []byte {
		return p.Pack(tapsFirst(w.Attrs.(*ir.Const).Data.Bytes, p.N, p.C, p.KH*p.KW, a.ChannelsLast))
	})
	return column.CUDAUnit(u, p, o, t)
}

// pixelsTogether refuses what is more than planes that are moved until the channels of a pixel follow each other, pixel
// by pixel.
func pixelsTogether(g *ir.Group) error {
	v, ok := move.Target(g, g.Anchor)
	if !slices.Contains(g.Inputs, g.Anchor.Args[0]) || len(g.Outputs) != 1 {
		return cuda.Refuse("the library's convolution reads images as they lie")
	}
	if !ok || slices.ContainsFunc(g.Members, func(m *ir.Node) bool { return m != g.Anchor && !move.Moves(m) }) {
		return cuda.Refuse("the library's convolution stores the channels of a pixel side by side")
	}
	at, s := 1, v.Shape // channels, then pixels, row by row; images are dense
	for _, axis := range append([]int{1}, backwards(len(s))...) {
		if s[axis] > 1 && v.Strides[axis] != at {
			return cuda.Refuse("the library's convolution stores the channels of a pixel side by side")
		}
		at *= s[axis]
	}
	return nil
}

// backwards are the axes of pixels from the last on, and that of images.
func backwards(rank int) []int {
	var out []int
	for axis := rank - 1; axis > 1; axis-- {
		out = append(out, axis)
	}
	return append(out, 0)
}

// tapsFirst are weights of two bytes with the channels of a tap side by side.
func tapsFirst(w []byte, rows, channels, taps int, already bool) []byte {
	if already || taps == 1 {
		return w
	}
	out := make([]byte, 0, len(w))
	for row := range rows {
		for tap := range taps {
			for c := range channels {
				at := 2 * ((row*channels+c)*taps + tap)
				out = append(out, w[at:at+2]...)
			}
		}
	}
	return out
}
