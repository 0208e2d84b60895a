// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"bytes"
	words "encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/rtl"
)

// manyNode is a linear node of 512 x 516 random codes, with one scale or with one a channel.
func manyNode(r *rand.Rand, width int, perChannel bool) *ir.Node {
	const out, in = 512, 516
	konst := func(name string, typ ir.Type, count int, limit int64) *ir.Node {
		codes := make([]int64, count)
		for i := range codes {
			codes[i] = r.Int64N(2*limit) - limit
		}
		return &ir.Node{Name: name, Op: leaf.Const, Type: typ, Attrs: &ir.Const{Data: ir.CodeBlob(codes)}}
	}
	w := ir.Type{Shape: []int{out, in}, Format: format.Fixed{W: width, F: 5, Signed: true}}
	if perChannel {
		w.Format = format.Affine{W: width, Signed: true, Axis: 0}
		for range out {
			w.Scales = append(w.Scales, 1/float32(int(1)<<r.IntN(6)))
		}
	}
	x := ir.Type{Shape: []int{1, in}, Format: format.Fixed{W: 8, F: 4, Signed: true}}
	b := ir.Type{Shape: []int{out}, Format: format.Fixed{W: 16, F: 7, Signed: true}}
	return &ir.Node{Name: "y",
		Op:   &ir.Op{Name: "linear", Traits: ir.Traits{Weighted: true, Blocks: column.SumsInBlocks}},
		HW:   ir.HW{Widths: ir.Widths{InLanes: 12, OutLanes: 8}},
		Type: ir.Type{Shape: []int{1, out}, Format: format.Fixed{W: 8, F: 1, Signed: true}},
		Args: []*ir.Node{{Name: "x", Op: leaf.Input, Type: x}, konst("w", w, out*in, 1<<(width-1)), konst("b", b, out, 1000)}}
}

// TestRowsAgree compares plans that read rows of weights with those that hold all weights: widths, images, results.
func TestRowsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, width := range []int{3, 8, 12} {
		for _, perChannel := range []bool{false, true} {
			n := manyNode(r, width, perChannel)
			rows, err := planExact(n)
			if err != nil {
				t.Fatal(err)
			}
			wide := *n.Args[1] // the same codes in words of 64 bits, which are always read
			codes := make([]int64, wide.Type.Elems())
			n.Args[1].Attrs.(*ir.Const).Data.IntsAt(codes, 0)
			long := &ir.Blob{DType: ir.I64, Bytes: make([]byte, 8*len(codes))}
			for i, q := range codes {
				words.LittleEndian.PutUint64(long.Bytes[8*i:], uint64(q))
			}
			wide.Attrs = &ir.Const{Data: long}
			copied := *n
			copied.Args = []*ir.Node{n.Args[0], &wide, n.Args[2]}
			all, err := planExact(&copied)
			if err != nil {
				t.Fatal(err)
			}
			if rows.codesAt == nil || rows.weights != nil || !slices.Equal(rows.held().weights, all.weights) {
				t.Fatalf("%d bits: the weights differ, or are held", width)
			}
			if rows.dotBits != all.dotBits || rows.tBits != all.tBits || rows.lowBits != all.lowBits || rows.exp != all.exp {
				t.Errorf("%d bits: widths %d %d %d, want %d %d %d", width, rows.dotBits, rows.tBits, rows.lowBits, all.dotBits,
					all.tBits, all.lowBits)
			}
			if w := rows.widths(); w.weight != width || w.konst() != all.widths().konst() {
				t.Errorf("%d bits: constants of %d bits, weights of %d", width, w.konst(), w.weight)
			}
			w := widths{weight: width}
			made, held := rtl.Image{Packed: rows.packed(12, 8, w)}, rtl.Image{Packed: all.packed(12, 8, w)}
			if made.Sum() != held.Sum() || !bytes.Equal(made.File("u").Bytes(), held.File("u").Data) {
				t.Errorf("%d bits: another image", width)
			}
			x, got, want := make([]int64, rows.in), make([]int64, rows.out), make([]int64, rows.out)
			for i := range x {
				x[i] = r.Int64N(256) - 128
			}
			rows.Kernel()(Input{Ints: x}, got)
			all.bigKernel()(Input{Ints: x}, want)
			if !slices.Equal(got, want) {
				t.Errorf("%d bits: other results", width)
			}
		}
	}
}
