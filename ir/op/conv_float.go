// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/dense"
)

// convFloat multiplies the windows of each image and group, which it gathers as rows, with the weights.
func convFloat(n *ir.Node, a *ConvAttrs, g *Geometry) (ir.Kernel, error) {
	w, bias, err := floatOperand(n)
	if err != nil {
		return nil, err
	}
	shape := n.Args[1].Type.Shape
	size, rows, pixels := product(shape[1:]), shape[0]/a.Groups, g.OH*g.OW
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out, x := ir.NewTensor(n.Type), args[0].Floats
		run := func(i int) {
			img, group := i/a.Groups, i%a.Groups
			c := group * rows
			p := dense.Product{M: pixels, N: rows, K: size, Right: w.From(c), Row: shape[0], Col: 1}
			p.Left = func(pixel int, row []float64) { g.window(a.ChannelsLast, a.Groups, img, group, pixel, x, row) }
			if bias != nil {
				p.Bias = bias[c : c+rows]
			}
			p.Out = out.Floats[img*pixels*shape[0]:]
			if a.ChannelsLast {
				p.Out = p.Out[c:]
			} else {
				p.Out, p.Row, p.Col = p.Out[c*pixels:], 1, pixels
			}
			p.Run()
		}
		few := max(1, 1<<16/max(1, pixels*size*rows)) // small products: several for a goroutine
		workers.Ranges(g.N*a.Groups, few, func(from, to int) {
			for i := from; i < to; i++ {
				run(i)
			}
		})
		return out, nil
	}, nil
}

// window writes the window of one group for one output pixel, with zeros for padding: in the order ky, kx, channel of
// images with channels last, else channel, ky, kx.
func (g *Geometry) window(last bool, groups, img, group, pixel int, x []float32, row []float64) {
	ic := g.C / groups
	oy, ox := pixel/g.OW*g.SH-g.PT, pixel%g.OW*g.SW-g.PL
	y0, y1 := span(oy, g.H, g.KH, g.DH)
	x0, x1 := span(ox, g.W, g.KW, g.DW)
	if y1-y0 < g.KH || x1-x0 < g.KW {
		clear(row)
	}
	if last {
		for ky := y0; ky < y1; ky++ {
			for kx := x0; kx < x1; kx++ {
				to := row[(ky*g.KW+kx)*ic:][:ic]
				for c, v := range x[g.at(true, img, oy+ky*g.DH, ox+kx*g.DW, group*ic):][:ic] {
					to[c] = float64(v)
				}
			}
		}
		return
	}
	for c := range ic {
		for ky := y0; ky < y1; ky++ {
			from := g.at(false, img, oy+ky*g.DH, ox, group*ic+c)
			to := row[(c*g.KH+ky)*g.KW:]
			for kx := x0; kx < x1; kx++ {
				to[kx] = float64(x[from+kx*g.DW])
			}
		}
	}
}

// span is the range of the n kernel positions, d apart from first on, that lie inside of 0 to size.
func span(first, size, n, d int) (from, to int) {
	for to = n; to > 0 && first+(to-1)*d >= size; {
		to--
	}
	for from < to && first+from*d < 0 {
		from++
	}
	return from, to
}
