// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/cuda/ptx/tensor"
)

// boxText is the kernel k(from, to, out): the box of `from` at the coordinates goes to shared memory, from there as it
// lies to out, and as a box of `to` at the same coordinates.
func boxText(at []int64, bytes int64) string {
	var x []string
	for _, v := range at {
		x = append(x, fmt.Sprint(v))
	}
	where := fmt.Sprintf("%dd", len(at))
	return fmt.Sprintf(`.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 out)
{
.reg .pred %%p<4>;
.reg .b32 %%r<8>;
.reg .b64 %%rd<8>;
.shared .align 1024 .b8 box[%d];
.shared .align 8 .b8 bar[8];
mov.b64 %%rd1, from; cvta.param.u64 %%rd1, %%rd1;
mov.b64 %%rd2, to; cvta.param.u64 %%rd2, %%rd2;
mov.u32 %%r1, box; mov.u32 %%r2, bar; mov.u32 %%r3, %%tid.x;
setp.eq.u32 %%p1, %%r3, 0;
@%%p1 mbarrier.init.shared.b64 [%%r2], 1;
bar.sync 0;
@%%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%%r2], %d;
@%%p1 cp.async.bulk.tensor.%s.shared::cta.global.tile.mbarrier::complete_tx::bytes [%%r1], [%%rd1, {%s}], [%%r2];
W: mbarrier.try_wait.parity.shared.b64 %%p2, [%%r2], 0;
@!%%p2 bra W;
@%%p1 cp.async.bulk.tensor.%s.global.shared::cta.bulk_group [%%rd2, {%s}], [%%r1];
@%%p1 cp.async.bulk.commit_group;
@%%p1 cp.async.bulk.wait_group 0;
ld.param.u64 %%rd3, [out];
mad.wide.u32 %%rd3, %%r3, 16, %%rd3;
mad.lo.u32 %%r4, %%r3, 16, %%r1;
L: setp.ge.u32 %%p3, %%r3, %d;
@%%p3 bra D;
ld.shared.v2.b64 {%%rd4, %%rd5}, [%%r4];
st.global.v2.b64 [%%rd3], {%%rd4, %%rd5};
add.u64 %%rd3, %%rd3, 512; add.u32 %%r4, %%r4, 512; add.u32 %%r3, %%r3, 32;
bra L;
D: ret;
}
`, bytes, bytes, where, strings.Join(x, ", "), where, strings.Join(x, ", "), bytes/16)
}

// boxCase is a random tensor of rank n with a box and its place, which may lie across any border.
func boxCase(r *rand.Rand, n int) (m *tensor.Map, at []int64, size int) {
	for {
		m = &tensor.Map{Type: tensor.BF16, Swizzle: tensor.Swizzle(r.IntN(4)), NaN: r.IntN(2) == 0}
		stride := int64(16 * (1 + r.IntN(8)))
		at = nil
		for i := range n {
			m.Dims, m.Box = append(m.Dims, int64(1+r.IntN(7))), append(m.Box, int64(1+r.IntN(4)))
			if i == 0 {
				m.Dims[0] = 1 + r.Int64N(stride/2)
				m.Box[0] = 8 << r.IntN(4)
			} else {
				m.Strides = append(m.Strides, stride)
				stride *= m.Dims[i]
			}
			at = append(at, int64(r.IntN(int(m.Dims[i]+m.Box[i])))-m.Box[i]+1)
		}
		if m.Check() == nil && m.Bytes() <= 1<<14 {
			return m, at, int(stride)
		}
	}
}

// TestBoxes copies boxes of tensors of all ranks to shared memory and back, and compares each element.
func TestBoxes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for i := range 40 {
		m, at, size := boxCase(r, 1+i%tensor.MaxRank)
		x := make([]byte, size)
		for i := range x {
			x[i] = byte(r.Uint32() & 0x3F)
		}
		opt := Options{Races: true, Copies: Copies(i / 5 % 3), Seed: uint64(i)}
		mach := NewMachine(opt)
		from, to := put(t, mach, "from", x), put(t, mach, "to", bytes.Repeat([]byte{0xEE}, size))
		out := put(t, mach, "out", make([]byte, m.Bytes()))
		var args []byte
		for _, address := range []uint64{from, to} {
			m.Address = address
			e, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, e[:]...)
		}
		args = binary.LittleEndian.AppendUint64(args, out)
		mod, err := Parse("k.ptx", []byte(boxText(at, m.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mach.Launch(mod.Kernel("k"), [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, args); err != nil {
			t.Fatalf("%+v at %v: %v", m, at, err)
		}
		near, far := boxWanted(m, at, x)
		if got := get(t, mach, out, len(near)); !bytes.Equal(got, near) {
			t.Errorf("%+v at %v, %+v: shared memory is wrong", m, at, opt)
		}
		if got := get(t, mach, to, size); !bytes.Equal(got, far) {
			t.Errorf("%+v at %v, %+v: the tensor is wrong", m, at, opt)
		}
	}
}

// boxWanted is the box as it lies in shared memory, and the tensor that gets it.
func boxWanted(m *tensor.Map, at []int64, x []byte) (near, far []byte) {
	near, far = make([]byte, m.Bytes()), bytes.Repeat([]byte{0xEE}, len(x))
	for e := range m.Bytes() / 2 {
		left, address, inside := e, int64(0), true
		for i := range m.Dims {
			c := at[i] + left%m.Box[i]
			left /= m.Box[i]
			inside = inside && c >= 0 && c < m.Dims[i]
			address += c * slices.Concat([]int64{2}, m.Strides)[i]
		}
		chunk := 2 * e / 16
		chunk ^= chunk / 8 % int64(math.Exp2(float64(m.Swizzle))) // of 128 bytes, by the number of these
		to := near[16*chunk+2*e%16:]
		switch {
		case inside:
			copy(to[:2], x[address:])
			copy(far[address:], x[address:address+2])
		case m.NaN:
			binary.LittleEndian.PutUint16(to, 0x7FFF)
		}
	}
	return near, far
}
