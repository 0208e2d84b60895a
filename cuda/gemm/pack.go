// SPDX-License-Identifier: Apache-2.0

package gemm

// Layout is an order of packed weights. N rows of K elements of a byte are cut into tiles of 16 rows x 32 columns,
// which follow each other along k, then along n; the last ones are filled up with zeros. A tile is 512 bytes: lane l of
// a warp holds bytes 16l to 16l+15, four words (tile of eight rows, half of the columns). A word is the four elements
// of row l/4 of its eight that the lane passes to the tensor core. The same bytes are a fragment of a right operand of
// eight columns and of a left one of sixteen rows (PTX ISA, matrix fragments for mma.m16n8k16 and mma.m16n8k32).
type Layout struct {
	// Step is the number of columns that K is padded to a multiple of: that of a k step of the kernels.
	Step int
	// columns of a half of 16 that lane quarter t holds: base*t + offset[j].
	base   int
	offset [4]int
	// pairs: scales of rows g and g+8 stand side by side.
	pairs bool
}

// The layouts: for products in bf16, of which an mma takes 16 columns, and in int8, 32.
var (
	LayoutBF16 = Layout{Step: 64, base: 2, offset: [4]int{0, 1, 8, 9}, pairs: true}
	LayoutInt8 = Layout{Step: 128, base: 4, offset: [4]int{0, 1, 2, 3}}
)

// tileBytes and tileScales are the sizes of a tile and of its scales.
const tileBytes, tileScales = 512, 16

// Blocks is the number of tiles along k.
func (l Layout) Blocks(k int) int { return ceil(k, l.Step) * l.Step / 32 }

// Bytes is the size of packed weights, ScaleBytes that of their scales.
func (l Layout) Bytes(n, k int) int64 { return int64(ceil(n, 16)) * int64(l.Blocks(k)) * tileBytes }

// ScaleBytes is the size of packed scales.
func (l Layout) ScaleBytes(n, k int) int64 {
	return int64(ceil(n, 16)) * int64(l.Blocks(k)) * tileScales
}

// Place is what byte `byte` of lane `lane` in a tile holds: row and column inside the tile.
func (l Layout) Place(lane, byte int) (row, col int) {
	word := byte / 4
	return lane/4 + word/2*8, word%2*16 + l.base*(lane%4) + l.offset[byte%4]
}

// offsets are the places of a tile by row and column.
func (l Layout) offsets() (at [16][32]int) {
	for lane := range 32 {
		for b := range 16 {
			row, col := l.Place(lane, b)
			at[row][col] = lane*16 + b
		}
	}
	return at
}

// Pack puts rows of k bytes into the order of the kernels; what is missing becomes 0.
func (l Layout) Pack(w []byte, n, k int) []byte {
	out, blocks, at := make([]byte, l.Bytes(n, k)), l.Blocks(k), l.offsets()
	for row := range n {
		from := w[row*k : (row+1)*k]
		group := out[row/16*blocks*tileBytes:]
		for col, v := range from {
			group[col/32*tileBytes+at[row%16][col%32]] = v
		}
	}
	return out
}

// scaleAt is the place of the scale of row n in the 16 of its tile.
func (l Layout) scaleAt(n int) int {
	if l.pairs {
		return n%8*2 + n%16/8
	}
	return n % 16
}

// PackScales puts rows of ceil(k/32) scale bytes into the order of the kernels: 16 a tile.
func (l Layout) PackScales(x []byte, n, k int) []byte {
	out, blocks, row := make([]byte, l.ScaleBytes(n, k)), l.Blocks(k), ceil(k, 32)
	for i, v := range x[:n*row] {
		n := i / row
		out[(n/16*blocks+i%row)*tileScales+l.scaleAt(n)] = v
	}
	return out
}
