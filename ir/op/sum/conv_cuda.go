// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
)

// convCUDA takes convolutions of floats with what follows them, and those of codes alone; of single pixels as linear
// nodes.
func convCUDA(g *ir.Group, t cuda.Target) (*cuda.Unit, error) {
	n := g.Anchor
	a := n.Attrs.(*ConvAttrs)
	grid, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	switch {
	case err != nil:
		return nil, n.Errorf("L0306", "%v", err)
	case a.Groups != 1:
		return nil, cuda.Refuse("the library has no convolutions in %d groups", a.Groups)
	case n.Args[0].Type.IsFloat():
		return convHalves(g, grid, t)
	case !a.ChannelsLast:
		return nil, cuda.Refuse("the library convolves codes channels last")
	}
	return ir.OneNode(func(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
		p, err := dot.New(n)
		if err != nil {
			return nil, err
		}
		if grid.KH*grid.KW == 1 && grid.SH*grid.SW == 1 && grid.OH == grid.H && grid.OW == grid.W {
			return p.Product(n, nil, t)
		}
		images := imagesOf(grid, true)
		return p.Product(n, &images, t)
	})(g, t)
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
