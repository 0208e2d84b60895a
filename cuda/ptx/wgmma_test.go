// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/tensor"
)

// groupCase is d[64, n] = a * b over 128 bytes of depth, loaded as boxes and multiplied by four wgmma.
type groupCase struct {
	n                int
	types            string // f32.bf16.bf16
	swizzle          tensor.Swizzle
	acrossA, acrossB bool
	registers        bool // A is in registers
}

func (c groupCase) String() string {
	return fmt.Sprintf("n%d %s swizzle %d across %v %v registers %v", c.n, c.types, c.swizzle, c.acrossA, c.acrossB,
		c.registers)
}

func (c groupCase) size() int {
	if strings.Contains(c.types, "8") {
		return 1
	}
	return 2
}

// depth is K; width the bytes of a box along memory.
func (c groupCase) depth() int   { return 128 / c.size() }
func (c groupCase) width() int   { return max(int(c.swizzle.Bytes()), 16) }
func (c groupCase) matrix() bool { return c.size() == 2 }

// tensorMap describes a matrix of rows by depth, or depth by rows where rows lie along memory.
func (c groupCase) tensorMap(addr uint64, rows int, across bool) *tensor.Map {
	m := &tensor.Map{Type: tensor.U8, Address: addr, Swizzle: c.swizzle}
	if c.size() == 2 {
		m.Type = tensor.BF16
	}
	inner, outer := c.depth(), rows
	if across {
		inner, outer = rows, c.depth()
	}
	m.Dims = []int64{int64(inner), int64(outer)}
	m.Strides = []int64{int64(inner * c.size())}
	m.Box = []int64{int64(c.width() / c.size()), int64(outer)}
	return m
}

// load is the text that loads a matrix to the address in a register; bytes what it brings.
func (c groupCase) load(to, from string, rows int, across bool) (text string, bytes int) {
	inner, outer := c.depth(), rows
	if across {
		inner, outer = rows, c.depth()
	}
	per := c.width() / c.size()
	for j := range inner / per {
		text += fmt.Sprintf("add.u32 %%r9, %s, %d;\ncp.async.bulk.tensor.2d.shared::cluster.global"+
			".mbarrier::complete_tx::bytes [%%r9], [%s, {%d, 0}], [%%r2];\n", to, j*outer*c.width(), from, j*per)
	}
	return text, inner * outer * c.size()
}

// descriptor is that of the matrix at address 0 for step s of the depth.
func (c groupCase) descriptor(rows, s int, across bool) uint64 {
	w := c.width()
	var start, leading, stride int
	switch {
	case across && c.swizzle == tensor.None:
		start, leading, stride = s*16*w, 128, c.depth()*w
	case across:
		start, leading, stride = s*16*w, c.depth()*w, 8*w
	case c.swizzle == tensor.None:
		start, leading, stride = 2*s*rows*16, rows*16, 128
	default:
		start, leading, stride = s*32/w*rows*w+s*32%w, 16, 8*w
	}
	mode := []uint64{0, 3, 2, 1}[c.swizzle]
	return uint64(start)>>4 | uint64(leading)>>4<<16 | uint64(stride)>>4<<32 | mode<<62
}

// text is the kernel k(ta, tb, a, out).
func (c groupCase) text() string {
	loadA, bytesA := c.load("%r3", "%rd1", 64, c.acrossA)
	loadB, bytesB := c.load("%r4", "%rd2", c.n, c.acrossB)
	if c.registers {
		loadA, bytesA = "", 0
	}
	flag := map[bool]string{true: "1", false: "0"}
	var b strings.Builder
	fmt.Fprintf(&b, ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 ta[128], "+
		".param .align 64 .b8 tb[128], .param .u64 a, .param .u64 out)\n.maxntid 128\n{\n.reg .pred %%p<8>;\n"+
		".reg .b32 %%r<40>, %%d<128>;\n.reg .b64 %%rd<40>;\n.shared .align 1024 .b8 sa[8192];\n.shared .align 1024 .b8 "+
		"sb[%d];\n.shared .align 8 .b8 bar[8];\n", c.n*128)
	fmt.Fprintf(&b, "mov.b64 %%rd1, ta;\ncvta.param.u64 %%rd1, %%rd1;\nmov.b64 %%rd2, tb;\ncvta.param.u64 %%rd2, %%rd2;\n"+
		"mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, bar;\nmov.u32 %%r3, sa;\nmov.u32 %%r4, sb;\nsetp.eq.u32 %%p1, %%r1, 0;\n"+
		"@%%p1 mbarrier.init.shared::cta.b64 [%%r2], 1;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@!%%p1 bra W;\n"+
		"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%%r2], %d;\n%s%sW:\n"+
		"mbarrier.try_wait.parity.shared::cta.b64 %%p2, [%%r2], 0;\n@!%%p2 bra W;\n", bytesA+bytesB, loadA, loadB)
	// The fragment of A: row 16 * warp + lane / 4, 4 bytes of column lane % 4.
	b.WriteString("ld.param.u64 %rd3, [a];\nshr.u32 %r10, %r1, 5;\nshl.b32 %r10, %r10, 4;\nand.b32 %r11, %r1, 31;\n" +
		"shr.u32 %r12, %r11, 2;\nadd.u32 %r10, %r10, %r12;\nand.b32 %r12, %r11, 3;\nshl.b32 %r10, %r10, 7;\n" +
		"shl.b32 %r12, %r12, 2;\nadd.u32 %r10, %r10, %r12;\ncvt.u64.u32 %rd4, %r10;\nadd.u64 %rd3, %rd3, %rd4;\n")
	if c.registers {
		for s := range 4 {
			for reg := range 4 {
				fmt.Fprintf(&b, "ld.global.b32 %%r%d, [%%rd3+%d];\n", 20+4*s+reg, 32*s+reg%2*8*128+reg/2*16)
			}
		}
	}
	b.WriteString("cvt.u64.u32 %rd5, %r3;\nshr.u64 %rd5, %rd5, 4;\ncvt.u64.u32 %rd6, %r4;\nshr.u64 %rd6, %rd6, 4;\n" +
		"setp.ne.u32 %p3, %r1, %r1;\nsetp.eq.u32 %p4, %r1, %r1;\nwgmma.fence.sync.aligned;\n")
	var d []string
	for i := range c.n / 2 {
		d = append(d, fmt.Sprintf("%%d%d", i))
	}
	for s := range 4 {
		fmt.Fprintf(&b, "add.u64 %%rd7, %%rd5, %d;\nadd.u64 %%rd8, %%rd6, %d;\n", c.descriptor(64, s, c.acrossA),
			c.descriptor(c.n, s, c.acrossB))
		a, last := "%rd7", ""
		if c.registers {
			a = fmt.Sprintf("{%%r%d, %%r%d, %%r%d, %%r%d}", 20+4*s, 21+4*s, 22+4*s, 23+4*s)
		}
		if c.matrix() {
			if last = ", 1, -1"; !c.registers {
				last += ", " + flag[c.acrossA]
			}
			last += ", " + flag[c.acrossB]
		}
		fmt.Fprintf(&b, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s {%s}, %s, %%rd8, %%p%d%s;\n", c.n, 32/c.size(), c.types,
			strings.Join(d, ", "), a, 3+min(s, 1), last)
	}
	fmt.Fprintf(&b, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nld.param.u64 %%rd9, [out];\n"+
		"mad.wide.u32 %%rd9, %%r1, %d, %%rd9;\n", 2*c.n)
	for i := range d {
		fmt.Fprintf(&b, "st.global.b32 [%%rd9+%d], %s;\n", 4*i, d[i])
	}
	b.WriteString("ret;\n}\n")
	return b.String()
}

// groupInput draws a matrix of integers: its bytes, rows by depth or the other way round, and its values.
func (c groupCase) input(r *rand.Rand, rows int, kind string, across bool) (b []byte, v [][]int) {
	b, v = make([]byte, rows*128), make([][]int, rows)
	for i := range v {
		v[i] = make([]int, c.depth())
		for k := range v[i] {
			x := r.IntN(15) - 7
			at := i*c.depth() + k
			if across {
				at = k*rows + i
			}
			switch kind {
			case "bf16":
				binary.LittleEndian.PutUint16(b[2*at:], uint16(math.Float32bits(float32(x))>>16))
			case "f16":
				binary.LittleEndian.PutUint16(b[2*at:], uint16(lane.RoundHalf(float64(x))))
			default:
				x = r.IntN(256)
				b[at] = byte(x)
				if kind == "s8" {
					x = int(int8(x))
				}
			}
			v[i][k] = x
		}
	}
	return b, v
}

// run is one run of the case by a text, and the number of wrong results.
func (c groupCase) run(t testing.TB, text string, opt Options) (wrong int, err error) {
	t.Helper()
	mod, err := Parse("k.ptx", []byte(text))
	if err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(5, uint64(c.n)))
	kinds := strings.Split(c.types, ".")
	a, av := c.input(r, 64, kinds[1], c.acrossA)
	b, bv := c.input(r, c.n, kinds[2], c.acrossB)
	m := NewMachine(opt)
	pa, pb, y := put(t, m, "a", a), put(t, m, "b", b), put(t, m, "out", make([]byte, 64*c.n*4))
	var args []byte
	for _, tm := range []*tensor.Map{c.tensorMap(pa, 64, c.acrossA), c.tensorMap(pb, c.n, c.acrossB)} {
		e, err := tm.Encode()
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, e[:]...)
	}
	args = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(args, pa), y)
	if _, err := m.Launch(mod.Kernel("k"), [3]uint32{1, 1, 1}, [3]uint32{128, 1, 1}, 0, args); err != nil {
		return 0, err
	}
	got := get(t, m, y, 64*c.n*4)
	for thread := range 128 {
		for i := range c.n / 2 {
			row, col := thread/32*16+thread%32/4+i/2%2*8, i/4*8+thread%4*2+i%2
			want := 0
			for k := range av[row] {
				want += av[row][k] * bv[col][k]
			}
			word := binary.LittleEndian.Uint32(got[4*(thread*c.n/2+i):])
			if c.size() == 1 && word != uint32(want) || c.size() == 2 && math.Float32frombits(word) != float32(-want) {
				wrong++
			}
		}
	}
	return wrong, nil
}

var groupCases = []groupCase{
	{n: 8, types: "f32.bf16.bf16", swizzle: tensor.Swizzle128},
	{n: 64, types: "f32.f16.f16", swizzle: tensor.Swizzle64},
	{n: 40, types: "f32.bf16.bf16", swizzle: tensor.Swizzle32},
	{n: 24, types: "f32.bf16.bf16"},
	{n: 256, types: "f32.bf16.bf16", swizzle: tensor.Swizzle128, registers: true},
	{n: 64, types: "f32.f16.f16", swizzle: tensor.Swizzle128, acrossB: true, registers: true},
	{n: 128, types: "f32.bf16.bf16", swizzle: tensor.Swizzle128, acrossA: true, acrossB: true},
	{n: 64, types: "f32.bf16.bf16", swizzle: tensor.Swizzle64, acrossA: true, acrossB: true},
	{n: 32, types: "f32.bf16.bf16", swizzle: tensor.Swizzle32, acrossA: true, acrossB: true},
	{n: 16, types: "f32.f16.f16", acrossA: true, acrossB: true},
	{n: 16, types: "s32.s8.s8", swizzle: tensor.Swizzle128},
	{n: 64, types: "s32.u8.s8", swizzle: tensor.Swizzle64, registers: true},
	{n: 32, types: "s32.s8.u8"},
}

// TestGroupProducts multiplies matrices of all layouts and types by wgmma.
func TestGroupProducts(t *testing.T) {
	for i, c := range groupCases {
		all := []Options{{Races: true, Count: true}, {Copies: Lazy, Schedule: Reverse},
			{Copies: Anytime, Schedule: Random, Seed: uint64(i)}}
		for _, opt := range all {
			if wrong, err := c.run(t, c.text(), opt); err != nil || wrong > 0 {
				t.Errorf("%v, %+v: %d wrong, %v", c, opt, wrong, err)
			}
		}
	}
}
