// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
	"lathe/internal/tools"
	"lathe/ir/format"
)

// sweep draws problems until 10,000 outputs are compared, 10^6 in the long run. one returns how many it compared with
// the definition in Go and with PJRT, none of which may differ.
func sweep(t *testing.T, one func(t *testing.T, r *rand.Rand, seed uint64) int) {
	goal := 10_000
	if tools.Long {
		goal = 1_000_000
	}
	outputs, problems := 0, 0
	for seed := uint64(1); outputs < goal && !t.Failed(); seed++ {
		outputs += one(t, gemmtest.Dice(seed, t.Name()), seed)
		problems++
	}
	if !t.Failed() {
		t.Logf("%d outputs of %d problems, none of which differs", outputs, problems)
	}
}

// extent draws rows, columns and products, sizes beside the ends of tiles and of blocks as often as others.
func extent(r *rand.Rand, c gemm.Tile) (m, n, k int) {
	size := func(most int, edges ...int) int {
		if r.IntN(2) == 0 {
			return edges[r.IntN(len(edges))]
		}
		return 1 + r.IntN(most)
	}
	m = size(300, 0, 1, 31, 33, c.Rows()-1, c.Rows(), c.Rows()+1, 2*c.Rows()+1)
	n = size(300, 0, 1, 31, 33, c.Cols()-1, c.Cols(), c.Cols()+1, 2*c.Cols()+1)
	k = size(1200, 0, 1, 31, 32, 33, 127, 128, 129, 384, 512, 640)
	return m, n, k
}

// ranCase runs a case in one order and demands what the definition gives; nil where there are no outputs.
func ranCase(t *testing.T, c cuda.Case, seed uint64) [][]byte {
	t.Helper()
	if len(c.Launches) == 0 {
		return nil
	}
	j := cudatest.JobOf(c, true)
	j.Order = seed
	out := cudatest.Run(t, j)
	if v := c.Check(out); v.Wrong != "" || !v.BitEqual {
		t.Errorf("seed %d, %s: %s", seed, c.Name, v.Wrong)
	}
	return out
}

// sameWords compares words of so many bits with those of PJRT; mask leaves of two NaN the same.
func sameWords(t *testing.T, what string, got func(i int) uint64, want []int64, nan func(w uint64) bool) {
	t.Helper()
	wrong := 0
	for i, v := range want {
		g, w := got(i), uint64(v)
		if g == w || nan(g) && nan(w) {
			continue
		}
		if wrong++; wrong == 1 {
			t.Errorf("%s: word %d is %#x, PJRT has %#x", what, i, g, w)
		}
	}
	if wrong > 1 {
		t.Errorf("%s: %d of %d words are not those of PJRT", what, wrong, len(want))
	}
}

// TestWideSweep and TestBlockSweep compare exact products of random shapes, scales, results, tiles and orders with the
// definition, in Go and as integer arithmetic on PJRT.
func TestWideSweep(t *testing.T) { mxSweep(t, true) }

func TestBlockSweep(t *testing.T) { mxSweep(t, false) }

func mxSweep(t *testing.T, wide bool) {
	sweep(t, func(t *testing.T, r *rand.Rand, seed uint64) int {
		c := gemm.TilesMX[r.IntN(len(gemm.TilesMX))]
		p := gemm.MX{Wide: wide, Epilogue: gemm.Epilogue{Out: [...]word.Type{word.F32, word.BF16, gemm.MXINT8}[r.IntN(3)]}}
		p.M, p.N, p.K = extent(r, c)
		scales, span := gemmtest.Scales(r.IntN(int(gemmtest.HugeScales)+1)), gemm.Span(p.K)
		if r.IntN(4) == 0 {
			span = r.IntN(span+1) - 1
		}
		plan, err := p.With(c, span)
		if err != nil {
			t.Fatal(err)
		}
		one := gemmtest.MX(p, plan, seed, scales)
		out := ranCase(t, one, seed)
		if out == nil {
			return 0
		}
		xq, xs := gemmtest.MXBlocks(seed, "x", p.M, p.K, scales)
		wq, ws := gemmtest.MXBlocks(seed, "w", p.N, p.K, scales)
		words, exponents := defineMX(p, t, xq, xs, wq, ws)
		compare(p, t, one.Name, out, words, exponents)
		return p.M * p.N
	})
}

// compare compares outputs with what define gives.
func compare(p gemm.MX, t *testing.T, name string, out [][]byte, words, exponents []int64) {
	t.Helper()
	never := func(uint64) bool { return false }
	switch p.Out {
	case word.F32:
		word := func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(out[0][4*i:])) }
		sameWords(t, name, word, words, func(w uint64) bool { return w&(1<<31-1) > 0x7F800000 })
	case word.BF16:
		word := func(i int) uint64 { return uint64(binary.LittleEndian.Uint16(out[0][2*i:])) }
		sameWords(t, name, word, words, func(w uint64) bool { return w&(1<<15-1) > 0x7F80 })
	case gemm.MXINT8:
		sameWords(t, name, func(i int) uint64 { return uint64(int8(out[0][i])) }, words, never)
		blocks := (p.N + 31) / 32
		sameWords(t, name+", scales", func(i int) uint64 {
			return uint64(out[1][int64(i%blocks)*gemm.ScalePitch(p.M)+int64(i/blocks)])
		}, exponents, never)
	}
}

// TestInt8Sweep compares integer products of random shapes, codes, roundings, channels, tiles and orders.
func TestInt8Sweep(t *testing.T) {
	sweep(t, func(t *testing.T, r *rand.Rand, seed uint64) int {
		c := gemm.TilesInt8[r.IntN(len(gemm.TilesInt8))]
		p := gemm.Int8{Unsigned: r.IntN(2) == 0, Raw: r.IntN(12) == 0, Zero: int32(r.IntN(401) - 200)}
		p.M, p.N, p.K = extent(r, c)
		p.Result = drawCodes(r)
		channels := gemmtest.Channels(p, seed, r.IntN(2) == 0)
		plan, err := p.With(c)
		if err != nil {
			t.Fatal(err)
		}
		one := gemmtest.Int8(p, plan, seed, channels)
		out := ranCase(t, one, seed)
		if out == nil {
			return 0
		}
		want := defineInt8(p, t, gemmtest.Acts(p, seed), gemmtest.Int8s(seed, "w", p.N*p.K), channels)
		compareCodes(t, one.Name, p, out[0], want)
		return p.M * p.N
	})
}

// drawCodes draws integer codes; eight bits are the most frequent.
func drawCodes(r *rand.Rand) format.Fixed {
	f := format.Fixed{W: 8, Signed: r.IntN(2) == 0, Round: roundings()[r.IntN(len(roundings()))],
		Over: format.Over(r.IntN(int(format.Wrap) + 1))}
	if r.IntN(2) == 0 {
		f.W = 1 + r.IntN(31)
	}
	return f
}

// compareCodes compares results with codes.
func compareCodes(t *testing.T, engine string, p gemm.Int8, y []byte, want []int64) {
	t.Helper()
	size := p.Word().Bytes()
	wrong := 0
	for i, w := range want {
		got := uint64(0)
		for b := range size {
			got |= uint64(y[i*size+b]) << (8 * b)
		}
		if got != uint64(w)&(1<<(8*size)-1) {
			if wrong++; wrong == 1 {
				t.Errorf("%s: code %d is %#x, want %d", engine, i, got, w)
			}
		}
	}
	if wrong > 1 || len(want) != p.M*p.N {
		t.Errorf("%s: %d of %d codes differ", engine, wrong, len(want))
	}
}
