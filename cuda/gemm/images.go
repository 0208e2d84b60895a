// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"lathe/cuda"
)

// Images are Count images of C channels, H rows and W columns, and the windows over them: OH rows of OW columns a
// image, KH x KW elements each. Of what lies beyond an image, windows see PT rows above it and PL columns left of it
// among others.
type Images struct {
	Count, H, W, C         int
	OH, OW, KH, KW, SH, SW int
	DH, DW, PT, PL         int
	// Channel, Row and Column are the distances of elements; images are dense.
	Channel, Row, Column int
}

// Laid are images with the channels of a pixel side by side, or with planes of channels.
func (i Images) Laid(channelsLast bool) Images {
	i.Channel, i.Row, i.Column = i.H*i.W, i.W, 1
	if channelsLast {
		i.Channel, i.Row, i.Column = 1, i.W*i.C, i.C
	}
	return i
}

// windows is their number, window that of the elements of each.
func (i Images) windows() int { return i.Count * i.OH * i.OW }
func (i Images) window() int  { return i.KH * i.KW * i.C }

// elements are those of all images.
func (i Images) elements() int64 { return int64(i.Count) * int64(i.H) * int64(i.W) * int64(i.C) }

// valid refuses what are no images: error L0990.
func (i Images) valid(kernel string) error {
	for _, n := range []int{i.Count, i.H, i.W, i.C, i.OH, i.OW, i.KH, i.KW, i.SH, i.SW, i.DH, i.DW} {
		if n < 1 || n > limit {
			return refuse(kernel, "a size of %d: sizes lie between 1 and %d", n, limit)
		}
	}
	return nil
}

// unit is how many elements of the given size a kernel copies at once: those of 16, 8 or 4 bytes, or 1.
func (i Images) unit(size int) int {
	for n := 16 / size; n*size >= 4 && i.Channel == 1; n /= 2 {
		if i.C%n == 0 && i.Row%n == 0 && i.Column%n == 0 {
			return n
		}
	}
	return 1
}

// tilesConv are the configurations of convolutions, those of few windows first.
var tilesConv = []tile{
	{16, 64, 1, 4, 6}, {16, 128, 1, 4, 3}, {64, 64, 2, 2, 3}, {128, 32, 4, 1, 3}, {128, 64, 2, 2, 3}, {128, 128, 2, 4, 3},
}

// slots are the issue slots of a step, counted by thread: 1.25 a product, 4 a chunk of the weights, and for each copy
// the way to its place in the window and to each row. A test holds them to what the loops have.
func (i Images) slots(t tile, size int) float64 {
	threads := 32 * t.wm * t.wn
	products, rows, chunks := t.bm/t.wm/16*(t.bn/t.wn/8)*4, t.bm*8/threads, t.bn*8/threads
	copies, row := 16/(size*i.unit(size)), 9 // of a chunk
	if i.unit(size) == 1 {
		row = 15 // through registers
	}
	return float64(threads) * (1.25*float64(products) + float64(4*chunks+26+copies*(33+row*rows)))
}

// cheapest is the configuration of least estimated time for m windows and n rows of weights, elements of the given
// size. Error L0990 where none fits.
func (i Images) cheapest(kernel string, m, n, size int, a cuda.Arch) (tile, error) {
	g := gpuOf(a)
	var all []choice
	for _, t := range tilesConv {
		stage := (t.bm + t.bn) * 128
		w := work{bytes: float64(stage), macs: float64(t.bm * t.bn * 64), alu: i.slots(t, size), shared: t.stages * stage,
			threads: 32 * t.wm * t.wn}
		cost := g.cost(w, ceil(m, t.bm)*ceil(n, t.bn), 1, ceil(i.window()*size, 128), m*n)
		all = append(all, choice{template: kernel, tile: t, cost: cost})
	}
	c, err := least(kernel, all, a)
	return c.tile, err
}

// args are the arguments of a kernel, behind those of a product.
func (i Images) args() []cuda.Arg {
	out := []cuda.Arg{cuda.I64(int64(i.H) * int64(i.W) * int64(i.C))}
	for _, s := range []int{i.Channel, i.Row, i.Column} {
		out = append(out, cuda.I64(int64(s)))
	}
	for _, n := range []int{i.H, i.W, i.C, i.OH, i.OW, i.KW, i.SH, i.SW, i.DH, i.DW, i.PT, i.PL} {
		out = append(out, cuda.I32(int32(n)))
	}
	return out
}

// reduced is one image with as few windows as fill a tile, and as many channels, of that unit, as fill its stages of so
// many products.
func (i Images) reduced(t tile, products, unit int) Images {
	i.Count, i.OW, i.OH = 1, 9, ceil(t.bm+3, 9)
	i.C = unit * (ceil(products*(t.stages+1)+unit, unit*i.KH*i.KW) | 1) // no multiple of a greater unit
	i.H = max((i.OH-1)*i.SH+(i.KH-1)*i.DH+1-i.PT, 1)
	i.W = max((i.OW-1)*i.SW+(i.KW-1)*i.DW+1-i.PL, 1)
	return i.Laid(i.Channel == 1)
}

// conv is what convolutions of all operands have in common: a product of windows with n rows of weights, of elements of
// the given size.
type conv struct {
	Images
	kernel  string
	n, size int
	check   func() error    // Valid
	params  func() []string // of an instance, behind the tile's
	args    func(o Operands, windows cuda.Arg) []cuda.Arg
	bytes   func() int64 // of Floor
}

// choose is the configuration of least estimated time for m windows.
func (c conv) choose(a cuda.Arch, m int) (tile, error) {
	if err := c.check(); err != nil {
		return tile{}, err
	}
	return c.cheapest(c.kernel, m, c.n, c.size, a)
}

// instance is the kernel of a configuration.
func (c conv) instance(t tile) (cuda.Instance, error) {
	return cuda.Named(c.kernel, append(t.params(), c.params()...)...)
}

func (c conv) plan(a cuda.Arch) (Plan, error) {
	t, err := c.choose(a, c.windows())
	if err != nil {
		return Plan{}, err
	}
	return c.planned(t)
}

// planned is the plan of a configuration.
func (c conv) planned(t tile) (Plan, error) {
	i, err := c.instance(t)
	if err != nil {
		return Plan{}, err
	}
	m := c.windows()
	return whole(i, ceil(m, t.bm)*ceil(c.n, t.bn), func(o Operands) []cuda.Arg { return c.args(o, cuda.I32(int32(m))) })
}

// call is the convolution of the images of each of a number of samples.
func (c conv) call(o Operands, t cuda.Target) (cuda.Call, error) {
	m := c.windows()
	best, err := c.choose(t.Arch, t.Rows(m, limit))
	if err != nil {
		return cuda.Call{}, err
	}
	i, err := c.instance(best)
	return cuda.Call{Instance: i, Blocks: int64(ceil(c.n, best.bn)), Rows: int64(m), Tile: int64(best.bm),
		Args: c.args(o, cuda.Samples32(int64(m), 1)), Bytes: c.bytes()}, err
}
