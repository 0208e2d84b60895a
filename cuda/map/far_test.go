// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"math/rand/v2"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/ir/format"
)

// far runs the end of a problem of more than 2^31 elements: kernel and launch are those of the problem behind so many
// elements more.
func far(t *testing.T, job func(more int64) cudatest.Job, more int64, places map[string]cudatest.Place) {
	t.Helper()
	cudatest.Far(t, job(0), job(more), places)
}

// TestChainFar takes the last rows of a chain with operands of every shape.
func TestChainFar(t *testing.T) {
	const rows, cols, more = 5, 1000, 1 << 24 // rows
	sum := expr(t, "add", expr(t, "mul", pointwise.Arg(0), pointwise.Arg(1)), pointwise.Arg(2))
	data := words(num.BF16, inputs(1, rows*cols))
	column := words(num.BF16, inputs(2, 100)[50:50+rows])
	row := words(num.BF16, inputs(3, cols))
	far(t, func(more int64) cudatest.Job {
		p := pointwise.Chain{Expr: sum, N: (rows + more) * cols, Cols: cols, In: num.BF16, Out: num.FP32,
			Inputs: []pointwise.Shape{pointwise.Whole, pointwise.Column, pointwise.Row}}
		j := cudatest.Job{Quick: true, Buffers: []cudatest.Buffer{
			{Name: "x", Bytes: 2 * p.N}, {Name: "column", Bytes: 2 * (rows + more)}, {Name: "row", Bytes: 2 * cols},
			{Name: "y", Bytes: 4 * p.N, Out: true}}}
		cudatest.Add(t, &j, p,
			pointwise.ChainOperands{X: []cuda.Arg{cuda.Buffer(0), cuda.Buffer(1), cuda.Buffer(2)}, Y: cuda.Buffer(3)})
		if more == 0 {
			j.Buffers[0].Data, j.Buffers[1].Data, j.Buffers[2].Data = data, column, row
		}
		return j
	}, more, map[string]cudatest.Place{"x": {At: 2 * more * cols}, "column": {At: 2 * more}, "y": {At: 4 * more * cols}})
}

// TestBlocksFar takes the last rows of blocks along rows and across them.
func TestBlocksFar(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, inner := range []int64{1, 96} {
		const outer, length = 3, 70
		behind := 1 << 26 / inner * 8 // rows, in whole blocks of threads
		n := outer * length * inner
		data := make([]byte, 4*n)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		far(t, func(more int64) cudatest.Job {
			p := pointwise.Blocks{Outer: outer + more, Axis: pointwise.Axis{Length: length, Inner: inner}, From: side(t, "fp32"),
				To: format.NewMXInt(8, 32)}
			n := p.Outer * length * inner
			j := cudatest.Job{Quick: true, Buffers: []cudatest.Buffer{
				{Name: "x", Bytes: 4 * n}, {Name: "q", Bytes: n, Out: true},
				{Name: "X", Bytes: p.Outer * p.PerRow() * inner, Out: true}}}
			cudatest.Add(t, &j, p, pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), YScales: cuda.Buffer(2)})
			if more == 0 {
				j.Buffers[0].Data = data
			}
			return j
		}, behind, map[string]cudatest.Place{"x": {At: 4 * length * behind * inner}, "q": {At: length * behind * inner},
			"X": {At: 3 * behind * inner}})
	}
}

// TestCastFar takes the last rows of a cast from blocks, with their scales.
func TestCastFar(t *testing.T) {
	const rows, cols, more = 6, 1024, 1 << 22
	q, x := cudatest.Blocks(3, rows*cols/32, 127, 20)
	far(t, func(more int64) cudatest.Job {
		p := pointwise.Cast{N: (rows + more) * cols, From: side(t, "mxint8"), To: pointwise.Side{Codec: num.FP32},
			Axis: pointwise.Axis{Length: cols, Inner: 1}}
		j := cudatest.Job{Quick: true, Buffers: []cudatest.Buffer{
			{Name: "q", Bytes: p.N}, {Name: "X", Bytes: p.N / 32}, {Name: "y", Bytes: 4 * p.N, Out: true}}}
		cudatest.Add(t, &j, p,
			pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(2), XScales: cuda.Buffer(1), YScales: cuda.Null()})
		if more == 0 {
			j.Buffers[0].Data, j.Buffers[1].Data = q, x
		}
		return j
	}, more, map[string]cudatest.Place{"q": {At: more * cols}, "X": {At: more * cols / 32}, "y": {At: 4 * more * cols}})
}
