// SPDX-License-Identifier: Apache-2.0

// Package dense multiplies matrices of float32. Every sum runs in float64 and in one order: products of even index,
// then those of odd index, each from the first on, and the two sums (the bias with the even one) are added and rounded
// once. A product of two float32 is exact in float64, so that fused and separate steps agree, and the result is the
// same on every machine, whatever the kernel, the blocks and the number of processors.
package dense

import (
	"lathe/internal/workers"
)

// The kernels compute tiles of tileRows x tileCols sums. blockInner elements of each row stay in the cache meanwhile
// (an even number); leftElems bounds the elements of the left operand that are ready at once; grain is the least
// number of products worth a goroutine.
const (
	tileRows   = 8
	tileCols   = 16
	blockInner = 512
	leftElems  = 1 << 20
	grain      = 1 << 18
)

// Product is y[m][n] = bias[n] (or rowBias[m]) + sum over k of left[m][k]*right[n][k].
type Product struct {
	M, N, K int
	// Left writes row m of the left operand, K values. It may be called concurrently.
	Left  func(m int, row []float64)
	Right Operand
	// Bias has N values, or none; RowBias M values, or none.
	Bias, RowBias []float32
	// Out is y: element m, n stands at m*Row + n*Col. With Wide it goes there instead, and is not rounded to float32.
	Out      []float32
	Wide     []float64
	Row, Col int
}

// Run computes the product.
func (p *Product) Run() { p.run(fastest()) }

func (p *Product) run(by kernel) {
	switch {
	case p.M == 0 || p.N == 0:
		return
	case p.K == 0:
		p.empty()
		return
	case p.M < fewRows && p.Right.Pack == nil:
		p.runRows(by)
		return
	}
	rows := max(tileRows, min(leftElems/p.K, p.M)&^(tileRows-1))
	left := make([]float64, min(rows, (p.M+tileRows-1)&^(tileRows-1))*p.K)
	for from := 0; from < p.M; from += rows {
		b := &block{p: p, by: by, from: from, rows: min(rows, p.M-from), left: left}
		b.run()
	}
}

// set is element m, n of the result.
func (p *Product) set(m, n int, even, odd float64) {
	switch {
	case p.Bias != nil:
		even += float64(p.Bias[n])
	case p.RowBias != nil:
		even += float64(p.RowBias[m])
	}
	at := m*p.Row + n*p.Col
	if p.Wide != nil {
		p.Wide[at] = even + odd
	} else {
		p.Out[at] = float32(even + odd)
	}
}

// empty is the product of matrices whose rows have no elements.
func (p *Product) empty() {
	for m := range p.M {
		for n := range p.N {
			p.set(m, n, 0, 0)
		}
	}
}

// block is the rows of a product whose left operand is ready at once.
type block struct {
	p          *Product
	by         kernel
	from, rows int
	// left holds the rows, and rows of zeros up to a whole tile.
	left []float64
}

func (b *block) run() {
	p := b.p
	whole := (b.rows + tileRows - 1) &^ (tileRows - 1)
	workers.Ranges(b.rows, 1+grain/4/p.K, func(from, to int) {
		for m := from; m < to; m++ {
			p.Left(b.from+m, b.left[m*p.K:(m+1)*p.K])
		}
	})
	clear(b.left[b.rows*p.K : whole*p.K])
	// Few columns are cut along the rows, too: chunks of them, each of which packs its columns again.
	panels := (p.N + tileCols - 1) / tileCols
	chunk := max(16*tileRows, (whole/max(1, 16/panels)+tileRows-1)&^(tileRows-1))
	chunks := (whole + chunk - 1) / chunk
	workers.Ranges(panels*chunks, 1+grain/(tileCols*p.K*min(chunk, whole)), func(from, to int) {
		s := scratch{
			panel: make([]float64, tileCols*min(p.K, blockInner)),
			sums:  make([]float64, 2*tileCols*min(chunk, whole)),
		}
		for i := from; i < to; i++ {
			first := i % chunks * chunk
			b.panel(i/chunks*tileCols, first, min(first+chunk, whole), &s)
		}
	})
}

// scratch is the memory of one goroutine: the columns of a panel, inner index first, and sums of even and of odd index
// of one tile after the other.
type scratch struct{ panel, sums []float64 }

// panel computes rows from to to of the block, whole tiles, of tileCols columns.
func (b *block) panel(col, from, to int, s *scratch) {
	k := b.p.K
	sums := s.sums[:2*tileCols*(to-from)]
	clear(sums)
	for inner := 0; inner < k; inner += blockInner {
		n := min(blockInner, k-inner)
		b.p.Right.pack(b.by, s.panel, col, min(tileCols, b.p.N-col), inner, n)
		for row := from; row < to; row += tileRows {
			at := sums[2*tileCols*(row-from):]
			b.by.tile((n+1)/2, b.left[row*k+inner:], k, s.panel, at[:tileRows*tileCols])
			if n > 1 {
				b.by.tile(n/2, b.left[row*k+inner+1:], k, s.panel[tileCols:], at[tileRows*tileCols:])
			}
		}
	}
	for row := from; row < min(to, b.rows); row++ {
		r := row - from
		even := sums[2*tileCols*(r&^(tileRows-1))+r%tileRows*tileCols:]
		b.store(b.from+row, col, even[:tileCols], even[tileRows*tileCols:][:tileCols])
	}
}

// store adds the two sums of every element of a row, and the bias.
func (b *block) store(row, col int, even, odd []float64) {
	p := b.p
	n := min(tileCols, p.N-col)
	if p.Wide != nil || p.Col != 1 || p.RowBias != nil {
		for c := range n {
			p.set(row, col+c, even[c], odd[c])
		}
		return
	}
	out := p.Out[row*p.Row+col:][:n]
	if p.Bias == nil {
		for c := range out {
			out[c] = float32(even[c] + odd[c])
		}
		return
	}
	for c, v := range p.Bias[col : col+n] {
		out[c] = float32(even[c] + float64(v) + odd[c])
	}
}
