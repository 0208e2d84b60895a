// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/word"
)

// farther is a product and a larger one, of which it is the last rows or the last columns.
type farther struct {
	name      string
	near, far cuda.Case
	places    map[string]cudatest.Place
}

// rowsAt are the places of operands in a product of more rows, of which it begins at row `first`. xSize is the size of
// an element of x, size that of one of the result, which has cols columns.
func rowsAt(first, m, k, cols int, xSize, size int64) map[string]cudatest.Place {
	few, all := gemm.ScalePitch(m), gemm.ScalePitch(first+m)
	return map[string]cudatest.Place{
		"x": {At: int64(first) * int64(k) * xSize}, "x scales": {At: int64(first), Run: few, Step: all},
		"y": {At: int64(first) * int64(cols) * size}, "residual": {At: int64(first) * int64(cols) * max(size, 2)},
		"scales": {At: int64(first), Run: few, Step: all},
	}
}

// columnsAt are those in a product of more rows of weights.
func columnsAt(first, m, n, k int, l gemm.Layout, e gemm.Epilogue, size int64) map[string]cudatest.Place {
	at, few, all := int64(e.Columns(first)), int64(e.Columns(n)), int64(e.Columns(first+n))
	return map[string]cudatest.Place{
		"w": {At: l.Bytes(first, k)}, "w scales": {At: l.ScaleBytes(first, k)}, "bias": {At: int64(first) * 4},
		"channels": {At: int64(first) * gemm.ChannelBytes}, "y": {At: at * size, Run: few * size, Step: all * size},
		"residual": {At: at * max(size, 2), Run: few * max(size, 2), Step: all * max(size, 2)},
		"scales":   {At: at / 32 * gemm.ScalePitch(m)},
	}
}

// TestFar takes the last rows and the last columns of products whose operands or results have more than 2^31 elements:
// they have the bits of small products.
func TestFar(t *testing.T) {
	for _, f := range slicesOf(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			near := cudatest.JobOf(f.near, true)
			if v := f.near.Check(cudatest.Far(t, near, cudatest.Bare(f.far), f.places)); v.Wrong != "" {
				t.Error(v.Wrong)
			}
		})
	}
}

const (
	manyRows    = 1 << 27 // of 64 and more elements
	manyColumns = 1 << 26
)

func slicesOf(t *testing.T) []farther {
	epilogue := gemm.Epilogue{Out: word.BF16, Bias: true, Residual: true, Act: gemm.Relu}
	blocks := gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu, Gate: true}
	var all []farther
	add := func(name string, near, far cuda.Case, places map[string]cudatest.Place) {
		all = append(all, farther{name, near, far, places})
	}
	linear := func(template string, params []string, p gemm.W8A16) cuda.Case {
		return gemmtest.W8A16(p, planned(t, p, template, params, 1), 1, true, 1)
	}
	for _, e := range []gemm.Epilogue{epilogue, blocks} {
		c := gemm.TilesBF16[2]
		few := gemm.W8A16{M: c.Rows() + 3, N: 64, K: 72, Epilogue: e}
		many := few
		many.M += manyRows
		add("w8a16, rows, "+gemmtest.Text(e), linear("w8a16", c.Params(), few), linear("w8a16", c.Params(), many),
			rowsAt(manyRows, few.M, few.K, e.Columns(few.N), 2, int64(e.Out.Bytes())))
		few = gemm.W8A16{M: 7, N: c.Cols() + 32, K: 72, Epilogue: e}
		many = few
		many.N += manyColumns
		places := columnsAt(manyColumns, few.M, few.N, few.K, gemm.LayoutBF16, e, int64(e.Out.Bytes()))
		add("w8a16, columns, "+gemmtest.Text(e), linear("w8a16", c.Params(), few), linear("w8a16", c.Params(), many), places)
		thin := gemm.Thins[3].Params()
		add("w8a16_thin, columns, "+gemmtest.Text(e), linear("w8a16_thin", thin, few), linear("w8a16_thin", thin, many),
			places)
	}
	return slices.Concat(all, farHalves(t), farMX(t), farInt8(t), farConvs(t))
}

func farHalves(t *testing.T) []farther {
	make := func(m, n int) cuda.Case {
		p := gemm.W16A16{M: m, N: n, K: 72, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true,
			Residual: true}}
		return halfCase(t, p, gemm.Tiles16[3], 1, 1)
	}
	rows, columns := make(67, 64), make(7, 96)
	return []farther{
		{"w16a16, rows", rows, make(manyRows+67, 64), rowsAt(manyRows, 67, 72, 64, 2, 2)},
		{"w16a16, columns", columns, make(7, manyColumns+96),
			columnsAt(manyColumns, 7, 96, 2*72, gemm.LayoutInt8, gemm.Epilogue{}, 2)},
	}
}

func farMX(t *testing.T) (all []farther) {
	for _, wide := range []bool{false, true} {
		make := func(m, n int, e gemm.Epilogue) cuda.Case {
			p := gemm.MX{M: m, N: n, K: 80, Wide: wide, Epilogue: e}
			plan, err := p.With(gemm.TilesMX[1], gemm.Span(80))
			if err != nil {
				t.Fatal(err)
			}
			return gemmtest.MX(p, plan, 1, gemmtest.AnyScales)
		}
		for _, e := range []gemm.Epilogue{{Out: word.F32}, {Out: gemm.MXINT8}} {
			name := map[bool]string{false: "mx_block", true: "mx_wide"}[wide]
			all = append(all,
				farther{name + ", rows, " + gemmtest.Text(e), make(67, 64, e), make(manyRows+67, 64, e),
					rowsAt(manyRows, 67, 80, 64, 1, int64(e.Out.Bytes()))},
				farther{name + ", columns, " + gemmtest.Text(e), make(5, 96, e), make(5, manyColumns+96, e),
					columnsAt(manyColumns, 5, 96, 80, gemm.LayoutInt8, e, int64(e.Out.Bytes()))})
		}
	}
	return all
}

func farInt8(t *testing.T) (all []farther) {
	make := func(m, n int, raw bool) cuda.Case {
		p := gemm.Int8{M: m, N: n, K: 80, Raw: raw, Result: gemmtest.Codes8, Zero: 3}
		plan, err := p.With(gemm.TilesInt8[1])
		if err != nil {
			t.Fatal(err)
		}
		if n >= manyColumns {
			return gemmtest.Int8(p, plan, 1, nil)
		}
		return gemmtest.Int8(p, plan, 1, gemmtest.Channels(p, 1, true))
	}
	for _, raw := range []bool{false, true} {
		size := map[bool]int64{false: 1, true: 4}[raw]
		name := map[bool]string{false: "int8", true: "int8, sums"}[raw]
		all = append(all,
			farther{name + ", rows", make(67, 64, raw), make(manyRows+67, 64, raw),
				rowsAt(manyRows, 67, 80, 64, 1, size)},
			farther{name + ", columns", make(5, 96, raw), make(5, manyColumns+96, raw),
				columnsAt(manyColumns, 5, 96, 80, gemm.LayoutInt8, gemm.Epilogue{}, size)})
	}
	return all
}

// farConvs are convolutions of images of 16 pixels that keep their size.
func farConvs(t *testing.T) []farther {
	bytes := func(images int) cuda.Case {
		p := gemmtest.ConvBytes(gemmtest.Images(images, 4, 4, 32, 3, 1, 1), gemm.Int8{N: 64, Result: gemmtest.Codes8}, -7)
		p.Added = &gemmtest.AddedBytes
		return byteConvCase(t, p, gemm.TilesConv[1], 1)
	}
	halves := func(images int) cuda.Case {
		e := gemm.Epilogue{Out: word.BF16, Bias: true, Residual: true}
		return convCase(t, gemmtest.Conv(word.BFloat16, images, 4, 4, 32, 64, 3, 1, 1, e), gemm.TilesConv[1], 1)
	}
	of := rowsAt(manyRows, 5*16, 32, 64, 1, 1)
	of["r"] = of["y"]
	return []farther{{"conv8", bytes(5), bytes(manyRows/16 + 5), of},
		{"conv16", halves(5), halves(manyRows/16 + 5), rowsAt(manyRows, 5*16, 32, 64, 2, 2)}}
}

// TestFarSums adds the last rows of parts of more than 2^31 sums.
func TestFarSums(t *testing.T) {
	const rows, cols, parts = 37, 64, 3
	make := func(m int) cudatest.Job {
		s := gemm.SplitSum{M: m, N: cols, Splits: parts, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.Relu}}
		null := cuda.Null()
		i, l, err := s.Launched(gemm.Operands{Workspace: cuda.Buffer(0), Y: cuda.Buffer(1), Bias: null, Residual: null,
			YScales: null})
		if err != nil {
			t.Fatal(err)
		}
		return cudatest.Job{Quick: true, Kernels: []cuda.Instance{i}, Launches: []cuda.Launch{l}, Buffers: []cudatest.Buffer{
			{Name: "parts", Bytes: s.Workspace()}, {Name: "y", Bytes: int64(m) * cols * 2, Out: true}}}
	}
	near := make(rows)
	near.Buffers[0].Data = gemmtest.Floats(gemmtest.Dice(1, "parts"), parts*rows*cols, 4)
	cudatest.Far(t, near, make(manyRows+rows), map[string]cudatest.Place{
		"parts": {At: manyRows * cols * 4, Run: rows * cols * 4, Step: (manyRows + rows) * cols * 4},
		"y":     {At: manyRows * cols * 2},
	})
}

// TestFarParts computes the last rows of the last part of a product whose parts have more than 2^31 sums.
func TestFarParts(t *testing.T) {
	c := gemm.TilesBF16[2]
	few := gemm.W8A16{M: 2 * c.Rows(), N: c.Cols(), K: 128, Epilogue: gemm.Epilogue{Out: word.F32}}
	all := few
	all.M += manyRows
	nearPlan, farPlan := planned(t, few, "w8a16", c.Params(), 2), planned(t, all, "w8a16", c.Params(), 2)
	near := cudatest.JobOf(gemmtest.W8A16(few, nearPlan, 1, false, 1), true)
	far := cudatest.Bare(gemmtest.W8A16(all, farPlan, 1, false, 1))
	near.Launches, far.Launches = near.Launches[:1], far.Launches[:1]
	want, part := cudatest.Run(t, near), int64(few.M)*int64(few.N)*4
	far.Quick, far.First = true, int64(far.Launches[0].Grid[0])-2
	for i := range far.Buffers {
		b := &far.Buffers[i]
		switch b.Sparse = true; b.Name {
		case "x":
			b.Pieces = []cudatest.Piece{{At: manyRows * 128 * 2, Data: near.Buffers[i].Data}}
		case "workspace":
			b.Pieces = []cudatest.Piece{{At: b.Bytes - part, Bytes: part}}
		case "y":
			b.Out, b.Pieces = false, nil
		default:
			b.Pieces = []cudatest.Piece{{Data: near.Buffers[i].Data}}
		}
	}
	got := cudatest.Run(t, far)[0]
	cudatest.Equal(t, "the last part", got, want[1][part:], 4)
}
