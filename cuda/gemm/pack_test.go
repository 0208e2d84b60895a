// SPDX-License-Identifier: Apache-2.0

package gemm

import "testing"

// rightFragment is the column and the k of element `byte` of register reg of lane in the right operand of an mma, as
// the PTX ISA has it: m16n8k16 of bf16, where a register holds two elements, and m16n8k32 of s8, where it holds four.
func rightBF16(lane, reg, half int) (n, k int) { return lane / 4, lane%4*2 + half + 8*reg }
func rightInt8(lane, reg, byte int) (n, k int) { return lane / 4, lane%4*4 + byte + 16*reg }

// leftBF16 is the row and the k of the left operand of m16n8k16.
func leftBF16(lane, reg, half int) (m, k int) { return lane/4 + reg%2*8, lane%4*2 + half + reg/2*8 }

// TestPlace compares tiles with the fragments that the kernels take out of them.
func TestPlace(t *testing.T) {
	for lane := range 32 {
		for b := range 16 {
			// w8a16: word (tile, h) is registers 0 and 1 of the right operand of columns 8*tile.., k 16*h..
			row, col := LayoutBF16.Place(lane, b)
			n, k := rightBF16(lane, b%4/2, b%2)
			if tile, h := b/8, b/4%2; row != n+8*tile || col != k+16*h {
				t.Errorf("bf16: lane %d byte %d is (%d, %d), the mma wants (%d, %d)", lane, b, row, col, n+8*tile, k+16*h)
			}
			// w8a16_thin: the same words as registers tile and tile+2 of the left operand of 16 rows
			if m, k := leftBF16(lane, b/8+b%4/2*2, b%2); row != m || col != k+b/4%2*16 {
				t.Errorf("bf16, left: lane %d byte %d is (%d, %d), the mma wants (%d, %d)", lane, b, row, col, m, k)
			}
			row, col = LayoutInt8.Place(lane, b)
			// w16a16: words of 16 bits, of which two lie in each word of four bytes
			if n, k := rightBF16(lane, b/4%2, b/2%2); row != n+b/8*8 || col != 2*k+b%2 {
				t.Errorf("16 bits: lane %d byte %d is (%d, %d), the mma wants (%d, %d)", lane, b, row, col, n+b/8*8, 2*k+b%2)
			}
			if n, k = rightInt8(lane, b/4%2, b%4); row != n+b/8*8 || col != k {
				t.Errorf("int8: lane %d byte %d is (%d, %d), the mma wants (%d, %d)", lane, b, row, col, n+b/8*8, k)
			}
		}
	}
}

// TestPack demands that packing moves every byte to a place of its own and fills up with zeros.
func TestPack(t *testing.T) {
	for _, l := range []Layout{LayoutBF16, LayoutInt8} {
		for _, shape := range [][2]int{{0, 0}, {1, 1}, {16, 64}, {17, 65}, {31, 33}, {48, 256}} {
			n, k := shape[0], shape[1]
			w, x := make([]byte, n*k), make([]byte, n*ceil(k, 32))
			for _, one := range []struct {
				bytes  []byte
				packed func() []byte
				size   int64
			}{
				{w, func() []byte { return l.Pack(w, n, k) }, l.Bytes(n, k)},
				{x, func() []byte { return l.PackScales(x, n, k) }, l.ScaleBytes(n, k)},
			} {
				if got := int64(len(one.packed())); got != one.size {
					t.Fatalf("%dx%d: %d bytes, want %d", n, k, got, one.size)
				}
				seen := map[int]bool{}
				for i := range one.bytes {
					one.bytes[i] = 1
					at := -1
					for j, v := range one.packed() {
						if v != 0 && at >= 0 {
							t.Fatalf("%dx%d: byte %d stands twice", n, k, i)
						} else if v != 0 {
							at = j
						}
					}
					one.bytes[i] = 0
					if at < 0 || seen[at] {
						t.Fatalf("%dx%d: byte %d has no place of its own (%d)", n, k, i, at)
					}
					seen[at] = true
					if len(seen) > 300 {
						break // enough of a large one
					}
				}
			}
		}
	}
	// Padding along k belongs to blocks that follow, so the tiles of a row keep their order.
	w := make([]byte, 32*128)
	for i := range w {
		w[i] = byte(i/128/16*4 + i%128/32 + 1)
	}
	for i, v := range LayoutBF16.Pack(w, 32, 128) {
		if want := byte(i/tileBytes + 1); v != want {
			t.Fatalf("byte %d is of tile %d, want %d", i, v, want)
		}
	}
}
