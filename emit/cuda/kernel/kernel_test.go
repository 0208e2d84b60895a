// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"math"
	"strings"
	"testing"

	"lathe/cuda/word"
)

// TestText: what is printed keeps its grouping and its bits.
func TestText(t *testing.T) {
	a, b := Of(&Var{"a", word.I32}), Of(&Var{"b", word.I32})
	f := Of(&Var{"f", word.F32})
	for want, e := range map[string]*Expr{
		"a - b - a":                    Binary("-", Binary("-", a, b), a),
		"a - (b - a)":                  Binary("-", a, Binary("-", b, a)),
		"(a + b) * a":                  Binary("*", Binary("+", a, b), a),
		"a * b + a":                    Binary("+", Binary("*", a, b), a),
		"(a & b) | a":                  Binary("|", Binary("&", a, b), a),
		"(a < b) && (b < a)":           Binary("&&", Binary("<", a, b), Binary("<", b, a)),
		"a < b ? a : (b < a ? b : a)":  Either(Binary("<", a, b), a, Either(Binary("<", b, a), b, a)),
		"(i64)(a + b)":                 Convert(word.I64, Binary("+", a, b)),
		"-(-f)":                        Unary("-", Unary("-", f)),
		"(-2147483647 - 1)":            Int(word.I32, math.MinInt32),
		"(-9223372036854775807ll - 1)": Int(word.I64, math.MinInt64),
		"(-5)":                         Int(word.I32, -5),
		"4294967295u":                  Int(word.U32, -1),
		"(i8)-128":                     Int(word.I8, 128),
		"(-1.0f)":                      Int(word.F32, -1),
		"0.5":                          {Kind: Lit, Type: word.F64, Bits: math.Float64bits(0.5)},
		"__int_as_float(0x7fc00000)":   {Kind: Lit, Type: word.F32, Bits: 0x7fc00000},
		"a != 0":                       Convert(word.Bool, a),
		"300":                          Convert(word.I32, Int(word.I64, 300)),
		"(u8)44":                       Convert(word.U8, Int(word.I64, 300)),
	} {
		if got := text(e, 0); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestInline: values that are read once move to their reader, not into loops; unread ones vanish.
func TestInline(t *testing.T) {
	x := &Param{Name: "x", Type: word.I8, Stride: 4}
	y := &Param{Name: "y", Type: word.I32, Out: true, Stride: 4}
	i, k := &Var{"i", word.U32}, &Var{"k", word.U32}
	v := map[string]*Var{}
	for _, n := range []string{"once", "twice", "outer", "unread", "sum"} {
		v[n] = &Var{n, word.I32}
	}
	load := func() *Expr { return Convert(word.I32, Element(x, Of(i))) }
	body := &Block{}
	body.Add(Let{v["once"], load()})
	body.Add(Let{v["twice"], Binary("+", Of(v["once"]), Int(word.I32, 1))})
	body.Add(Let{v["outer"], load()})
	body.Add(Let{v["unread"], Of(v["twice"])})
	body.Add(Declare{v["sum"], Int(word.I32, 0)})
	loop := &Block{}
	loop.Add(Set{v["sum"], Binary("+", Of(v["sum"]), Of(v["outer"]))})
	body.Add(For{k, 3, loop})
	body.Add(Store{y, Of(i), Binary("*", Binary("*", Of(v["twice"]), Of(v["twice"])), Of(v["sum"]))})
	kernel := &Kernel{Name: "f", Params: []*Param{x, y}, Index: i, Count: 4, Body: body}
	kernel.Inline()
	const want = `extern "C" __global__ void __launch_bounds__(128)
f(
    const i8* __restrict__ x,
    i32* __restrict__ y
) {
  const u32 i = blockIdx.x * 128 + threadIdx.x;
  if (i >= 4u) return;
  x += (u64)blockIdx.y * 4;
  y += (u64)blockIdx.y * 4;
  const i32 twice = (i32)x[i] + 1;
  const i32 outer = (i32)x[i];
  i32 sum = 0;
  for (u32 k = 0; k < 3u; k++) {
    sum = sum + outer;
  }
  y[i] = twice * twice * sum;
}
`
	if got := Print(kernel); got != want {
		t.Errorf("%s", got)
	}
	if !strings.Contains(Prelude, "typedef signed char i8;") {
		t.Error("the prelude lacks its types")
	}
}
