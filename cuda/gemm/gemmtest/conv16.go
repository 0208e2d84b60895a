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
	m, k, pixels := p.Count*p.OH*p.OW, p.KH*p.KW*p.C, p.Count*p.H*p.W
	image := func() []byte {
		if p.Channel == 1 {
			return halves(p.Word, seed, "x", pixels, p.C, rows)
		}
		return halves(p.Word, seed, "x", p.Count*p.C*p.H, p.W, rows)
	}
	weights := func() []byte { return halves(p.Word, seed, "w", p.N, k, rows) }
	o := gemm.Operands{XScales: cuda.Null(), WScales: cuda.Null()}
	o.X = b.in("x", int64(pixels)*int64(p.C)*2, image)
	o.W = b.in("w", p.PackedBytes(), func() []byte { return p.Pack(weights()) })
	b.epilogue(seed, p.Epilogue, m, p.N, &o)
	one := cuda.CaseOf(p, plan, o)
	one.Shape = imagesText(p.Images, p.N)
	one.Name = fmt.Sprintf("%s/%s to %dx%d %s", plan.Instances[0].Kernel, one.Shape, p.OH, p.OW, Text(p.Epilogue))
	one.Formats = fmt.Sprintf("%s x %s -> %s", p.Word, p.Word, elementText(p.Out))
	one.Buffers = b.buffers
	one.Check = func(outputs [][]byte) cuda.Verdict {
		product := gemm.W16A16{M: m, N: p.N, K: k, Word: p.Word, Epilogue: p.Epilogue}
		s := halfSums(product, windows(p.Images, image(), make([]byte, 2)), weights())
		return check(p.Epilogue, seed, m, p.N, p.N*k, linearBound(c, k), s, outputs)
	}
	return one
}

// Conv is a convolution of images x h x w x c into n channels by square windows, channels last.
func Conv(f word.Float, images, h, w, c, n, window, stride, pad int, e gemm.Epilogue) gemm.Conv16 {
	return gemm.Conv16{Images: Images(images, h, w, c, window, stride, pad), N: n, Word: f, Epilogue: e}
}

// Planes is the same of images whose channels are planes.
func Planes(p gemm.Conv16) gemm.Conv16 {
	p.Images = p.Laid(false)
	return p
}
