// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

var integerTypes = []string{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"}

// cvt evaluates a conversion on one value.
func cvt(t *testing.T, a uint64, mods ...string) uint64 {
	t.Helper()
	op, _, ok := Lookup("cvt", mods)
	if !ok {
		t.Fatalf("cvt %v is not known", mods)
	}
	var d, x, none Row
	x[0] = a
	op.Fn(&d, &x, &none, &none, &none)
	return d[0]
}

func TestConvertIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, from := range integerTypes {
		for _, to := range integerTypes {
			tf, _ := ParseType(from)
			tt, _ := ParseType(to)
			least, most := new(big.Int), new(big.Int).SetUint64(tt.Mask())
			if tt.Kind == 's' {
				most.Rsh(most, 1)
				least.Not(most)
			}
			for range 200 {
				a := pick(r, tf)
				n := number(a, tf)
				if got, want := cvt(t, a, to, from), pattern(n)&tt.Mask(); got != want {
					t.Fatalf("cvt.%s.%s of %#x: %#x, not %#x", to, from, a, got, want)
				}
				if n.Cmp(least) < 0 {
					n = least
				} else if n.Cmp(most) > 0 {
					n = most
				}
				if got, want := cvt(t, a, "sat", to, from), pattern(n)&tt.Mask(); got != want {
					t.Fatalf("cvt.sat.%s.%s of %#x: %#x, not %#x", to, from, a, got, want)
				}
			}
		}
	}
}

// TestConvertFloats rounds integers and floats to each format in each mode.
func TestConvertFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, to := range oracles {
		for _, mode := range []string{"rn", "rz", "rm", "rp"} {
			for _, from := range integerTypes {
				tf, _ := ParseType(from)
				for range 60 {
					a := pick(r, tf)
					x := new(big.Float).SetPrec(100).SetInt(number(a, tf))
					if got, want := cvt(t, a, mode, to.name, from), to.round(x, mode); got != want {
						t.Fatalf("cvt.%s.%s.%s of %#x: %#x, not %#x", mode, to.name, from, a, got, want)
					}
				}
			}
			for _, from := range oracles {
				for range 60 {
					a := from.some(r)
					v := from.get(a)
					if math.IsNaN(v) || math.IsInf(v, 0) {
						continue
					}
					if got, want := cvt(t, a, mode, to.name, from.name), to.round(precise(v), mode); got != want {
						t.Fatalf("cvt.%s.%s.%s of %#x: %#x, not %#x", mode, to.name, from.name, a, got, want)
					}
				}
			}
		}
	}
}

// TestConvertToIntegers compares with rounding on exact numbers, and with the manual's rules for the others.
func TestConvertToIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 11))
	half := big.NewFloat(0.5)
	for _, from := range oracles {
		for _, to := range integerTypes {
			tt, _ := ParseType(to)
			least, most := new(big.Int), new(big.Int).SetUint64(tt.Mask())
			if tt.Kind == 's' {
				most.Rsh(most, 1)
				least.Not(most)
			}
			for range 300 {
				a := from.some(r)
				v := from.get(a)
				if v != v {
					want := uint64(0)
					if from.bits == 64 || tt.Bits == 64 {
						want = 1 << (tt.Bits - 1)
					}
					if got := cvt(t, a, "rni", to, from.name); got != want {
						t.Fatalf("cvt.rni.%s.%s of NaN: %#x", to, from.name, got)
					}
					continue
				}
				if math.IsInf(v, 0) {
					v = math.Copysign(math.MaxFloat64, v)
				}
				below, _ := precise(v).Int(nil)
				if precise(v).Cmp(new(big.Float).SetInt(below)) < 0 {
					below.Sub(below, big.NewInt(1))
				}
				rest := new(big.Float).SetPrec(5000).Sub(precise(v), new(big.Float).SetPrec(5000).SetInt(below))
				above := new(big.Int).Set(below)
				if rest.Sign() != 0 {
					above.Add(above, big.NewInt(1))
				}
				near := below
				if c := rest.Cmp(half); c > 0 || c == 0 && below.Bit(0) == 1 {
					near = above
				}
				zero := below
				if v < 0 {
					zero = above
				}
				for mode, n := range map[string]*big.Int{"rni": near, "rzi": zero, "rmi": below, "rpi": above} {
					if n.Cmp(least) < 0 {
						n = least
					} else if n.Cmp(most) > 0 {
						n = most
					}
					if got, want := cvt(t, a, mode, to, from.name), pattern(n)&tt.Mask(); got != want {
						t.Fatalf("cvt.%s.%s.%s of %g: %#x, not %#x", mode, to, from.name, v, got, want)
					}
				}
			}
		}
	}
}

func TestConvertPairs(t *testing.T) {
	word := func(f float32) uint64 { return uint64(math.Float32bits(f)) }
	two := func(a, b uint64, mods ...string) uint64 {
		op, _, ok := Lookup("cvt", mods)
		if !ok {
			t.Fatalf("cvt %v is not known", mods)
		}
		var d, x, y, z Row
		x[0], y[0], z[0] = a, b, 0xABCD
		op.Fn(&d, &x, &y, &z, &z)
		return d[0]
	}
	minus := uint64(1<<32 - 300)
	for _, c := range []struct{ got, want uint64 }{
		{two(word(1), word(-2), "rn", "bf16x2", "f32"), 0x3F80C000},
		{two(word(1), word(-2), "rn", "relu", "f16x2", "f32"), 0x3C000000},
		{two(word(1e9), word(3), "rn", "satfinite", "e4m3x2", "f32"), 0x7E44},
		{two(word(-1e9), word(0x1p-16), "rn", "satfinite", "e5m2x2", "f32"), 0xFB01},
		{two(0x7E44, 0, "rn", "f16x2", "e4m3x2"), 0x5F004200},
		{two(minus, 99, "pack", "sat", "s8", "s32", "b32"), 0xABCD8063},
		{two(minus, 70000, "pack", "sat", "u16", "s32"), 0x0000FFFF},
		{cvt(t, word(1+0x1p-11), "rna", "tf32", "f32"), word(1 + 0x1p-10)},
	} {
		if c.got != c.want {
			t.Errorf("%#x, not %#x", c.got, c.want)
		}
	}
}

// TestCompare runs every comparison against its words.
func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 12))
	order := func(typ string, a, b uint64) (less, equal, nan bool) {
		tt, _ := ParseType(typ)
		if !tt.Float() {
			c := number(a, tt).Cmp(number(b, tt))
			return c < 0, c == 0, false
		}
		for _, o := range oracles {
			if o.name == typ {
				x, y := o.get(a), o.get(b)
				return x < y, x == y, x != x || y != y
			}
		}
		t.Fatal(typ)
		return false, false, false
	}
	for _, typ := range []string{"u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"} {
		tt, _ := ParseType(typ)
		for _, name := range strings.Fields("eq ne lt le gt ge equ neu ltu leu gtu geu num nan") {
			cmp, _, ok := Compare([]string{name, typ})
			if want := tt.Float() || len(name) == 2; ok != want {
				t.Errorf("setp.%s.%s known: %v", name, typ, ok)
			}
			if !ok {
				continue
			}
			for range 30 {
				var a, b Row
				for i := range a {
					a[i], b[i] = pick(r, tt), pick(r, tt)
					if i%4 == 0 {
						b[i] = a[i]
					}
				}
				got := cmp(&a, &b)
				for i := range a {
					less, equal, nan := order(typ, a[i], b[i])
					want := map[string]bool{"eq": equal, "ne": !equal && !nan, "lt": less, "le": less || equal,
						"gt": !less && !equal && !nan, "ge": !less && !nan, "num": !nan, "nan": nan}
					w, plain := want[name]
					if !plain {
						w = nan || want[name[:2]]
					}
					if got>>i&1 == 1 != w {
						t.Fatalf("setp.%s.%s of %#x and %#x: %v", name, typ, a[i], b[i], !w)
					}
				}
			}
		}
	}
}

// TestSpecialValues checks the functions that are only approximate where they must be exact.
func TestSpecialValues(t *testing.T) {
	inf, nan := uint64(0x7F800000), uint64(0x7FFFFFFF)
	word := func(f float32) uint64 { return uint64(math.Float32bits(f)) }
	for _, c := range []struct {
		op      []string
		a, want uint64
	}{
		{[]string{"ex2", "approx", "f32"}, word(3), word(8)}, {[]string{"ex2", "approx", "f32"}, word(-200), 0},
		{[]string{"ex2", "approx", "f32"}, inf | 1<<31, 0}, {[]string{"ex2", "approx", "f32"}, nan, nan},
		{[]string{"ex2", "approx", "f32"}, word(-140), word(0x1p-140)},
		{[]string{"ex2", "approx", "ftz", "f32"}, word(-140), 0},
		{[]string{"lg2", "approx", "f32"}, word(1), 0}, {[]string{"lg2", "approx", "f32"}, 0, inf | 1<<31},
		{[]string{"lg2", "approx", "f32"}, word(-1), nan}, {[]string{"lg2", "approx", "ftz", "f32"}, 1, inf | 1<<31},
		{[]string{"rsqrt", "approx", "f32"}, word(4), word(0.5)}, {[]string{"rsqrt", "approx", "f32"}, 0, inf},
		{[]string{"rcp", "approx", "ftz", "f32"}, 1<<31 | 5, inf | 1<<31},
		{[]string{"sqrt", "rn", "f32"}, word(-1), nan}, {[]string{"tanh", "approx", "f32"}, inf, word(1)},
		{[]string{"neg", "f32"}, 0, 1 << 31}, {[]string{"abs", "ftz", "f32"}, 1<<31 | 3, 0},
		{[]string{"sin", "approx", "f32"}, 0, 0}, {[]string{"cos", "approx", "f32"}, 0, word(1)},
		{[]string{"cvt", "ftz", "f32", "f16"}, 1, word(0x1p-24)}, // .ftz of a conversion is about fp32 values only
		{[]string{"cvt", "rn", "ftz", "f16", "f32"}, word(0x1p-24), 1},
		{[]string{"cvt", "ftz", "f64", "f32"}, 1<<31 | 1, 1 << 63},
	} {
		op, _, ok := Lookup(c.op[0], c.op[1:])
		if !ok {
			t.Errorf("%v is not known", c.op)
			continue
		}
		var d, a, none Row
		a[0] = c.a
		op.Fn(&d, &a, &none, &none, &none)
		if d[0] != c.want {
			t.Errorf("%v of %#x: %#x, not %#x", c.op, c.a, d[0], c.want)
		}
	}
}

// TestZeros has sums of doubles that are exactly 0, rounded down: -0, unless both terms are +0.
func TestZeros(t *testing.T) {
	zero, minus := 0.0, math.Copysign(0, -1)
	for _, c := range []struct {
		op            string
		a, b, c, want float64
	}{
		{"add", 3, -3, 0, minus}, {"add", zero, minus, 0, minus}, {"add", zero, zero, 0, zero},
		{"add", minus, minus, 0, minus}, {"sub", 3, 3, 0, minus}, {"sub", zero, zero, 0, minus},
		{"sub", zero, minus, 0, zero}, {"fma", 2, 3, -6, minus}, {"fma", -2, zero, zero, minus},
		{"fma", -2, minus, zero, zero}, {"mul", 2, zero, 0, zero},
	} {
		op, _, ok := Lookup(c.op, []string{"rm", "f64"})
		if !ok {
			t.Fatal(c.op)
		}
		var d, x, y, z Row
		x[0], y[0], z[0] = math.Float64bits(c.a), math.Float64bits(c.b), math.Float64bits(c.c)
		if op.Fn(&d, &x, &y, &z, &z); d[0] != math.Float64bits(c.want) {
			t.Errorf("%s.rm of %v, %v, %v: %#x", c.op, c.a, c.b, c.c, d[0])
		}
	}
}
