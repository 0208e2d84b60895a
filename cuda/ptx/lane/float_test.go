// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// oracle describes a format by its codes alone: rounding is a search among them.
type oracle struct {
	name  string
	bits  int
	inf   uint64
	value func(code uint64) float64
}

var oracles = []oracle{
	{"f16", 16, 0x7C00, func(c uint64) float64 {
		if c < 0x400 {
			return float64(c) * 0x1p-24
		}
		return float64(c&0x3FF|0x400) * math.Pow(2, float64(c>>10)-25)
	}},
	{"bf16", 16, 0x7F80, func(c uint64) float64 { return float64(math.Float32frombits(uint32(c) << 16)) }},
	{"f32", 32, 0x7F800000, func(c uint64) float64 { return float64(math.Float32frombits(uint32(c))) }},
	{"f64", 64, 0x7FF0000000000000, math.Float64frombits},
}

func precise(v float64) *big.Float { return new(big.Float).SetPrec(5000).SetFloat64(v) }

// round finds the code of a number whose sign is negative or not.
func (o oracle) round(x *big.Float, mode string) uint64 {
	neg := x.Signbit()
	mag := new(big.Float).Abs(x)
	lo, hi := uint64(0), o.inf // value(lo) <= mag < value(hi), the latter as if finite
	next := func(c uint64) *big.Float {
		if c == o.inf {
			ulp := new(big.Float).Sub(precise(o.value(o.inf-1)), precise(o.value(o.inf-2)))
			return new(big.Float).Add(precise(o.value(o.inf-1)), ulp)
		}
		return precise(o.value(c))
	}
	if mag.Cmp(next(o.inf)) >= 0 {
		lo = o.inf
	}
	for hi-lo > 1 && lo != o.inf {
		if mid := lo + (hi-lo)/2; precise(o.value(mid)).Cmp(mag) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	code := lo
	switch {
	case lo == o.inf && (mode == "rz" || mode == "rm" && !neg || mode == "rp" && neg):
		code = o.inf - 1
	case lo == o.inf || precise(o.value(lo)).Cmp(mag) == 0:
	case mode == "rn":
		below, above := new(big.Float).Sub(mag, next(lo)), new(big.Float).Sub(next(lo+1), mag)
		if c := below.Cmp(above); c > 0 || c == 0 && lo&1 == 1 {
			code++
		}
	case mode == "rm" && neg, mode == "rp" && !neg:
		code++
	}
	if neg {
		code |= 1 << (o.bits - 1)
	}
	return code
}

// some is a code, often near an edge of the format.
func (o oracle) some(r *rand.Rand) uint64 {
	edges := []uint64{
		0, 1, 2, o.inf - 1, o.inf, o.inf + 1, 1<<(o.bits-1) - 1, 0x3C00, 0x3F80, 0x3F800000, 0x3FF0000000000000,
	}
	c := r.Uint64()
	switch r.IntN(4) {
	case 0:
		c = edges[r.IntN(len(edges))]
	case 1: // close to one, so that sums cancel and products stay
		c = o.inf/2 + uint64(r.IntN(1<<(o.bits/4)))
	}
	return (c&(1<<(o.bits-1)-1) | r.Uint64()&1<<(o.bits-1)) & Type{Bits: o.bits}.Mask()
}

func (o oracle) get(c uint64) float64 {
	mag := c & (1<<(o.bits-1) - 1)
	v := math.NaN()
	switch {
	case mag < o.inf:
		v = o.value(mag)
	case mag == o.inf:
		v = math.Inf(1)
	}
	if c != mag {
		v = -v
	}
	return v
}

// ideal is the exact result of an operation; ok is false where it is none or its sign of zero is another matter.
func ideal(op string, a, b, c float64) (*big.Float, bool) {
	x, y := precise(a), precise(b)
	z := new(big.Float).SetPrec(5000)
	switch op {
	case "add":
		z.Add(x, y)
	case "sub":
		z.Sub(x, y)
	case "mul":
		z.Mul(x, y)
	case "fma":
		z.Mul(x, y).Add(z, precise(c))
	case "div", "rcp":
		if y.Sign() == 0 {
			return nil, false
		}
		z.Quo(x, y)
	case "sqrt":
		if x.Sign() < 0 {
			return nil, false
		}
		z.SetPrec(2000).Sqrt(x)
	}
	return z, z.Sign() != 0
}

func TestFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, o := range oracles {
		ops := []string{"add", "sub", "mul", "fma"}
		modes := []string{"rn"}
		if o.bits >= 32 {
			ops, modes = append(ops, "div", "rcp", "sqrt"), []string{"rn", "rz", "rm", "rp"}
		}
		for _, name := range ops {
			for _, mode := range modes {
				checkFloat(t, r, o, name, mode)
			}
		}
	}
}

func checkFloat(t *testing.T, r *rand.Rand, o oracle, name, mode string) {
	op, _, ok := Lookup(name, []string{mode, o.name})
	if !ok {
		t.Errorf("%s.%s.%s is not known", name, mode, o.name)
		return
	}
	checked := 0
	for range 40 {
		var a, b, c, d Row
		for i := range a {
			a[i], b[i], c[i] = o.some(r), o.some(r), o.some(r)
		}
		op.Fn(&d, &a, &b, &c, &c)
		for i := range d {
			x, y, z := o.get(a[i]), o.get(b[i]), o.get(c[i])
			switch name {
			case "rcp":
				x, y = 1, x
			case "sqrt":
				y = 1
			}
			finite := math.Abs(x)+math.Abs(y) < math.Inf(1) && (name != "fma" || !math.IsInf(z, 0))
			if x != x || y != y || z != z && name == "fma" {
				if nan := uint64(1)<<(o.bits-1) - 1; d[i] != nan {
					t.Fatalf("%s.%s.%s of NaN: %#x", name, mode, o.name, d[i])
				}
				continue
			}
			if !finite && o.bits < 64 {
				continue
			}
			if math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(z, 0) {
				continue
			}
			exact, ok := ideal(name, x, y, z)
			if !ok {
				continue
			}
			checked++
			if want := o.round(exact, mode); d[i] != want {
				t.Fatalf("%s.%s.%s of %#x %#x %#x: %#x, not %#x", name, mode, o.name, a[i], b[i], c[i], d[i], want)
			}
		}
	}
	if checked < 100 {
		t.Errorf("%s.%s.%s: %d results checked", name, mode, o.name, checked)
	}
}

// TestPairs compares packed instructions with those on one value.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, f := range []string{"f16", "bf16"} {
		o := oracles[map[string]int{"f16": 0, "bf16": 1}[f]]
		for _, text := range []string{"add.rn", "sub.rn", "mul.rn", "fma.rn", "fma.rn.relu", "min", "max.NaN", "neg", "abs",
			"ex2.approx", "tanh.approx"} {
			words := strings.Split(text, ".")
			if f == "bf16" && words[0] == "ex2" {
				words = append(words, "ftz")
			}
			one, _, ok1 := Lookup(words[0], append(words[1:len(words):len(words)], f))
			two, _, ok2 := Lookup(words[0], append(words[1:len(words):len(words)], f+"x2"))
			if !ok1 || !ok2 {
				t.Errorf("%s.%s is not known", text, f)
				continue
			}
			var lo, hi, both [3]Row
			for k := range lo {
				for i := range Width {
					lo[k][i], hi[k][i] = o.some(r), o.some(r)
					both[k][i] = lo[k][i] | hi[k][i]<<16
				}
			}
			var dl, dh, d Row
			one.Fn(&dl, &lo[0], &lo[1], &lo[2], &lo[0])
			one.Fn(&dh, &hi[0], &hi[1], &hi[2], &lo[0])
			two.Fn(&d, &both[0], &both[1], &both[2], &lo[0])
			for i := range d {
				if d[i] != dl[i]|dh[i]<<16 {
					t.Fatalf("%s.%sx2: %#x, not %#x and %#x", text, f, d[i], dh[i], dl[i])
				}
			}
		}
	}
}

// TestFusedOnce has sums that lie so near to the middle between two results that rounding to a double first would lose
// on which side.
func TestFusedOnce(t *testing.T) {
	single := func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) }
	brain := func(v float64) uint64 { return single(v) >> 16 * 0x10001 }
	for _, c := range []struct {
		form          string
		code          func(v float64) uint64
		a, b, c, want float64
	}{
		{"f32", single, 1 + 0x1p-23, (1 - 0x1p-23) * 0x1p-24, 1 + 0x1p-23, 1 + 0x1p-23},
		{"f32", single, -1 - 0x1p-23, (1 - 0x1p-23) * 0x1p-24, -1 - 0x1p-23, -1 - 0x1p-23},
		{"f32", single, 1 + 0x1p-12, 1 + 0x1p-12, 0x1p-100, 1 + 0x1p-11 + 0x1p-23},
		{"bf16x2", brain, 3, 87, 0x1p-60, 262}, {"bf16x2", brain, 3, 87, -0x1p-60, 260}, {"bf16x2", brain, 3, 87, 0, 260},
		{"bf16x2", brain, -3, 87, -0x1p-60, -262}, {"bf16x2", brain, 0x1p-70, 0x1p-70, 0, 0},
	} {
		op, _, ok := Lookup("fma", []string{"rn", c.form})
		if !ok {
			t.Fatal(c.form)
		}
		var d, x, y, z Row
		x[3], y[3], z[3] = c.code(c.a), c.code(c.b), c.code(c.c)
		if op.Fn(&d, &x, &y, &z, &z); d[3] != c.code(c.want) {
			t.Errorf("%s: %g * %g + %g is %#x, not %#x", c.form, c.a, c.b, c.c, d[3], c.code(c.want))
		}
	}
}
