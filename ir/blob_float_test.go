// SPDX-License-Identifier: Apache-2.0

package ir_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"lathe/ir"
)

// TestHalf reads all codes of binary16 and compares them with the formula of IEEE 754, section 3.4.
func TestHalf(t *testing.T) {
	b := &ir.Blob{DType: ir.F16, Bytes: make([]byte, 2<<16)}
	for h := range 1 << 16 {
		binary.LittleEndian.PutUint16(b.Bytes[2*h:], uint16(h))
	}
	for h, got := range b.Floats() {
		exp, want := h>>10&31, float64(h&1023)
		switch {
		case exp == 31 && want != 0:
			want = math.NaN()
		case exp == 31:
			want = math.Inf(1)
		case exp == 0:
			want = math.Ldexp(want, -24)
		default:
			want = math.Ldexp(1024+want, exp-25)
		}
		if want = math.Copysign(want, 1-float64(h>>15)*2); math.IsNaN(want) && got != got {
			continue
		}
		if math.Float32bits(got) != math.Float32bits(float32(want)) {
			t.Fatalf("%#04x is %g, not %g", h, got, want)
		}
	}
}

// TestFloatsAt reads parts of blobs of every type, which are those of the whole.
func TestFloatsAt(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF, ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32,
		ir.U64, ir.B1} {
		b := &ir.Blob{DType: d, Bytes: make([]byte, 9000*d.Size())}
		for i := range b.Bytes {
			b.Bytes[i] = byte(i * 7 % 60)
		}
		all, part := b.Floats(), make([]float32, 5000)
		if !bytes.Equal(b.FloatBytes(), ir.FloatBlob(all).Bytes) {
			t.Fatalf("%s: other bytes than values", d)
		}
		b.FloatsAt(part, 3000)
		for i, v := range part {
			if v != all[3000+i] || d == ir.U8 && v != float32(b.Bytes[3000+i]) {
				t.Fatalf("%s: element %d is %g, not %g", d, 3000+i, v, all[3000+i])
			}
		}
	}
}

// TestUniform asks for the one number of constants, in all types of storage, and of nodes that have none.
func TestUniform(t *testing.T) {
	for _, c := range []struct {
		d    ir.DType
		data []byte
		v    float64
		ok   bool
	}{
		{ir.F32, []byte{0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 1, true},
		{ir.F32, []byte{0, 0, 0x80, 0x3f, 1, 0, 0x80, 0x3f}, 0, false},
		{ir.BF, []byte{0x80, 0x3f}, 1, true},
		{ir.F64, []byte{0, 0, 0, 0, 0, 0, 4, 0xc0}, -2.5, true},
		{ir.I8, []byte{0xfd, 0xfd, 0xfd}, -3, true},
		{ir.I16, []byte{1, 0, 0, 1}, 0, false},
		{ir.I8, nil, 0, false},
	} {
		n := &ir.Node{Attrs: &ir.Const{Data: &ir.Blob{DType: c.d, Bytes: c.data}}}
		for range 2 { // found, and kept
			if v, ok := n.Uniform(); v != c.v || ok != c.ok {
				t.Errorf("%v of %v: %v, %v", c.data, c.d, v, ok)
			}
		}
	}
	if _, ok := (&ir.Node{Attrs: &ir.Input{}}).Uniform(); ok {
		t.Error("an input has one number")
	}
}
