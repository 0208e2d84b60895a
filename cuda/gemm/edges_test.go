// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
	"lathe/internal/tools"
)

// edges are three sizes at the ends of a tile of so many rows, columns and products: each of them is once a unit less
// than the tile, once the tile and once a unit more. The unit of k is what a load of 16 bytes takes, or 1.
func edges(rows, cols, step, unit int) [][3]int {
	return [][3]int{
		{rows - 1, cols, step + unit}, {rows, cols + 1, step - unit}, {rows + 1, cols - 1, step}}
}

// TestLinearEdges takes sizes at the ends of tiles; in a quick run of those kernels that the cases have.
func TestLinearEdges(t *testing.T) {
	at := func(template string, params []string, m, n, k, splits int, out word.Type) {
		p := gemm.W8A16{M: m, N: n, K: k, Epilogue: gemm.Epilogue{Out: out}}
		run(t, gemmtest.W8A16(p, planned(t, p, template, params, splits), uint64(m+n+k), true, 1), true)
	}
	for i, c := range gemm.TilesBF16 {
		for _, unit := range []int{8, 1} {
			if !tools.Long && (unit == 1 || i == 1 || i == 2) {
				continue
			}
			for _, s := range edges(c.Rows(), c.Cols(), 64, unit) {
				out := word.BF16
				if i == 0 {
					out = word.F32
				}
				at("w8a16", c.Params(), s[0], s[1], s[2], 1, out)
			}
		}
	}
	at("w8a16_thin", gemm.Thins[3].Params(), 5, 72, 320, 2, word.BF16) // a warp's last block of k stands alone
	for i, c := range gemm.Thins {
		for _, unit := range []int{8, 1} {
			if !tools.Long && (unit == 1 || i != 5) {
				continue
			}
			for _, s := range edges(7, c.Cols(), c.Step(), unit) {
				at("w8a16_thin", c.Params(), s[0], s[1], s[2], 1, word.BF16)
			}
		}
	}
}

// TestByteEdges takes sizes at the ends of tiles for products of bytes.
func TestByteEdges(t *testing.T) {
	tiles := []gemm.Tile{gemm.TilesMX[1]}
	if tools.Long {
		tiles = gemm.TilesMX
	}
	for _, c := range tiles {
		for i, s := range edges(c.Rows(), c.Cols(), 128, 16) {
			seed := uint64(i)
			for _, wide := range []bool{false, true} {
				p := gemm.MX{M: s[0], N: s[1], K: s[2], Wide: wide, Epilogue: gemm.Epilogue{Out: word.F32}}
				config := c
				if wide && !tools.Long {
					e := edges(gemm.TilesMX[0].Rows(), gemm.TilesMX[0].Cols(), 128, 16)[i]
					p.M, p.N, config = e[0], e[1], gemm.TilesMX[0]
				}
				edge(t, func() (gemm.Plan, error) { return p.With(config, gemm.Span(p.K)) }, func(plan gemm.Plan) cuda.Case {
					return gemmtest.MX(p, plan, seed, gemmtest.AnyScales)
				})
			}
			window := gemm.Window{M: s[0], N: s[1], K: s[2], Scaled: true, Shift: -246, Bits: 37, Exact: true}
			edge(t, func() (gemm.Plan, error) { return window.With(c) }, func(plan gemm.Plan) cuda.Case {
				return gemmtest.Window(window, plan, seed, gemmtest.NarrowScales)
			})
			codes := gemm.Int8{M: s[0], N: s[1], K: s[2], Result: gemmtest.Codes8, Zero: 3}
			edge(t, func() (gemm.Plan, error) { return codes.With(gemm.TilesInt8[1]) }, func(plan gemm.Plan) cuda.Case {
				return gemmtest.Int8(codes, plan, seed, gemmtest.Channels(codes, seed, true))
			})
		}
	}
}

// edge runs the case of a plan.
func edge(t *testing.T, plan func() (gemm.Plan, error), of func(gemm.Plan) cuda.Case) {
	t.Helper()
	p, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	run(t, of(p), true)
}
