// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// corners are patterns at which definitions break.
var corners = []uint64{
	0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF,
	0x80000000, 0x80000001, 0xFFFFFFFF, 1 << 32, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(0) - 1, 0x0123456789ABCDEF,
}

func pick(r *rand.Rand, t Type) uint64 {
	if r.IntN(3) == 0 {
		return corners[r.IntN(len(corners))] & t.Mask()
	}
	return r.Uint64() >> r.IntN(64) & t.Mask()
}

// run evaluates an instruction such as "add.sat.s32" on many operands and compares each lane with want.
func run(t *testing.T, text string, want func(src []Type, v []uint64) uint64) {
	t.Helper()
	words := strings.Split(text, ".")
	op, _, ok := Lookup(words[0], words[1:])
	if !ok {
		t.Errorf("%s is not known", text)
		return
	}
	r := rand.New(rand.NewPCG(1, uint64(len(text))))
	for range 60 {
		var in [4]Row
		var d Row
		for k, s := range op.Src {
			for i := range d {
				in[k][i] = pick(r, s)
			}
		}
		op.Fn(&d, &in[0], &in[1], &in[2], &in[3])
		for i := range d {
			v := []uint64{in[0][i], in[1][i], in[2][i], in[3][i]}
			if w := want(op.Src, v) & op.Dst.Mask(); d[i] != w {
				t.Errorf("%s of %#x: %#x, not %#x", text, v[:len(op.Src)], d[i], w)
				return
			}
		}
	}
}

// number is the value of a pattern in a type.
func number(v uint64, t Type) *big.Int {
	n := new(big.Int).SetUint64(v)
	if t.Kind == 's' && v>>(t.Bits-1)&1 == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(t.Bits)))
	}
	return n
}

// pattern is a number modulo 2^64.
func pattern(n *big.Int) uint64 {
	return new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0))).Uint64()
}

func bound(n *big.Int, lo, hi int64) *big.Int {
	if n.Cmp(big.NewInt(lo)) < 0 {
		return big.NewInt(lo)
	}
	if n.Cmp(big.NewInt(hi)) > 0 {
		return big.NewInt(hi)
	}
	return n
}

func fresh() *big.Int { return new(big.Int) }

// integerDefs are the definitions, in exact integers; the result counts modulo the width.
var integerDefs = []struct {
	ops string // with the types to try
	f   func(t Type, a, b, c *big.Int) *big.Int
}{
	{"add u16 s16 u32 s32 u64 s64", func(_ Type, a, b, _ *big.Int) *big.Int { return fresh().Add(a, b) }},
	{"sub u16 s16 u32 s32 u64 s64", func(_ Type, a, b, _ *big.Int) *big.Int { return fresh().Sub(a, b) }},
	{"add.sat s32", func(_ Type, a, b, _ *big.Int) *big.Int { return bound(fresh().Add(a, b), -1<<31, 1<<31-1) }},
	{"sub.sat s32", func(_ Type, a, b, _ *big.Int) *big.Int { return bound(fresh().Sub(a, b), -1<<31, 1<<31-1) }},
	{"mul.lo u16 s16 u32 s32 u64 s64", func(_ Type, a, b, _ *big.Int) *big.Int { return fresh().Mul(a, b) }},
	{"mul.wide u16 s16 u32 s32", func(_ Type, a, b, _ *big.Int) *big.Int { return fresh().Mul(a, b) }},
	{"mul.hi u16 s16 u32 s32 u64 s64", func(t Type, a, b, _ *big.Int) *big.Int {
		return fresh().Rsh(fresh().Mul(a, b), uint(t.Bits))
	}},
	{"mad.lo u16 s16 u32 s32 u64 s64", func(_ Type, a, b, c *big.Int) *big.Int {
		return fresh().Add(fresh().Mul(a, b), c)
	}},
	{"mad.wide u16 s16 u32 s32", func(_ Type, a, b, c *big.Int) *big.Int {
		return fresh().Add(fresh().Mul(a, b), c)
	}},
	{"mad.hi u16 s16 u32 s32 u64 s64", func(t Type, a, b, c *big.Int) *big.Int {
		return fresh().Add(fresh().Rsh(fresh().Mul(a, b), uint(t.Bits)), c)
	}},
	{"mad.hi.sat s32", func(t Type, a, b, c *big.Int) *big.Int {
		return bound(fresh().Add(fresh().Rsh(fresh().Mul(a, b), 32), c), -1<<31, 1<<31-1)
	}},
	{"div u16 s16 u32 s32 u64 s64", func(_ Type, a, b, _ *big.Int) *big.Int {
		if b.Sign() == 0 {
			return big.NewInt(-1)
		}
		return fresh().Quo(a, b)
	}},
	{"rem u16 s16 u32 s32 u64 s64", func(_ Type, a, b, _ *big.Int) *big.Int {
		if b.Sign() == 0 {
			return a
		}
		return fresh().Rem(a, b)
	}},
	{"min u16 s16 u32 s32 u64 s64", func(_ Type, a, b, _ *big.Int) *big.Int {
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	}},
	{"max u16 s16 u32 s32 u64 s64", func(_ Type, a, b, _ *big.Int) *big.Int {
		if a.Cmp(b) > 0 {
			return a
		}
		return b
	}},
	{"abs s16 s32 s64", func(_ Type, a, _, _ *big.Int) *big.Int { return fresh().Abs(a) }},
	{"neg s16 s32 s64", func(_ Type, a, _, _ *big.Int) *big.Int { return fresh().Neg(a) }},
	{"sad u16 s16 u32 s32 u64 s64", func(_ Type, a, b, c *big.Int) *big.Int {
		return fresh().Add(c, fresh().Abs(fresh().Sub(a, b)))
	}},
	{"shr u16 s16 u32 s32 u64 s64", func(_ Type, a, b, _ *big.Int) *big.Int {
		return fresh().Rsh(a, uint(min(b.Uint64(), 200)))
	}},
	{"popc b32 b64", func(_ Type, a, _, _ *big.Int) *big.Int {
		return big.NewInt(int64(strings.Count(a.Text(2), "1")))
	}},
	{"clz b32 b64", func(t Type, a, _, _ *big.Int) *big.Int { return big.NewInt(int64(t.Bits - a.BitLen())) }},
	{"cnot b16 b32 b64", func(_ Type, a, _, _ *big.Int) *big.Int { return big.NewInt(int64(1 - a.Sign())) }},
}

func TestIntegers(t *testing.T) {
	for _, d := range integerDefs {
		words := strings.Fields(d.ops)
		for _, typ := range words[1:] {
			run(t, words[0]+"."+typ, func(src []Type, v []uint64) uint64 {
				var x [3]*big.Int
				for k := range x {
					x[k] = new(big.Int)
					if k < len(src) {
						x[k] = number(v[k], src[k])
					}
				}
				return pattern(d.f(src[0], x[0], x[1], x[2]))
			})
		}
	}
}

// bit is that of v at i.
func bit(v uint64, i int) uint64 { return v >> i & 1 }

func TestBits(t *testing.T) {
	for _, b := range []int{16, 32, 64} {
		name := map[int]string{16: "b16", 32: "b32", 64: "b64"}[b]
		run(t, "and."+name, func(_ []Type, v []uint64) uint64 { return v[0] & v[1] })
		run(t, "or."+name, func(_ []Type, v []uint64) uint64 { return v[0] | v[1] })
		run(t, "xor."+name, func(_ []Type, v []uint64) uint64 { return v[0] ^ v[1] })
		run(t, "not."+name, func(_ []Type, v []uint64) uint64 { return ^v[0] })
		run(t, "shl."+name, func(_ []Type, v []uint64) (r uint64) {
			for i := range b {
				if uint64(i) >= v[1] {
					r |= bit(v[0], i-int(v[1])) << i
				}
			}
			return r
		})
	}
}

func TestFields(t *testing.T) {
	for _, b := range []int{32, 64} {
		suffix := map[int]string{32: "32", 64: "64"}[b]
		run(t, "brev.b"+suffix, func(_ []Type, v []uint64) (r uint64) {
			for i := range b {
				r |= bit(v[0], i) << (b - 1 - i)
			}
			return r
		})
		run(t, "bfi.b"+suffix, func(_ []Type, v []uint64) uint64 {
			r, pos, n := v[1], int(v[2]&255), int(v[3]&255)
			for i := 0; i < n && pos+i < b; i++ {
				r = r&^(1<<(pos+i)) | bit(v[0], i)<<(pos+i)
			}
			return r
		})
		for _, kind := range []string{"u", "s"} {
			run(t, "bfe."+kind+suffix, func(_ []Type, v []uint64) (r uint64) {
				pos, n := int(v[1]&255), int(v[2]&255)
				sign := uint64(0)
				if kind == "s" && n > 0 {
					sign = bit(v[0], min(pos+n-1, b-1))
				}
				for i := range b {
					if i < n && pos+i < b {
						r |= bit(v[0], pos+i) << i
					} else {
						r |= sign << i
					}
				}
				return r
			})
			run(t, "bfind."+kind+suffix, func(_ []Type, v []uint64) uint64 {
				for i := b - 1; i >= 0; i-- {
					if bit(v[0], i) != bit(v[0], b-1)&uint64(map[string]int{"s": 1}[kind]) {
						return uint64(i)
					}
				}
				return ^uint64(0)
			})
		}
	}
}

func TestBytesAndTables(t *testing.T) {
	run(t, "lop3.b32", func(_ []Type, v []uint64) (r uint64) {
		for i := range 32 {
			r |= bit(v[3]&255, int(bit(v[0], i)*4+bit(v[1], i)*2+bit(v[2], i))) << i
		}
		return r
	})
	run(t, "prmt.b32", func(_ []Type, v []uint64) (r uint64) {
		for k := range 4 {
			sel := v[2] >> (4 * k) & 15
			src := v[0]
			if sel&4 != 0 {
				src = v[1]
			}
			b := src >> (8 * (sel & 3)) & 255
			if sel&8 != 0 {
				b = 255 * (b >> 7)
			}
			r |= b << (8 * k)
		}
		return r
	})
	for _, mode := range []string{"clamp", "wrap"} {
		amount := func(c uint64) uint64 {
			if mode == "wrap" {
				return c & 31
			}
			return min(c, 32)
		}
		run(t, "shf.l."+mode+".b32", func(_ []Type, v []uint64) uint64 {
			n := amount(v[2])
			return v[1]<<n&0xFFFFFFFF | v[0]>>(32-n)
		})
		run(t, "shf.r."+mode+".b32", func(_ []Type, v []uint64) uint64 {
			n := amount(v[2])
			return v[0]>>n | v[1]<<(32-n)
		})
	}
	dot := func(a, b uint64, sa, sb bool) (sum uint64) {
		for k := range 4 {
			x, y := int64(a>>(8*k)&255), int64(b>>(8*k)&255)
			if sa && x > 127 {
				x -= 256
			}
			if sb && y > 127 {
				y -= 256
			}
			sum += uint64(x * y)
		}
		return sum
	}
	run(t, "dp4a.s32.s32", func(_ []Type, v []uint64) uint64 { return v[2] + dot(v[0], v[1], true, true) })
	run(t, "dp4a.u32.s32", func(_ []Type, v []uint64) uint64 { return v[2] + dot(v[0], v[1], false, true) })
	run(t, "dp4a.u32.u32", func(_ []Type, v []uint64) uint64 { return v[2] + dot(v[0], v[1], false, false) })
}

// TestUnknown demands that what is not known is refused.
func TestUnknown(t *testing.T) {
	for _, text := range []string{
		"add", "add.u8", "add.b32", "add.u32.u32", "mul.u32", "mul.wide.u64", "fma.f32.rn", "cvt.u32", "cvt.rn.u32.f32",
		"prmt.b64", "tanh.f32", "add.sat.u32", "fma.rn.ftz.f64", "cvt.rni.s32.s32", "min.relu.f32", "shl.u32",
	} {
		words := strings.Split(text, ".")
		if _, _, ok := Lookup(words[0], words[1:]); ok {
			t.Errorf("%s is taken for an instruction", text)
		}
	}
}
