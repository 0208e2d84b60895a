// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"math/bits"
	"slices"

	"lathe/cuda"
)

// MX is y = epilogue(x*transpose(w)) of two matrices of MXINT8, x [M][K] with transposed scales and w [N][K] packed by
// LayoutInt8, exactly as defined: the same bits on every machine.
type MX struct {
	M, N, K int
	// Wide rounds the exact sum once: to fp32, or where nothing follows it to the result. Otherwise each block of 32 is
	// exact and enters an fp32 sum by one fused multiply-add, blocks ascending.
	Wide bool
	Epilogue
}

// tilesMX are the configurations of mx_wide, mx_block and mx_window.
var tilesMX = []tile{{16, 128, 1, 4, 3}, {64, 64, 2, 2, 3}, {128, 64, 4, 2, 3}}

// maxBlocks is the most blocks along k whose sums the longer accumulators of mx_wide hold.
const maxBlocks = 8191

func (p MX) kernel() string {
	if p.Wide {
		return "mx_wide"
	}
	return "mx_block"
}

// Valid reports why no kernel can take the problem: error L0990.
func (p MX) Valid() error {
	if err := sizes(p.kernel(), p.M, p.N, p.K); err != nil {
		return err
	}
	if p.Wide && ceil(p.K, 32) > maxBlocks {
		return refuse(p.kernel(), "%d blocks along k, at most %d", ceil(p.K, 32), maxBlocks)
	}
	return p.Epilogue.Valid(p.kernel(), p.N)
}

// Floor is the least that must be moved and computed.
func (p MX) Floor() cuda.Floor {
	m, n, k := int64(p.M), int64(p.N), int64(p.K)
	return cuda.Floor{Bytes: (m+n)*(k+(k+31)/32) + p.Epilogue.floor(p.M, p.N), Flops: 2 * m * n * k}
}

// Span is the greatest difference of exponents that 64-bit sums over k products hold.
func Span(k int) int { return 43 - bits.Len(uint(max(ceil(k, 32)-1, 0))) }

// Plan chooses the configuration of least estimated time.
func (p MX) Plan(a cuda.Arch) (Plan, error) {
	best, err := p.choose(a)
	if err != nil {
		return Plan{}, err
	}
	return p.with(best, Span(p.K))
}

// choose is the configuration of least estimated time.
func (p MX) choose(a cuda.Arch) (tile, error) {
	if err := p.Valid(); err != nil {
		return tile{}, err
	}
	b := byteProduct{kernel: p.kernel(), m: p.M, n: p.N, k: p.K, pitch: 132, alu: 6}
	if p.Wide {
		b.alu = 9
	}
	tiles := slices.DeleteFunc(slices.Clone(tilesMX), func(t tile) bool {
		return p.Out == MXINT8 && p.Columns(t.bn) < 32
	})
	return b.cheapest(tiles, a)
}

// with is the plan of a configuration; a span of -1 sends every block to the longer accumulators.
func (p MX) with(t tile, span int) (Plan, error) {
	i, err := cuda.Named(p.kernel(), slices.Concat(t.params(), []string{bit(p.K%16 == 0)}, p.params())...)
	if err != nil {
		return Plan{}, err
	}
	return whole(i, ceil(p.M, t.bm)*ceil(p.N, t.bn), func(o Operands) []cuda.Arg {
		args := slices.Concat([]cuda.Arg{o.X, o.XScales, o.W, o.WScales, cuda.I64(ScalePitch(p.M))}, p.sink(o, p.M, p.N),
			[]cuda.Arg{cuda.I32(int32(p.M)), cuda.I32(int32(p.N)), cuda.I32(int32(p.K))})
		if p.Wide {
			args = append(args, cuda.U32(uint32(span+1)), o.Exceeded)
		}
		return args
	})
}
