// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"slices"

	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/dense"
	"lathe/ir/op/geometry"
	"lathe/ir/op/walk"
)

// floatConv is a convolution of floats: for each image and group a product of windows and weights. Windows are rows
// where channels are last, since their elements lie together; else pixels of a row of the image do, and windows are
// columns.
type floatConv struct {
	*geometry.Grid
	last       bool
	groups     int
	size, rows int // weights of a row; rows of a group
	weights    dense.Operand
	bias       []float32
	// few are the weights of a convolution with so few rows in a group that packing windows does not pay; else nil.
	few []float32
}

// fewRows is the number of rows of a group below which each row is summed by itself.
const fewRows = 4

func convFloat(n *ir.Node, a *ConvAttrs, g *geometry.Grid) (ir.Kernel, error) {
	operand, err := floatOperand(n)
	if err != nil {
		return nil, err
	}
	x, err := fixedFloats(n, 0)
	if err != nil {
		return nil, err
	}
	shape := n.Args[1].Type.Shape
	c := floatConv{Grid: g, last: a.ChannelsLast, groups: a.Groups, size: walk.Size(shape[1:]),
		rows: shape[0] / a.Groups}
	if c.rows < fewRows && !c.last && n.Args[1].IsConst() {
		w, err := n.Args[1].Value()
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(w.Floats, notFinite) {
			c.few = w.Floats
		}
	}
	few := max(1, 1<<16/max(1, g.OH*g.OW*c.size*c.rows)) // small products: several for a goroutine
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out, image, c := ir.NewTensor(n.Type), x(args), c
		c.weights, c.bias = operand(args)
		workers.Ranges(g.N*a.Groups, few, func(from, to int) {
			for i := from; i < to; i++ {
				c.run(i/a.Groups, i%a.Groups, image, out.Floats)
			}
		})
		return out, nil
	}, nil
}

// run computes one group of one image.
func (c *floatConv) run(img, group int, x, y []float32) {
	first, pixels := group*c.rows, c.OH*c.OW
	var bias []float32
	if c.bias != nil {
		bias = c.bias[first : first+c.rows]
	}
	all := c.rows * c.groups
	y = y[img*pixels*all:]
	weights := c.weights.From(first)
	if c.last {
		p := dense.Product{M: pixels, N: c.rows, K: c.size, Right: weights, Bias: bias, Out: y[first:], Row: all, Col: 1}
		p.Left = func(pixel int, row []float64) { c.window(img, group, pixel, x, row) }
		p.Run()
		return
	}
	image := x[c.At(false, img, 0, 0, group*c.C/c.groups):]
	if c.few != nil {
		for r := range c.rows {
			c.direct(image, first+r, y[(first+r)*pixels:][:pixels])
		}
		return
	}
	p := dense.Product{M: c.rows, N: pixels, K: c.size, Left: weights.Left(c.size), RowBias: bias,
		Out: y[first*pixels:], Row: pixels, Col: 1}
	p.Right.Pack = func(panel []float64, first, n, inner, k int) { c.pack(panel, image, first, n, inner, k) }
	p.Run()
}

func notFinite(w float32) bool { return w-w != 0 }

// direct computes channel oc, row after row of pixels, in the order of weights as products do. It leaves taps out that
// lie in the padding, which is the same where weights are finite.
func (c *floatConv) direct(image []float32, oc int, y []float32) {
	weights := c.few[oc*c.size:][:c.size]
	sums, bias := make([]float64, 2*c.OW), 0.0
	if c.bias != nil {
		bias = float64(c.bias[oc])
	}
	for oy := range c.OH {
		clear(sums)
		for tap, w := range weights {
			plane, ky, kx := tap/(c.KH*c.KW)*c.H*c.W, tap/c.KW%c.KH, tap%c.KW
			iy, ix := oy*c.SH-c.PT+ky*c.DH, kx*c.DW-c.PL
			if iy < 0 || iy >= c.H {
				continue
			}
			from, to := span(ix, c.W, c.OW, c.SW)
			s, row, v := sums[tap&1*c.OW:][:c.OW][from:to], image[plane+iy*c.W:][:c.W], float64(w)
			at := ix + from*c.SW
			for i := range s {
				s[i] += v * float64(row[at])
				at += c.SW
			}
		}
		for ox, even := range sums[:c.OW] {
			y[oy*c.OW+ox] = float32(even + bias + sums[c.OW+ox])
		}
	}
}

// window writes the window of one group for one output pixel of a channels-last image, in the order ky, kx, channel,
// with zeros for padding.
func (c *floatConv) window(img, group, pixel int, x []float32, row []float64) {
	ic := c.C / c.groups
	oy, ox := pixel/c.OW*c.SH-c.PT, pixel%c.OW*c.SW-c.PL
	y0, y1 := span(oy, c.H, c.KH, c.DH)
	x0, x1 := span(ox, c.W, c.KW, c.DW)
	if y1-y0 < c.KH || x1-x0 < c.KW {
		clear(row)
	}
	for ky := y0; ky < y1; ky++ {
		for kx := x0; kx < x1; kx++ {
			to := row[(ky*c.KW+kx)*ic:][:ic]
			for i, v := range x[c.At(true, img, oy+ky*c.DH, ox+kx*c.DW, group*ic):][:ic] {
				to[i] = float64(v)
			}
		}
	}
}

// pack writes taps inner to inner+k, in the order channel, ky, kx, of the windows of n output pixels from first on,
// with zeros for padding; image begins with the first channel of the group.
func (c *floatConv) pack(panel []float64, image []float32, first, n, inner, k int) {
	for tap := range k {
		at := inner + tap
		plane, ky, kx := at/(c.KH*c.KW)*c.H*c.W, at/c.KW%c.KH, at%c.KW
		to := panel[tap*dense.PanelRows:][:n]
		for oy, ox := first/c.OW, first%c.OW; len(to) > 0; oy, ox = oy+1, 0 {
			run := to[:min(len(to), c.OW-ox)]
			to = to[len(run):]
			y, x := oy*c.SH-c.PT+ky*c.DH, ox*c.SW-c.PL+kx*c.DW
			if y < 0 || y >= c.H {
				clear(run)
				continue
			}
			from, end := span(x, c.W, len(run), c.SW)
			clear(run[:from])
			clear(run[end:])
			row := image[plane+y*c.W:][:c.W]
			for i := from; i < end; i++ {
				run[i] = float64(row[x+i*c.SW])
			}
		}
	}
}

// span is the range of n places, d apart from first on, that lie inside of 0 to size.
func span(first, size, n, d int) (from, to int) {
	if first >= 0 && first+(n-1)*d < size {
		return 0, n
	}
	if first < 0 {
		from = min(n, (d-1-first)/d)
	}
	return from, max(from, min(n, (max(0, size-first)+d-1)/d))
}
