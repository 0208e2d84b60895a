// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"strings"
	"testing"

	"lathe/frontend/build"
	"lathe/frontend/source"
)

// TestMatMulNBits states by hand which bits of which byte a weight comes from: rows of 20 columns in blocks of 16, so
// that the last block of a row is not full, and an odd number of zero points in the bytes of a row.
func TestMatMulNBits(t *testing.T) {
	const n, k, block, blocks = 2, 20, 16, 2
	for _, bits := range []int{2, 4, 8} {
		each := 8 / bits
		rowBytes, rowZeros := blocks*block/each, (blocks+each-1)/each
		bytes, zeros := make([]byte, n*rowBytes), make([]byte, n*rowZeros)
		for i := range bytes {
			bytes[i] = byte(37*i + 11)
		}
		for i := range zeros {
			zeros[i] = byte(91*i + 0xc6)
		}
		scales := []float32{0.5, 0.25, 2, 1}
		for _, packed := range []bool{false, true} {
			ins := "x b s"
			inits := []pb{u8("b", d(n, blocks, int64(rowBytes/blocks)), bytes...), ft("s", d(n, blocks), scales...)}
			if packed {
				ins += " z"
				inits = append(inits, u8("z", d(n, int64(rowZeros)), zeros...))
			}
			m := single(21, vi("x", 1, k), nd("MatMulNBits", ins, "y", aInt("K", k), aInt("N", n), aInt("bits", int64(bits)),
				aInt("block_size", block)).str(7, "com.microsoft"), inits...)
			g, err := Parse("m.onnx", m.bytes(), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w, ok := build.Floats(g.Out[0].Node.Args[1])
			if !ok || len(w) != n*k {
				t.Fatalf("%d weights", len(w))
			}
			for row := range n {
				for col := range k {
					code := int(bytes[row*rowBytes+col/each]) >> (col % each * bits) & (1<<bits - 1)
					zero := 1 << bits / 2
					if at := col / block; packed {
						zero = int(zeros[row*rowZeros+at/each]) >> (at % each * bits) & (1<<bits - 1)
					}
					if want := float64(code-zero) * float64(scales[row*blocks+col/block]); w[row*k+col] != want {
						t.Fatalf("%d bits, packed %t, row %d, column %d: %g, want %g", bits, packed, row, col, w[row*k+col], want)
					}
				}
			}
		}
	}
}

// TestMatMulNBitsRefused names what does not fit.
func TestMatMulNBitsRefused(t *testing.T) {
	for _, c := range []struct {
		attrs []pb
		want  string
	}{
		{[]pb{aInt("K", 16), aInt("N", 2), aInt("block_size", 16), aInt("bits", 3)}, "bits is 3"},
		{[]pb{aInt("K", 17), aInt("N", 2), aInt("block_size", 16)}, "2 rows of 32 codes of 4 bits take 32 bytes"},
		{[]pb{aInt("K", 16), aInt("N", 3), aInt("block_size", 16)}, "3 rows of 16 codes of 4 bits take 24 bytes"},
		{[]pb{aInt("N", 2), aInt("block_size", 16)}, "K = 0"},
	} {
		m := single(21, vi("x", 1, 16), nd("MatMulNBits", "x b s", "y", c.attrs...).str(7, "com.microsoft"),
			u8("b", d(2, 1, 8), make([]byte, 16)...), ft("s", d(2, 1), 1, 1))
		if _, err := Parse("m.onnx", m.bytes(), source.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}
