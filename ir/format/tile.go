// SPDX-License-Identifier: Apache-2.0

package format

import (
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Tiling is how an array, row-major, is cut into the blocks of a format: tiles of rows by columns of its last two axes,
// row-major too, those at the edges smaller. Blocks along the last axis are tiles of one row.
type Tiling struct {
	lead, rows, cols     int // matrices; rows and columns of each
	tileRows, tileCols   int
	blockRows, blockCols int // tiles of a matrix
}

// NewTiling is that of arrays of a shape in format b.
func NewTiling(b Block, shape []int) Tiling {
	t := Tiling{lead: 1, rows: 1, cols: 1, tileRows: b.BlockRows(), tileCols: b.BlockSize()}
	for i, d := range shape {
		switch len(shape) - i {
		case 1:
			t.cols = d
		case 2:
			t.rows = d
		default:
			t.lead *= d
		}
	}
	t.blockRows, t.blockCols = (t.rows+t.tileRows-1)/t.tileRows, (t.cols+t.tileCols-1)/t.tileCols
	return t
}

// Count is the number of blocks.
func (t Tiling) Count() int { return t.lead * t.blockRows * t.blockCols }

// Grid is blocks down and across a matrix.
func (t Tiling) Grid() (rows, cols int) { return t.blockRows, t.blockCols }

// Of is the block of element i.
func (t Tiling) Of(i int) int {
	row := i / t.cols
	return (row/t.rows*t.blockRows+row%t.rows/t.tileRows)*t.blockCols + i%t.cols/t.tileCols
}

// Pieces calls f for the elements from..to-1 of each row of a block.
func (t Tiling) Pieces(block int, f func(from, to int)) {
	at, col := block/t.blockCols, block%t.blockCols*t.tileCols
	first := at % t.blockRows * t.tileRows
	base := at / t.blockRows * t.rows
	for row := first; row < min(first+t.tileRows, t.rows); row++ {
		from := (base+row)*t.cols + col
		f(from, from+min(t.tileCols, t.cols-col))
	}
}

// EncodeFloats encodes x into codes and returns the scale field of a block: see EncodeFloatBlock.
func (t Tiling) EncodeFloats(b Block, block int, x []float64, codes []int64) (scale int64) {
	if t.tileRows == 1 {
		t.Pieces(block, func(from, to int) { scale = EncodeFloatBlock(b, x[from:to], codes[from:to]) })
		return scale
	}
	var values []float64
	t.Pieces(block, func(from, to int) { values = append(values, x[from:to]...) })
	all := make([]int64, len(values))
	scale = EncodeFloatBlock(b, values, all)
	t.Pieces(block, func(from, to int) { all = all[copy(codes[from:to], all):] })
	return scale
}

// tileRows takes the rows of a tile RxC off argument i, of which C remains; 1 where there are none. Tiles lie in the
// last two axes.
func (c *call) tileRows(i int) (int, error) {
	if i >= len(c.args) {
		return 1, nil
	}
	rows, cols, tile := strings.Cut(c.args[i].val, "x")
	if !tile {
		return 1, nil
	}
	if c.option("axis") != "" {
		return 0, c.fail(diag.FormatOption, c.args[i].col, "a tile lies in the last two axes: it has no option axis")
	}
	c.args[i].val = cols
	return c.integer(rows, c.args[i].col, intRange{"R", 1, maxBlock})
}

// AsTiles is the format of the same blocks where b cuts the axis before the last of a value: tiles of one column.
func AsTiles(b Block) (tiles Block, ok bool) {
	switch f := b.(type) {
	case MXInt:
		f.Rows, f.K, f.Along = f.K, 1, 0
		return f, true
	case MASEInt:
		f.sharedBlock = f.upright()
		return f, true
	case MXFP:
		f.sharedBlock = f.upright()
		return f, true
	case BFP:
		f.sharedBlock = f.upright()
		return f, true
	case BMinifloat:
		f.sharedBlock = f.upright()
		return f, true
	case BLog:
		f.sharedBlock = f.upright()
		return f, true
	}
	return b, false
}

// upright is f with blocks along the axis before the last.
func (f sharedBlock) upright() sharedBlock {
	f.rows, f.k, f.along = f.k-1, 1, 0
	return f
}

// blockText prints k or RxC.
func blockText(rows, cols int) string {
	if rows > 1 {
		return strconv.Itoa(rows) + "x" + strconv.Itoa(cols)
	}
	return strconv.Itoa(cols)
}
