// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func parseBlock(t testing.TB, text string) Block {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f.(Block)
}

func TestBlocksWorked(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		text  string
		x     []float64
		scale int64
		codes []int64
	}{
		{"bfp(8,16,8)", []float64{1, 0.4, -0.001}, 128, []int64{0x40, 0x1a, 0}},
		{"bfp(8,16,8)", []float64{-1, nan, 0}, 128, []int64{0xc0, 0, 0}},
		{"bfp(8,16,8)", []float64{-inf, 1, 0}, 255, []int64{0xff, 0, 0}},
		{"bfp(8,16,8)", []float64{nan, 0}, 0, []int64{0, 0}},
		{"bfp(4,16,3)", []float64{100, -1}, 7, []int64{7, 0}},
		{"bfp(4,16,3,bias=0)", []float64{2, -1, 0.5}, 2, []int64{4, 10, 1}},
		{"bfp(8,16,8,dialect=mase)", []float64{1, 0.4}, 127, []int64{0x7f, 0x33}},
		{"bfp(8,16,8,dialect=mase)", []float64{1.5, 0.4}, 128, []int64{0x60, 0x1a}},
		{"mxint(8,4,dialect=mase)", []float64{1, 0.4, -1}, 127, []int64{127, 51, -128}},
		{"mxint(8,4,dialect=mase)", []float64{1.5, 0.4, -0.01}, 128, []int64{96, 26, -1}},
		{"mxint(8,4,dialect=mase)", []float64{inf, 1}, 255, []int64{127, 0}},
		{"mxint(8,4,dialect=mase)", []float64{nan, 0}, 0, []int64{0, 0}},
		{"mxfp(e4m3,32)", []float64{1, 0.4, 1.99}, 119, []int64{0x78, 0x6d, 0x7e}},
		{"mxfp8", []float64{1, inf}, 255, []int64{0, 0}},
		{"mxfp4", []float64{nan, 1}, 255, []int64{0, 0}},
		{"mxfp4", []float64{0, math.Copysign(0, -1)}, 0, []int64{0, 0}},
		{"mxfp4", []float64{6, 2.5, 5, 0.25, -0.75, math.Copysign(0, -1)}, 127, []int64{7, 4, 6, 0, 10, 8}},
		{"mxfp4", []float64{0x1p-140}, 0, []int64{0}},
		{"mxfp4", []float64{0x1p200, 1}, 254, []int64{7, 0}},
		{"mxfp(e5m2,32)", []float64{61440, 57344}, 127, []int64{0x7b, 0x7b}},
		{"bminifloat(4,3,16,8)", []float64{0.12, 0.05, -1e-6}, 19, []int64{0x7f, 0x75, 0x82}},
		{"bminifloat(4,3,16,8)", []float64{inf, 1}, 0, []int64{0x7f, 4}},
		{"bminifloat(4,3,16,8)", []float64{0, nan}, 0, []int64{0, 0}},
		{"blog(5,16,8)", []float64{0.12, 0.05, 0}, 18, []int64{0xf, 0xe, 0}},
		{"blog(5,16,8)", []float64{0.125, -0.125, -1e-9}, 18, []int64{0xf, 0x1f, 0}},
	} {
		b := parseBlock(t, c.text)
		codes := slices.Repeat([]int64{9}, len(c.x))
		scale := b.EncodeBlock(floats(c.x...), codes)
		if scale != c.scale || !slices.Equal(codes, c.codes) {
			t.Errorf("%s of %v = %d, %x, want %d, %x", c.text, c.x, scale, codes, c.scale, c.codes)
		}
	}
}

// blockDefinition is a block format as its definition has it: the value of every code and field, and the exponent of
// the shared field.
type blockDefinition struct {
	text  string
	value func(code, scale int64) *big.Rat // nil: infinite or NaN
	field func(amax *big.Rat) int          // before it is clamped
	most  int                              // the greatest field
	nan   int64                            // the field of NaN, -1: none
	zero  bool                             // zero has no sign
	twos  int64                            // of two's complement: the least code; 0: a sign and a magnitude
}

func two(n int) *big.Rat {
	p := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n))))
	if n < 0 {
		p.Inv(p)
	}
	return p
}

// floorLog2 and ceilLog2 count up and down from 1.
func floorLog2(x *big.Rat) int {
	n := 0
	for ; two(n).Cmp(x) > 0; n-- {
	}
	for ; two(n+1).Cmp(x) <= 0; n++ {
	}
	return n
}

func ceilLog2(x *big.Rat) int {
	if n := floorLog2(x); two(n).Cmp(x) < 0 {
		return n + 1
	}
	return floorLog2(x)
}

// floatValue is a code of float(e,m) with a bias.
func floatValue(e, m, bias int, code int64) *big.Rat {
	field, k := int(code>>m)&(1<<e-1), code&(1<<m-1)
	v := new(big.Rat).SetFrac64(k, 1<<m)
	if field > 0 {
		v.Add(v, two(0))
	}
	v.Mul(v, two(max(field, 1)-bias))
	if code>>(e+m)&1 != 0 {
		v.Neg(v)
	}
	return v
}

func mxDefinition(text string, e, m int, most int64, emax int) blockDefinition {
	return blockDefinition{text: text, most: 254, nan: 255,
		field: func(a *big.Rat) int { return floorLog2(a) - emax + 127 },
		value: func(code, scale int64) *big.Rat {
			if code&(1<<(e+m)-1) > most || scale == 255 {
				return nil
			}
			v := floatValue(e, m, 1<<(e-1)-1, code)
			return v.Mul(v, two(int(scale)-127))
		}}
}

var blockDefinitions = []blockDefinition{
	mxDefinition("mxfp(e4m3,8)", 4, 3, 0x7e, 8), mxDefinition("mxfp(e5m2,8)", 5, 2, 0x7b, 15),
	mxDefinition("mxfp(e3m2,8)", 3, 2, 0x1f, 4), mxDefinition("mxfp(e2m3,8)", 2, 3, 0x1f, 2),
	mxDefinition("mxfp(e2m1,8)", 2, 1, 7, 2), mxDefinition("mxfp(float(3,1),8)", 3, 1, 15, 4),
	{text: "bfp(5,8,4)", most: 15, nan: -1, zero: true, field: func(a *big.Rat) int { return floorLog2(a) + 1 + 7 },
		value: func(code, f int64) *big.Rat {
			v := new(big.Rat).SetInt64(code & 15)
			if code&16 != 0 {
				v.Neg(v)
			}
			return v.Mul(v, two(int(f)-7-4))
		}},
	{text: "bfp(5,8,4,dialect=mase)", most: 15, nan: -1, zero: true,
		field: func(a *big.Rat) int { return ceilLog2(a) + 7 },
		value: func(code, f int64) *big.Rat {
			v := new(big.Rat).SetInt64(code & 15)
			if code&16 != 0 {
				v.Neg(v)
			}
			return v.Mul(v, two(int(f)-7-4))
		}},
	{text: "bfp(3,8,8,bias=130)", most: 255, nan: -1, zero: true,
		field: func(a *big.Rat) int { return floorLog2(a) + 1 + 130 },
		value: func(code, f int64) *big.Rat {
			v := new(big.Rat).SetInt64(code & 3)
			if code&4 != 0 {
				v.Neg(v)
			}
			return v.Mul(v, two(int(f)-130-2))
		}},
	{text: "bminifloat(3,2,8,5)", most: 31, nan: -1, field: func(a *big.Rat) int { return 7 - floorLog2(a) },
		value: func(code, b int64) *big.Rat { return floatValue(3, 2, int(b), code) }},
	{text: "bminifloat(4,1,8,8)", most: 255, nan: -1, field: func(a *big.Rat) int { return 15 - floorLog2(a) },
		value: func(code, b int64) *big.Rat { return floatValue(4, 1, int(b), code) }},
	{text: "blog(5,8,6)", most: 63, nan: -1, zero: true, field: func(a *big.Rat) int { return 15 - ceilLog2(a) },
		value: func(code, b int64) *big.Rat {
			if code&15 == 0 {
				return new(big.Rat)
			}
			v := two(int(code&15) - int(b))
			if code&16 != 0 {
				v.Neg(v)
			}
			return v
		}},
}

// mxintDefinition has steps of 2^-shift at scale 1.
func mxintDefinition(text string, shift int, least int64, nan int64, field func(*big.Rat) int) blockDefinition {
	most := 254
	if nan < 0 {
		most = 255
	}
	return blockDefinition{text: text, most: most, nan: nan, twos: least, field: field,
		value: func(code, scale int64) *big.Rat {
			if scale == nan {
				return nil
			}
			v := new(big.Rat).SetInt64(code)
			return v.Mul(v, two(int(scale)-127-shift))
		}}
}

var intDefinitions = []blockDefinition{
	mxintDefinition("mxint(6,8)", 4, -31, 255, func(a *big.Rat) int { return floorLog2(a) + 127 }),
	mxintDefinition("mxint(3,8)", 1, -3, 255, func(a *big.Rat) int { return floorLog2(a) + 127 }),
	mxintDefinition("mxint(6,8,dialect=mase)", 5, -32, -1, func(a *big.Rat) int { return ceilLog2(a) + 127 }),
}

// TestBlockDecode decodes all pairs of a code and a field.
func TestBlockDecode(t *testing.T) {
	for _, d := range slices.Concat(blockDefinitions, intDefinitions) {
		b := parseBlock(t, d.text)
		out := make([]Exact, 1)
		for scale := range int64(1) << b.ScaleWidth() {
			for _, code := range codes(b) {
				b.DecodeBlock([]int64{code}, scale, out)
				want := d.value(code, scale)
				if want == nil != !out[0].IsFinite() || want != nil && out[0].Rat().Cmp(want) != 0 {
					t.Fatalf("%s: code %x field %d is %v, want %v", d.text, code, scale, out[0], want)
				}
				whole := FromInt(b.ElementInt(code), b.ElementExp(scale))
				if want != nil && whole.Rat().Cmp(want) != 0 {
					t.Fatalf("%s: code %x field %d is %v as an integer, want %v", d.text, code, scale, whole, want)
				}
			}
		}
	}
}

// encode is the definition: the field of the greatest magnitude, then for each element a search for the nearest.
func (d *blockDefinition) encode(x []Exact, width int) (scale int64, codes []int64) {
	amax := new(big.Rat)
	for _, v := range x {
		if a := v.Abs().Rat(); a.Cmp(amax) > 0 {
			amax = a
		}
	}
	codes = make([]int64, len(x))
	if amax.Sign() == 0 {
		return 0, codes
	}
	scale = int64(min(max(d.field(amax), 0), d.most))
	for i, v := range x {
		best, near := int64(-1), new(big.Rat)
		for c := range int64(1) << (width - 1) {
			gap := d.gap(c, scale, v.Abs())
			if gap == nil {
				continue
			}
			if cmp := gap.Cmp(near); best < 0 || cmp < 0 || cmp == 0 && c&1 == 0 {
				best, near = c, gap
			}
		}
		switch {
		case !v.Signbit():
			codes[i] = best
		case d.twos == 0 && (best != 0 || !d.zero):
			codes[i] = best | 1<<(width-1)
		case d.twos != 0:
			if codes[i] = -best; -best-1 == d.twos && d.gap(best+1, scale, v.Abs()).Cmp(near) < 0 {
				codes[i] = d.twos
			}
		}
	}
	return scale, codes
}

// gap is the distance of a magnitude to that of a code, nil where the code has none.
func (d *blockDefinition) gap(code, scale int64, a Exact) *big.Rat {
	w := d.value(code, scale)
	if w == nil {
		return nil
	}
	w.Sub(w, a.Rat())
	return w.Abs(w)
}

// TestBlockEncode compares blocks of all sizes and magnitudes, on ties and beside them, with the definition.
func TestBlockEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range slices.Concat(blockDefinitions, intDefinitions) {
		b := parseBlock(t, d.text)
		lo, hi := b.ScaleLimits()
		for range 150 {
			x := make([]Exact, 1+r.IntN(8))
			v, base := make([]int64, len(x)), lo-12+r.IntN(hi-lo+24)
			for i := range x {
				v[i] = (r.Int64N(1<<r.IntN(13)) - r.Int64N(1<<r.IntN(9))) >> r.IntN(3)
				x[i] = FromInt(v[i], base)
			}
			scale, codes := d.encode(x, b.Width())
			got := make([]int64, len(x))
			if s := b.EncodeBlock(x, got); s != scale || !slices.Equal(got, codes) {
				t.Fatalf("%s of %v = %d, %x, want %d, %x", d.text, x, s, got, scale, codes)
			}
			if s := b.EncodeInts(v, base, got); s != scale || !slices.Equal(got, codes) {
				t.Fatalf("%s of integers %v = %d, %x, want %d, %x", d.text, v, s, got, scale, codes)
			}
			wide := make([]Exact, len(x)) // a last bit far below decides ties
			for i := range x {
				wide[i] = x[i].Add(FromInt(r.Int64N(3)-1, base-90))
			}
			scale, codes = d.encode(wide, b.Width())
			if s := b.EncodeBlock(wide, got); s != scale || !slices.Equal(got, codes) {
				t.Fatalf("%s of %v = %d, %x, want %d, %x", d.text, wide, s, got, scale, codes)
			}
		}
	}
}

// TestDefinitions demands of every family a definition in rational numbers, beside which its encoder is tested.
func TestDefinitions(t *testing.T) {
	own := []string{"fixed(8,4)", "ufixed(8,4)", "int(8)*0.1", "uint(8)*0.1", "e8m0"} // in tests of their own
	texts := slices.Concat(own, tableTexts)
	for _, d := range slices.Concat(blockDefinitions, intDefinitions) {
		texts = append(texts, d.text)
	}
	for _, d := range signDefinitions {
		texts = append(texts, d.text)
	}
	for _, s := range specs() {
		texts = append(texts, s.text())
	}
	for _, family := range slices.Concat(scalars(), blocks()) {
		if !slices.ContainsFunc(texts, func(text string) bool { return FamilyOf(mustParse(t, text)) == family.Name }) {
			t.Errorf("%s has no definition in the tests: docs/extending.md says of which kind", family.Name)
		}
	}
}

// TestBlockRounding holds the other roundings of elements to RoundTo: their steps are those of the value below.
func TestBlockRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for mode := RoundAway; mode <= RoundOutward; mode++ {
		for _, text := range []string{"mxfp(e4m3,4", "bfp(6,4,8", "bminifloat(3,2,4,6"} {
			b := parseBlock(t, text+",round="+mode.String()+")")
			_, hi := b.Limits()
			for range 500 {
				v := FromInt(r.Int64N(1<<16)-1<<15, -8-r.IntN(8))
				exp, _, _ := b.Element().Lattice()
				step := exp
				if e, ok := b.(MXFP); ok {
					step = max(exp, v.Log2()-e.elem.m)
				} else if e, ok := b.(BMinifloat); ok {
					step = max(exp, v.Log2()-e.elem.m)
				}
				want := Max(Min(v.RoundTo(step, mode), hi), hi.Neg())
				if got := b.Decode(b.Encode(v)); got.Cmp(want) != 0 {
					t.Fatalf("%v of %v = %v, want %v", b, v, got, want)
				}
			}
		}
	}
}

func TestBlockTexts(t *testing.T) {
	for in, want := range map[string]string{
		"mxfp(e4m3,32)": "mxfp8", "mxfp(e2m3,32)": "mxfp6", "mxfp(e2m1,32)": "mxfp4", "mxfp(e2m1,16)": "mxfp(e2m1,16)",
		"mxfp(float(2,1),32)": "mxfp4", "mxfp(float(4,3,fn,over=nan),32)": "mxfp8",
		"mxfp(float(4,3,bias=5),8)": "mxfp(float(4,3,bias=5),8)",
		"mxfp(float(4,3),32)":       "mxfp(float(4,3),32)", "mxfp6": "mxfp6",
		"mxfp(e5m2,32,round=away,axis=1)": "mxfp(e5m2,32,round=away,axis=1)", "bfp(8,16,8,bias=127)": "bfp(8,16,8)",
		"bfp(4,16,3,bias=7)": "bfp(4,16,3,bias=7)", "bminifloat(4,3,16,8)": "bminifloat(4,3,16,8)",
		"blog(5,16,8,round=floor)": "blog(5,16,8,round=floor)", "bfp(2,1,1)": "bfp(2,1,1)",
		"mxint(8,32,dialect=mase)":          "mxint(8,32,dialect=mase)",
		"bfp(8,16,8,dialect=mase,round=up)": "bfp(8,16,8,round=up,dialect=mase)",
		"mxint(4,8,round=up,dialect=mase)":  "mxint(4,8,round=up,dialect=mase)",
	} {
		f, err := Parse(in)
		if err != nil || f.String() != want {
			t.Errorf("%s prints as %v (%v), want %s", in, f, err, want)
			continue
		}
		again, err := Parse(want)
		if err != nil || again != f {
			t.Errorf("%s read again: %v", want, err)
		}
	}
	for _, bad := range []string{"mxfp(e4m3)", "mxfp(e4m4,32)", "mxfp(float(7,1),4)", "mxfp(float(4,3,fnuz),4)",
		"mxfp(fixed(8,4),4)", "mxfp(float(4,3,round=up),4)", "mxfp(float(4),4)", "mxfp(e4m3,0)",
		"bfp(1,16,8)", "bfp(8,16,9)", "bfp(8,16)", "bminifloat(4,3,16)", "blog(1,16,8)", "blog(5,16,8)*2", "mxfp8(32)"} {
		if f, err := Parse(bad); err == nil {
			t.Errorf("%s is %v", bad, f)
		}
	}
}
