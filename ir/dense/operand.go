// SPDX-License-Identifier: Apache-2.0

package dense

import (
	"encoding/binary"
	"math"
)

// Operand is a matrix of float32 where it lies: element n, k stands at n*Row + k*Step of Floats, or, where that is
// nil, of Bytes, little-endian.
type Operand struct {
	Floats    []float32
	Bytes     []byte
	Row, Step int
	// Read, where it is not nil, reads elements instead, whose Step is 1: as many as out holds, from number from on. It
	// may be called concurrently.
	Read func(out []float32, from int)
	// Pack, where it is not nil, makes the matrix instead: it writes elements inner to inner+n of rows first to
	// first+rows, at most PanelRows of them, as panel[k][row], PanelRows apart. It may be called concurrently.
	Pack func(panel []float64, first, rows, inner, n int)
}

// PanelRows is the number of rows in a panel of an operand.
const PanelRows = tileCols

// Rows is a matrix in row-major order with rows of k elements.
func Rows(data []float32, k int) Operand { return Operand{Floats: data, Row: k, Step: 1} }

// ByteRows is Rows of float32 in little-endian bytes.
func ByteRows(data []byte, k int) Operand { return Operand{Bytes: data, Row: k, Step: 1} }

// Columns is the transpose of a matrix in row-major order with rows of n elements.
func Columns(data []float32, n int) Operand { return Operand{Floats: data, Row: 1, Step: n} }

// ByteColumns is Columns of float32 in little-endian bytes.
func ByteColumns(data []byte, n int) Operand { return Operand{Bytes: data, Row: 1, Step: n} }

// From is the operand without its first n rows.
func (o Operand) From(n int) Operand {
	switch read := o.Read; {
	case read != nil:
		first := n * o.Row
		o.Read = func(out []float32, from int) { read(out, first+from) }
	case o.Floats != nil:
		o.Floats = o.Floats[n*o.Row:]
	default:
		o.Bytes = o.Bytes[4*n*o.Row:]
	}
	return o
}

// Left is the operand, whose rows of k elements lie together, as a left one.
func (o Operand) Left(k int) func(m int, row []float64) {
	switch {
	case o.Read != nil:
		return func(m int, row []float64) {
			values := make([]float32, k)
			o.Read(values, m*o.Row)
			Left(values, k)(0, row)
		}
	case o.Floats != nil:
		return Left(o.Floats, k)
	}
	return func(m int, row []float64) {
		from := o.Bytes[4*m*o.Row:][:4*k]
		for i := range row {
			row[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(from[4*i:])))
		}
	}
}

// Left is the left operand of a matrix in row-major order with rows of k elements.
func Left(data []float32, k int) func(m int, row []float64) {
	return func(m int, row []float64) {
		for i, v := range data[m*k : (m+1)*k] {
			row[i] = float64(v)
		}
	}
}

// pack writes elements inner to inner+n of rows first to first+rows as panel[k][row]; the other rows are zero.
func (o *Operand) pack(by kernel, panel []float64, first, rows, inner, n int) {
	panel = panel[:n*tileCols]
	if rows < tileCols {
		clear(panel)
	}
	if o.Pack != nil {
		o.Pack(panel, first, rows, inner, n)
		return
	}
	if o.Read != nil {
		part := o.held(first, rows, inner, n)
		part.pack(by, panel, 0, rows, 0, n)
		return
	}
	if o.Row == 1 {
		for k := 0; o.Floats == nil && k < n; k++ {
			for r := range rows {
				panel[k*tileCols+r] = o.at(first+r, inner+k)
			}
		}
		for k := 0; o.Floats != nil && k < n; k++ {
			at := first + (inner+k)*o.Step
			to := panel[k*tileCols:][:rows]
			for r, v := range o.Floats[at : at+rows] {
				to[r] = float64(v)
			}
		}
		return
	}
	r := 0
	for ; o.Step == 1 && r+4 <= rows; r += 4 {
		at := (first+r)*o.Row + inner
		if o.Floats != nil {
			by.floats(n&^3, o.Floats[at:], o.Row, panel[r:])
		} else {
			by.bytes(n&^3, o.Bytes[4*at:], o.Row, panel[r:])
		}
		for k := n &^ 3; k < n; k++ {
			for i := range 4 {
				panel[k*tileCols+r+i] = o.at(first+r+i, inner+k)
			}
		}
	}
	for ; r < rows; r++ {
		for k := range n {
			panel[k*tileCols+r] = o.at(first+r, inner+k)
		}
	}
}

// held reads elements inner to inner+n of rows first to first+rows.
func (o *Operand) held(first, rows, inner, n int) *Operand {
	values := make([]float32, rows*n)
	for r := range rows {
		o.Read(values[r*n:(r+1)*n], (first+r)*o.Row+inner)
	}
	held := Rows(values, n)
	return &held
}

// at is element n, k.
func (o *Operand) at(n, k int) float64 {
	at := n*o.Row + k*o.Step
	if o.Floats != nil {
		return float64(o.Floats[at])
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(o.Bytes[4*at:])))
}

// dots adds to sums[2*r] and sums[2*r+1] the products of x, of even and of odd index, and row first+r, r < rows <= 4,
// whose elements lie together.
func (o *Operand) dots(by kernel, first, rows int, x, sums []float64) {
	if o.Read != nil {
		o.held(first, rows, 0, len(x)).dots(by, 0, rows, x, sums)
		return
	}
	whole := 0
	if rows == 4 {
		whole = len(x) &^ 1
		if at := first * o.Row; o.Floats != nil {
			by.dotFloats(whole, o.Floats[at:], o.Row, x, sums)
		} else {
			by.dotBytes(whole, o.Bytes[4*at:], o.Row, x, sums)
		}
	}
	for r := range rows {
		for k := whole; k < len(x); k++ {
			sums[2*r+k&1] += o.at(first+r, k) * x[k]
		}
	}
}
