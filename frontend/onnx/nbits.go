// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/sum"
)

// convertMatMulNBits is com.microsoft.MatMulNBits: y = A W^T + bias, row n of W, [N, K], from codes of 2, 4 or 8 bits,
// the first in the low bits of a byte, in blocks along K with a scale each: (code - zero)*scale. Without zero points,
// which are packed like codes, zero is half of the codes. W becomes a float constant.
func convertMatMulNBits(c *call) {
	b := &blocked{k: int(c.int("K", 0)), n: int(c.int("N", 0)), bits: int(c.int("bits", 4)),
		block: int(c.int("block_size", 0))}
	x := c.data(0)
	switch {
	case c.err != nil:
		return
	case !slices.Contains([]int{2, 4, 8}, b.bits):
		c.fail(diag.BadAttribute, "attribute bits is %d; 2, 4 and 8 are supported", b.bits)
		return
	case b.k < 1 || b.n < 1 || b.block < 8 || b.k > maxSmall || b.n > maxSmall || b.block > maxSmall:
		c.fail(diag.BadAttribute, "has K = %d, N = %d and blocks of %d", b.k, b.n, b.block)
		return
	case c.has(4):
		c.fail(diag.QuantForm, "has group indices (input 4), which are not supported").Hint =
			"export without g_idx, or give lathe the float model"
		return
	}
	w := b.weights(c)
	if c.err != nil {
		return
	}
	if s := x.Type.Shape; len(s) == 0 || s[len(s)-1] != b.k {
		c.fail(diag.OperandShapes, "multiplies %s by weights of %d columns", ir.ShapeString(s), b.k)
		return
	}
	args := []*ir.Node{x, c.stored("weights", w, b.n, b.k)}
	if c.has(5) {
		args = append(args, c.weight(5, "bias"))
	}
	c.result(c.emit("", sum.Linear, nil, args...))
}

// blocked is a matrix of n rows of k codes in blocks.
type blocked struct{ k, n, bits, block int }

// weights decodes the matrix.
func (b *blocked) weights(c *call) []float32 {
	blocks := (b.k + b.block - 1) / b.block
	codes := b.unpacked(c, 1, "weights", blocks*b.block)
	scales := c.elements(2)
	if c.err == nil && len(scales) != b.n*blocks {
		c.fail(diag.QuantForm, "has %d scales for %d rows of %d blocks", len(scales), b.n, blocks)
	}
	zeros := b.zeros(c, blocks)
	if c.err != nil {
		return nil
	}
	w := make([]float32, b.n*b.k)
	for i := range w {
		row, at := i/b.k, i%b.k
		k := row*blocks + at/b.block
		w[i] = (float32(codes[row*blocks*b.block+at]) - zeros[k]) * float32(scales[k])
	}
	return w
}

// zeros are the zero points of all blocks, as codes or as real numbers.
func (b *blocked) zeros(c *call, blocks int) []float32 {
	zeros := make([]float32, b.n*blocks)
	switch {
	case c.err != nil:
	case !c.has(3):
		for i := range zeros {
			zeros[i] = float32(int(1) << (b.bits - 1))
		}
	case isFloat(storage(c.in[3].dtype)):
		z := c.elements(3)
		if c.err == nil && len(z) != len(zeros) {
			c.fail(diag.QuantForm, "has %d zero points for %d rows of %d blocks", len(z), b.n, blocks)
			return nil
		}
		for i, v := range z {
			zeros[i] = float32(v)
		}
	default:
		per := (blocks*b.bits + 7) / 8 * 8 / b.bits // codes of the bytes of a row
		for i, v := range b.unpacked(c, 3, "zero points", per) {
			if at := i % per; at < blocks {
				zeros[i/per*blocks+at] = float32(v)
			}
		}
	}
	return zeros
}

// unpacked is input i, bytes that hold so many codes a row.
func (b *blocked) unpacked(c *call, i int, what string, perRow int) []uint8 {
	c.needsConstant(i, what)
	n := c.arg(i)
	if c.err != nil {
		return nil
	}
	bytes, ok := build.Ints(n)
	if each := 8 / b.bits; !ok || len(bytes)*each != b.n*perRow {
		c.fail(diag.QuantForm, "input %d (%s) has shape %s; %d rows of %d codes of %d bits take %d bytes", i, what,
			ir.ShapeString(c.shape(i)), b.n, perRow, b.bits, b.n*perRow*b.bits/8)
		return nil
	}
	codes := make([]uint8, 0, b.n*perRow)
	for _, v := range bytes {
		for at := 0; at < 8; at += b.bits {
			codes = append(codes, uint8(v)>>at&(1<<b.bits-1))
		}
	}
	return codes
}
