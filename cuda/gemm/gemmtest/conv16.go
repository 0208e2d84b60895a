// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"fmt"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
)

// Conv16 is the problem on random data with corner values, or without them for times, as W16A16. plan comes from
// p.Plan.
func Conv16(p gemm.Conv16, plan gemm.Plan, seed uint64, corners bool, c float64) cuda.Case {
	var b operandsOf
	rows := cornersFor(p.Epilogue, corners)
	m, k, pixels := p.Images*p.OH*p.OW, p.KH*p.KW*p.C, p.Images*p.H*p.W
	image := func() []byte {
		if p.Channel == 1 {
			return halves(p.Word, seed, "x", pixels, p.C, rows)
		}
		return halves(p.Word, seed, "x", p.Images*p.C*p.H, p.W, rows)
	}
	weights := func() []byte { return halves(p.Word, seed, "w", p.N, k, rows) }
	o := gemm.Operands{XScales: cuda.Null(), WScales: cuda.Null()}
	o.X = b.in("x", int64(pixels)*int64(p.C)*2, image)
	o.W = b.in("w", p.PackedBytes(), func() []byte { return p.Pack(weights()) })
	b.epilogue(seed, p.Epilogue, m, p.N, &o)
	one := cuda.CaseOf(p, plan, o)
	one.Name = fmt.Sprintf("%s/%dx%dx%dx%d to %dx%dx%d, window %dx%d %s", plan.Instances[0].Kernel, p.Images, p.H, p.W,
		p.C, p.OH, p.OW, p.N, p.KH, p.KW, Text(p.Epilogue))
	one.Shape = fmt.Sprintf("%dx%dx%dx%d, %d of %dx%d", p.Images, p.H, p.W, p.C, p.N, p.KH, p.KW)
	one.Formats = fmt.Sprintf("%s x %s -> %s", p.Word, p.Word, elementText(p.Out))
	one.Buffers = b.buffers
	one.Check = func(outputs [][]byte) cuda.Verdict {
		product := gemm.W16A16{M: m, N: p.N, K: k, Word: p.Word, Epilogue: p.Epilogue}
		s := halfSums(product, windows(p, image()), weights())
		return check(p.Epilogue, seed, m, p.N, p.N*k, linearBound(c, k), s, outputs)
	}
	return one
}

// Conv is a convolution of images x h x w x c into n channels by square windows, channels last.
func Conv(f word.Float, images, h, w, c, n, window, stride, pad int, e gemm.Epilogue) gemm.Conv16 {
	out := func(size int) int { return (size+2*pad-window)/stride + 1 }
	return gemm.Conv16{Images: images, H: h, W: w, C: c, N: n, OH: out(h), OW: out(w), KH: window, KW: window, SH: stride,
		SW: stride, DH: 1, DW: 1, PT: pad, PL: pad, Channel: 1, Row: w * c, Column: c, Word: f, Epilogue: e}
}

// Planes is the same of images whose channels are planes.
func Planes(p gemm.Conv16) gemm.Conv16 {
	p.Channel, p.Row, p.Column = p.H*p.W, p.W, 1
	return p
}

// windows are the rows of the product: what each pixel of the result sees of the images, zeros outside.
func windows(p gemm.Conv16, x []byte) []byte {
	size := int(word.BF16.Bytes())
	var out []byte
	for image := range p.Images {
		for oy := range p.OH {
			for ox := range p.OW {
				for tap := range p.KH * p.KW {
					iy, ix := oy*p.SH-p.PT+tap/p.KW*p.DH, ox*p.SW-p.PL+tap%p.KW*p.DW
					for c := range p.C {
						if iy < 0 || iy >= p.H || ix < 0 || ix >= p.W {
							out = append(out, 0, 0)
							continue
						}
						at := image*p.H*p.W*p.C + c*p.Channel + iy*p.Row + ix*p.Column
						out = append(out, x[at*size:(at+1)*size]...)
					}
				}
			}
		}
	}
	return out
}
