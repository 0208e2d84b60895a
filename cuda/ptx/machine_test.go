// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// snippet is a module with a kernel k(in, out): %t is the thread, %v its word of in, and the words %o0 to %o3 are
// stored as its four words of out.
func snippet(body string) []byte {
	return []byte(`.version 8.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<8>;
.reg .b16 %h<8>;
.reg .b32 %r<40>, %o<4>, %t, %v, %lane;
.reg .b64 %rd<8>, %in, %out;
.shared .align 16 .b8 part[2048];
ld.param.u64 %in, [in];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mov.u32 %lane, %laneid;
mad.wide.u32 %in, %t, 4, %in;
mad.wide.u32 %out, %t, 16, %out;
ld.global.b32 %v, [%in];
mov.b32 %o0, 0; mov.b32 %o1, 0; mov.b32 %o2, 0; mov.b32 %o3, 0;
` + body + `
st.global.v4.b32 [%out], {%o0, %o1, %o2, %o3};
ret;
}
`)
}

// words runs a snippet with a block of threads; in gives each thread its word.
func words(t *testing.T, body string, threads int, in func(i int) uint32, opt Options) ([][4]uint32, error) {
	t.Helper()
	mod, err := Parse("k.ptx", snippet(body))
	if err != nil {
		return nil, err
	}
	m := NewMachine(opt)
	x := make([]byte, 4*threads)
	for i := range threads {
		binary.LittleEndian.PutUint32(x[4*i:], in(i))
	}
	a, y := put(t, m, "in", x), put(t, m, "out", make([]byte, 16*threads))
	k := mod.Kernel("k")
	block := [3]uint32{uint32(threads), 1, 1}
	if _, err := m.Launch(k, [3]uint32{1, 1, 1}, block, 1024, params(k, a, y)); err != nil {
		return nil, err
	}
	got := get(t, m, y, 16*threads)
	out := make([][4]uint32, threads)
	for i := range out {
		for f := range 4 {
			out[i][f] = binary.LittleEndian.Uint32(got[16*i+4*f:])
		}
	}
	return out, nil
}

func hash(i int) uint32 { return uint32(i)*2654435761 ^ uint32(i)<<7 }

// input is the word of each thread.
var input = func() (s []uint32) {
	for i := range 64 {
		s = append(s, hash(i))
	}
	return s
}()

// warpOf are the words of the warp of thread i.
func warpOf(i int) []uint32 { return input[i&^31 : i&^31+32] }

// snippets are pieces of PTX with plain definitions of what they do.
var snippets = []struct {
	name, body string
	want       func(i int) [4]uint32
}{
	{"predicates", "and.b32 %r1, %v, 7; setp.lt.and.u32 %p1|%p2, %r1, 3, %p0; setp.gt.u32 %p0, %r1, 1;" +
		"setp.lt.or.u32 %p1|%p2, %r1, 3, !%p0; selp.b32 %o0, 10, 20, %p1; selp.b32 %o1, 1, 2, !%p2;" +
		"xor.pred %p3, %p1, %p2; not.pred %p4, %p3; @%p4 add.s32 %o2, %o2, 9; set.lt.u32.u32 %o3, %r1, 4;",
		func(i int) [4]uint32 {
			r := input[i] & 7
			p0 := r > 1
			p1, p2 := r < 3 || !p0, r >= 3 || !p0
			w := [4]uint32{20, 2, 0, 0}
			if p1 {
				w[0] = 10
			}
			if !p2 {
				w[1] = 1
			}
			if p1 == p2 {
				w[2] = 9
			}
			if r < 4 {
				w[3] = 0xFFFFFFFF
			}
			return w
		}},
	{"packing", "mov.b32 {%h1, %h2}, %v; mov.b32 %o0, {%h2, %h1}; mov.b64 %rd1, {%v, %t}; shr.u64 %rd2, %rd1, 16;" +
		"mov.b64 {%o1, _}, %rd2; mov.b64 {%h3, %h4, %h5, %h6}, %rd1; cvt.u32.u16 %o2, %h5; cvt.s32.s16 %o3, %h2;",
		func(i int) [4]uint32 {
			return [4]uint32{bits.RotateLeft32(input[i], 16), input[i]>>16 | uint32(i)<<16, uint32(i),
				uint32(int32(input[i]) >> 16)}
		}},
	{"carries", "mul.lo.u32 %r1, %v, 77; add.cc.u32 %o0, %v, %r1; addc.cc.u32 %o1, %v, %v; addc.u32 %o2, 0, 0;" +
		"sub.cc.u32 %r2, %t, %v; subc.u32 %o3, %t, 0;",
		func(i int) [4]uint32 {
			s, c := bits.Add32(input[i], input[i]*77, 0)
			u, c2 := bits.Add32(input[i], input[i], c)
			_, b := bits.Sub32(uint32(i), input[i], 0)
			d, _ := bits.Sub32(uint32(i), 0, b)
			return [4]uint32{s, u, c2, d}
		}},
	{"wide multiply by parts", "mad.lo.cc.u32 %o0, %v, %v, %t; madc.hi.u32 %o1, %v, %v, 5; mul.wide.u32 %rd1, %v, %v;" +
		"cvt.u64.u32 %rd2, %t; add.u64 %rd1, %rd1, %rd2; mov.b64 {%o2, %o3}, %rd1; sub.u32 %o1, %o1, 5;",
		func(i int) [4]uint32 {
			p := uint64(input[i])*uint64(input[i]) + uint64(i)
			return [4]uint32{uint32(p), uint32(p >> 32), uint32(p), uint32(p >> 32)}
		}},
	{"shuffles", "shfl.sync.bfly.b32 %o0, %v, 5, 31, 0xffffffff; shfl.sync.up.b32 %o1|%p1, %v, 3, 0, 0xffffffff;" +
		"@!%p1 add.u32 %o1, %o1, 1; shfl.sync.down.b32 %o2, %v, 1, 0x1c1f, 0xffffffff;" +
		"shfl.sync.idx.b32 %o3, %v, %t, 0x181f, 0xffffffff;",
		func(i int) [4]uint32 {
			w, l := warpOf(i), i&31
			up, down := w[l]+1, w[l]
			if l >= 3 {
				up = w[l-3]
			}
			if l&3 != 3 {
				down = w[l+1]
			}
			return [4]uint32{w[l^5], up, down, w[l&^7|i&7]}
		}},
	{"votes", "and.b32 %r1, %v, 3; setp.eq.u32 %p1, %r1, 1; vote.sync.ballot.b32 %o0, %p1, 0xffffffff;" +
		"vote.sync.any.pred %p2, %p1, 0xffffffff; vote.sync.all.pred %p3, %p1, 0xffffffff;" +
		"selp.u32 %o1, 1, 0, %p2; selp.u32 %r2, 2, 0, %p3; or.b32 %o1, %o1, %r2;" +
		"match.any.sync.b32 %o2, %r1, 0xffffffff; redux.sync.max.s32 %o3, %v, 0xffffffff;",
		func(i int) [4]uint32 {
			var r [4]uint32
			most := int32(-1 << 31)
			for l, v := range warpOf(i) {
				if v&3 == 1 {
					r[0] |= 1 << l
					r[1] = 1
				}
				if v&3 == input[i]&3 {
					r[2] |= 1 << l
				}
				most = max(most, int32(v))
			}
			r[3] = uint32(most)
			return r
		}},
	{"reductions", "redux.sync.add.u32 %o0, %v, 0xffffffff; redux.sync.xor.b32 %o1, %v, 0xffffffff;" +
		"setp.lt.u32 %p1, %t, 40; bar.red.popc.u32 %o2, 0, %p1; mov.u32 %r1, %o2; bar.red.or.pred %p2, 1, %p1;" +
		"mov.u32 %r2, %r1; bar.red.and.pred %p3, 1, %p2; selp.u32 %o3, 1, 0, %p2; selp.u32 %r1, 2, 0, %p3;" +
		"or.b32 %o3, %o3, %r1;",
		func(i int) [4]uint32 {
			var r [4]uint32
			for _, v := range warpOf(i) {
				r[0] += v
				r[1] ^= v
			}
			r[2], r[3] = 40, 3
			return r
		}},
	{"divergence", "and.b32 %r1, %v, 3; mov.u32 %r2, 0; L: setp.ge.u32 %p1, %r2, %r1; @%p1 bra D; add.u32 %o0, %o0, %v;" +
		"add.u32 %r2, %r2, 1; bra L; D: activemask.b32 %o1; elect.sync %o2|%p2, 0xffffffff; selp.u32 %o3, 1, 0, %p2;",
		func(i int) [4]uint32 {
			r := [4]uint32{input[i] * (input[i] & 3), 0xFFFFFFFF, 0, 0}
			if i&31 == 0 {
				r[3] = 1
			}
			return r
		}},
	{"table of branches", "and.b32 %r1, %v, 3; brx.idx %r1, T; T: .branchtargets A, B, C, D;\n" +
		"A: mov.u32 %o0, 11; bra.uni E; B: mov.u32 %o0, 22; bra.uni E; C: mov.u32 %o0, 33; D: add.u32 %o1, %o1, 4; E:",
		func(i int) [4]uint32 {
			return [][4]uint32{{11}, {22}, {33, 4}, {0, 4}}[input[i]&3]
		}},
	{"shared memory and generic addresses", "mov.u64 %rd1, part; mad.wide.u32 %rd2, %t, 4, %rd1;" +
		"cvta.shared.u64 %rd3, %rd2;" +
		"st.b32 [%rd3], %v; bar.sync 0; xor.b32 %r1, %t, 33; mad.wide.u32 %rd2, %r1, 4, %rd1; ld.shared.b32 %o0, [%rd2];" +
		"isspacep.shared %p1, %rd3; selp.u32 %o1, 1, 0, %p1; isspacep.global %p2, %rd3; selp.u32 %o2, 1, 0, %p2;" +
		"ld.shared.s8 %o3, [%rd2+1];",
		func(i int) [4]uint32 {
			v := input[i^33]
			return [4]uint32{v, 1, 0, uint32(int32(int8(v >> 8)))}
		}},
	{"atomics", "setp.ne.u32 %p1, %t, 0; @!%p1 st.shared.b32 [part], 100; bar.sync 0;" +
		"atom.shared.add.u32 %r1, [part], 2;" +
		"bar.sync 0; ld.shared.b32 %o0, [part]; bar.sync 0; atom.shared.max.s32 %r2, [part], %v; bar.sync 0;" +
		"ld.shared.b32 %o1, [part]; bar.sync 0; atom.shared.cas.b32 %r3, [part], 7, %v; red.shared.inc.u32 [part], 0;" +
		"bar.sync 0; ld.shared.b32 %o2, [part]; and.b32 %o3, %r1, 1;",
		func(int) [4]uint32 {
			most := int32(228)
			for _, v := range input {
				most = max(most, int32(v))
			}
			return [4]uint32{228, uint32(most), 0, 0}
		}},
	{"matrices", "mov.u32 %r1, part; and.b32 %r2, %t, 32; mad.lo.u32 %r1, %r2, 16, %r1; and.b32 %r3, %lane, 15;" +
		"mad.lo.u32 %r3, %r3, 16, %r1; not.b32 %r4, %v; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r3], {%v, %r4};" +
		"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%o0, %o1}, [%r3];" +
		"stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r3], {%v};" +
		"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o2}, [%r3];",
		func(i int) [4]uint32 {
			// Lane l holds the elements 2(l%4) and the next of row l/4; transposed, of column l/4.
			half := func(row, col int) uint32 { return warpOf(i)[row*4+col/2] >> (16 * (col & 1)) & 0xFFFF }
			l := i & 31
			x := half(l%4*2, l/4) | half(l%4*2+1, l/4)<<16
			return [4]uint32{x, ^x, x, 0}
		}},
	{"copies with zeros behind", "mov.u32 %r1, part; mad.lo.u32 %r2, %lane, 4, %r1;" +
		"and.b32 %r5, %t, 32; mad.lo.u32 %r2, %r5, 4, %r2;" +
		"and.b32 %r3, %t, 3; cp.async.ca.shared.global [%r2], [%in], 4, %r3; cp.async.commit_group;" +
		"cp.async.wait_all; ld.shared.b32 %o0, [%r2]; setp.eq.u32 %p1, %r3, 0; bar.warp.sync 0xffffffff;" +
		"cp.async.ca.shared.global [%r2], [%in], 4, %p1; cp.async.wait_all; ld.shared.b32 %o1, [%r2];",
		func(i int) [4]uint32 {
			r := [4]uint32{input[i] & (1<<(8*(i&3)) - 1), input[i], 0, 0}
			if i&3 == 0 {
				r[1] = 0
			}
			return r
		}},
}

// TestSnippets compares all snippets with their definitions, under all schedules.
func TestSnippets(t *testing.T) {
	for _, c := range snippets {
		for _, opt := range everyOptions() {
			got, err := words(t, c.body, 64, hash, opt)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				break
			}
			for i := range got {
				if want := c.want(i); got[i] != want {
					t.Errorf("%s, %s: thread %d has %#x, not %#x", c.name, scheduleName(opt), i, got[i], want)
					break
				}
			}
		}
	}
}

// TestLanes demands order between the lanes of a warp where Options.Lanes asks for it, and only there.
func TestLanes(t *testing.T) {
	const store = "mov.u32 %r1, part; mad.lo.u32 %r2, %t, 4, %r1; xor.b32 %r3, %r2, 4; st.shared.b32 [%r2], %v;"
	for _, c := range []struct {
		body string
		code diag.Code
	}{
		{store + "ld.shared.b32 %o0, [%r2];", ""},
		{store + "ld.shared.b32 %o0, [%r3];", "L0967"},
		{store + "bar.warp.sync -1; ld.shared.b32 %o0, [%r3];", ""},
		{store + "bar.sync 0; ld.shared.b32 %o0, [%r3]; st.shared.b32 [%r2], %t;", "L0967"},
		{store + "bar.sync 0; ld.shared.b32 %o0, [%r3]; bar.warp.sync -1; st.shared.b32 [%r2], %t;", ""},
		{store + "and.b32 %r3, %t, 3; mad.lo.u32 %r3, %r3, 4, %r1; bar.sync 0; ld.shared.b32 %o0, [%r3];", ""},
	} {
		for _, lanes := range []bool{false, true} {
			_, err := words(t, c.body, 32, hash, Options{Races: true, Lanes: lanes})
			if want := map[bool]diag.Code{true: c.code}[lanes]; diag.CodeOf(err) != want {
				t.Errorf("%s with %v: %v, not %q", c.body, lanes, err, want)
			}
		}
	}
}

// TestRefused demands the named error of what a GPU would leave undefined.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, body string
		code       diag.Code
		says       string
	}{
		{"opcode", "wibble.b32 %o0, %v;", "L0961", "does not execute the opcode wibble"},
		{"modifier", "add.rx.f32 %o0, %v, %v;", "L0961", "add.rx.f32"},
		{"register", "mov.b64 %rd1, %v;", "L0961", "32 bits"},
		{"operand count", "add.u32 %o0, %v;", "L0961", "2 operands, not 3"},
		{"label", "bra NOWHERE;", "L0960", "unknown label NOWHERE"},
		{"grammar", "add.u32 %o0, [;", "L0960", ""},
		{"mask without a lane", "shfl.sync.bfly.b32 %o0, %v, 1, 31, 0xfffffffe;", "L0966", "does not name lane 0"},
		{"lanes elsewhere", "setp.lt.u32 %p1, %lane, 8; @%p1 bra L; shfl.sync.bfly.b32 %o0, %v, 1, 31, 0xffffffff; L:",
			"L0966", "diverged"},
		{"a lane that does not take part", "setp.lt.u32 %p1, %lane, 16; @!%p1 bra L;" +
			"shfl.sync.bfly.b32 %o0, %v, 16, 31, 0xffff; L:", "L0966", "does not take part"},
		{"a matrix in a part of a warp", "setp.lt.u32 %p1, %lane, 8; @%p1 bra L;" +
			"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [part]; L:", "L0966", "diverged"},
		{"beyond shared memory", "ld.shared.b32 %o0, [part+4096];", "L0964", "shared memory, which has 3072 bytes"},
		{"before the buffer", "ld.global.b32 %o0, [%in+-256];", "L0964", "before in"},
		{"not aligned", "ld.global.b64 %rd1, [%in+2];", "L0965", "not a multiple of 8"},
		{"half of a block ends", "setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 64; @%p1 bar.sync 1, 64;", "L0969", "barrier 1"},
		{"a trap", "setp.eq.u32 %p1, %t, 33; @%p1 trap;", "L0971", "thread (33,0,0)"},
		{"a loop", "L: bra L;", "L0970", "no end"},
	} {
		_, err := words(t, c.body, 64, hash, Options{Races: true, Limit: 10000})
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, not %s with %q", c.name, err, c.code, c.says)
		}
	}
}

// TestSchedules looks at the order in which warps draw tickets.
func TestSchedules(t *testing.T) {
	order := func(opt Options) (s string) {
		got, err := words(t, "setp.eq.u32 %p1, %lane, 0; @%p1 atom.shared.add.u32 %o0, [part], 1;", 256, hash, opt)
		if err != nil {
			t.Fatal(err)
		}
		places := make([]byte, 8)
		for w := range 8 {
			places[got[32*w][0]+1] = byte('0' + w)
		}
		return string(places)
	}
	if a, b := order(Options{}), order(Options{Schedule: Reverse}); a != "01234567" || b != "76543210" {
		t.Errorf("round robin %s, reverse %s", a, b)
	}
	seen := map[string]bool{}
	for seed := range uint64(6) {
		opt := Options{Schedule: Random, Seed: seed}
		seen[order(opt)] = true
		if order(opt) != order(opt) {
			t.Error("a seed gives two orders")
		}
	}
	if len(seen) < 5 {
		t.Errorf("six seeds give the orders %v", seen)
	}
}
