// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
)

func random(d hlo.DType, bits int, seed uint64, dims ...int) hlo.Array {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]int64, hlo.Type{Dims: dims}.Len())
	for i := range v {
		v[i] = r.Int64N(1<<bits) - 1<<(bits-1)
		if r.IntN(8) == 0 {
			v[i] = -1 << (bits - 1)
		}
	}
	return hlo.FromInt64s(d, dims, v)
}

func TestDot(t *testing.T) {
	xa, ya := random(hlo.I8, 8, 1, 3, 5, 7), random(hlo.I8, 8, 2, 7, 3, 4)
	x, y := xa.Int64s(), ya.Int64s()
	b := hlo.New("dot")
	xv, yv := b.Arg("x", xa.Type), b.Arg("y", ya.Type)
	wide := func(v hlo.Value) hlo.Value { return b.Convert(v, hlo.I32) }
	dot := func(i, j, k int) (s int64) {
		for c := range 7 {
			s += x[35*i+7*j+c] * y[12*c+4*i+k]
		}
		return s
	}
	batch := hlo.Dot{LhsContract: []int{2}, RhsContract: []int{0}, LhsBatch: []int{0}, RhsBatch: []int{1}}
	runShapes(t, b, []shapeCase{
		{"batch", b.DotGeneral(wide(xv), wide(yv), batch, hlo.I32), []int{3, 5, 4},
			func(a []int) int64 { return dot(a[0], a[1], a[2]) }},
		{"i8 into i32", b.DotGeneral(xv, yv, batch, hlo.I32), []int{3, 5, 4},
			func(a []int) int64 { return dot(a[0], a[1], a[2]) }},
		{"outer", b.DotGeneral(wide(b.Reshape(xv, 105)), wide(b.Reshape(yv, 84)), hlo.Dot{}, hlo.I32), []int{105, 84},
			func(a []int) int64 { return x[a[0]] * y[a[1]] }},
		{"two axes", b.DotGeneral(wide(xv), wide(yv),
			hlo.Dot{LhsContract: []int{2, 0}, RhsContract: []int{0, 1}}, hlo.I32), []int{5, 4},
			func(a []int) int64 { return dot(0, a[0], a[1]) + dot(1, a[0], a[1]) + dot(2, a[0], a[1]) }},
	}, xa, ya)
}

// TestDotEdge has sums of 2^k+1 or 2^k that the next narrower carrier cannot hold.
func TestDotEdge(t *testing.T) {
	for _, c := range []struct {
		x, y  []int64
		bits  int
		small bool // both operands as I8
	}{
		{[]int64{1 << 12, 1}, []int64{1 << 12, 1}, 25, false}, {[]int64{1 << 15}, []int64{1 << 16}, 32, false},
		{[]int64{1 << 27, 1}, []int64{1 << 26, 1}, 54, false}, {[]int64{1 << 31, 3}, []int64{1 << 31, 1}, 63, false},
		{slices.Repeat([]int64{-128}, 1<<16), slices.Repeat([]int64{-128}, 1<<16), 31, true},
		{slices.Repeat([]int64{-128, 127}, 1<<15), slices.Repeat([]int64{127, -128}, 1<<15), 31, true},
		{slices.Repeat([]int64{127}, 1023), slices.Repeat([]int64{-128}, 1023), 24, true},
	} {
		var want int64
		for i := range c.x {
			want += c.x[i] * c.y[i]
		}
		d := map[bool]hlo.DType{true: hlo.I8, false: hlo.I64}[c.small]
		k := len(c.x)
		for _, shape := range [][2]int{{1, 1}, {5, 33}, {40, 17}} { // rows of x and of y
			b := hlo.New("edge")
			x := b.Arg("x", hlo.TypeOf(d, shape[0], k))
			y := b.Weight(hlo.FromInt64s(d, []int{shape[1], k}, slices.Repeat(c.y, shape[1])))
			b.Return(b.DotInt(x, y, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}, c.bits))
			in := hlo.FromInt64s(d, []int{shape[0], k}, slices.Repeat(c.x, shape[0]))
			for i, v := range pjrttest.Run(t, b, in)[0].Int64s() {
				if v != want {
					t.Fatalf("%d terms, %d bits, shape %v: element %d is %d, want %d", k, c.bits, shape, i, v, want)
				}
			}
		}
	}
}

// TestDotInt takes random operands whose sums come near each bound.
func TestDotInt(t *testing.T) {
	cases := []struct{ xbits, ybits, bound int }{{8, 8, 22}, {16, 9, 31}, {25, 22, 53}, {32, 15, 53}, {32, 25, 63}}
	for _, c := range cases {
		xa, ya := random(hlo.I64, c.xbits, 1, 9, 64), random(hlo.I64, c.ybits, 2, 6, 64)
		x, y := xa.Int64s(), ya.Int64s()
		b := hlo.New("dotint")
		v := b.DotInt(b.Arg("x", xa.Type), b.Weight(ya), hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}, c.bound)
		if want := map[bool]hlo.DType{true: hlo.I32, false: hlo.I64}[c.bound <= 31]; v.Type().DType != want {
			t.Errorf("bound %d gives %s", c.bound, v.Type())
		}
		runShapes(t, b, []shapeCase{{fmt.Sprint(c), v, []int{9, 6}, func(a []int) (s int64) {
			for k := range 64 {
				s += x[64*a[0]+k] * y[64*a[1]+k]
			}
			return s
		}}}, xa)
	}
}

type convCase struct {
	lead   []int
	in     []int // H, W, C
	kernel []int // O, KH, KW, I
	c      hlo.Conv
}

var convCases = []convCase{
	{[]int{2}, []int{6, 5, 3}, []int{4, 3, 3, 3}, hlo.Conv{}},
	{[]int{2, 3}, []int{6, 5, 3}, []int{4, 3, 2, 3},
		hlo.Conv{Stride: []int{2, 1}, Low: []int{1, 0}, High: []int{0, 1}}},
	{nil, []int{7, 7, 4}, []int{6, 3, 3, 2}, hlo.Conv{Groups: 2, KernelDilation: []int{2, 1}}},
	{[]int{1}, []int{7, 7, 4}, []int{4, 3, 3, 1}, hlo.Conv{Groups: 4, Low: []int{1, 1}, High: []int{1, 1}}},
	{[]int{2}, []int{4, 3, 2}, []int{3, 3, 3, 2},
		hlo.Conv{InDilation: []int{2, 3}, Low: []int{2, 2}, High: []int{2, 1}}},
	{[]int{2}, []int{5, 5, 2}, []int{3, 1, 1, 2}, hlo.Conv{Low: []int{-1, 0}, High: []int{0, -1}, Stride: []int{1, 3}}},
	{[]int{2}, []int{6, 5, 11}, []int{4, 3, 3, 11}, hlo.Conv{}}, // more than 96 terms
	{[]int{2}, []int{5, 6, 3}, []int{3, 2, 3, 1}, hlo.Conv{Groups: 3, Stride: []int{2, 1}, KernelDilation: []int{1, 2},
		Low: []int{2, -1}, High: []int{1, 3}}},
	{nil, []int{4, 5, 3}, []int{3, 3, 2, 1}, hlo.Conv{Groups: 3, InDilation: []int{3, 2}, Low: []int{0, 1}}},
	{[]int{2}, []int{12, 12, 2}, []int{2, 9, 9, 1}, hlo.Conv{Groups: 2}}, // more than 64 taps
	{[]int{2}, []int{2, 2, 2}, []int{2, 3, 3, 1}, hlo.Conv{Groups: 2}},   // no output
	{[]int{2, 2}, []int{7, 2}, []int{2, 3, 1}, hlo.Conv{Groups: 2}},
	{[]int{4}, []int{9, 3}, []int{5, 4, 3}, hlo.Conv{Stride: []int{2}, Low: []int{1}, High: []int{2}}},
}

// convAt computes one output by the definition; at is [spatial..., O].
func (k convCase) at(x, w []int64, sample int, at []int) (sum int64) {
	n := len(k.in) - 1
	channels, per := k.in[n], k.kernel[n+1]
	group := at[n] / (k.kernel[0] / max(k.c.Groups, 1))
	get := func(s []int, i, def int) int {
		if s == nil {
			return def
		}
		return s[i]
	}
	taps := hlo.Type{Dims: k.kernel[1 : n+1]}.Len()
	for tap := range taps {
		rest, pos, ok := tap, 0, true
		offset := make([]int, n)
		for i := n - 1; i >= 0; i-- {
			offset[i], rest = rest%k.kernel[1+i], rest/k.kernel[1+i]
		}
		for i := range n {
			p := at[i]*get(k.c.Stride, i, 1) + offset[i]*get(k.c.KernelDilation, i, 1) - get(k.c.Low, i, 0)
			d := get(k.c.InDilation, i, 1)
			ok = ok && p >= 0 && p%d == 0 && p/d < k.in[i]
			pos = pos*k.in[i] + p/d
		}
		for c := 0; ok && c < per; c++ {
			sum += x[(sample*hlo.Type{Dims: k.in[:n]}.Len()+pos)*channels+group*per+c] * w[(at[n]*taps+tap)*per+c]
		}
	}
	return sum
}

func TestConvInt(t *testing.T) {
	for i, k := range convCases {
		b := hlo.New("conv")
		xa := random(hlo.I8, 8, uint64(i), append(slices.Clone(k.lead), k.in...)...)
		wa := random(hlo.I8, 8, uint64(i+50), k.kernel...)
		x, w := xa.Int64s(), wa.Int64s()
		xv, wv := b.Arg("x", xa.Type), b.Weight(wa)
		n := len(k.lead)
		var cases []shapeCase
		for _, bound := range []int{24, 31, 50, 60} {
			v := b.ConvInt(xv, wv, k.c, bound)
			name := fmt.Sprintf("case %d bound %d", i, bound)
			cases = append(cases, shapeCase{name, v, v.Type().Dims, func(a []int) int64 {
				sample := 0
				for j, d := range k.lead {
					sample = sample*d + a[j]
				}
				return k.at(x, w, sample, a[n:])
			}})
		}
		runShapes(t, b, cases, xa)
	}
}

// TestConvAxes names the axes in another order.
func TestConvAxes(t *testing.T) {
	b := hlo.New("axes")
	xa, wa := random(hlo.I32, 8, 1, 2, 3, 6, 5), random(hlo.I32, 8, 2, 4, 3, 3, 2) // NCHW, OIHW
	x, w := b.Arg("x", xa.Type), b.Arg("w", wa.Type)
	direct := b.Convolution(x, w, hlo.Conv{Input: "bf01", Kernel: "oi01", Output: "bf01"}, hlo.I32)
	last := b.ConvLast(b.Transpose(x, 0, 2, 3, 1), b.Transpose(w, 0, 2, 3, 1), hlo.Conv{})
	b.Return(direct, b.Transpose(last, 0, 3, 1, 2))
	got := pjrttest.Run(t, b, xa, wa)
	if !got[0].Type.Equal(hlo.TypeOf(hlo.I32, 2, 4, 4, 4)) || !slices.Equal(got[0].Int64s(), got[1].Int64s()) {
		t.Errorf("%v\n%v", got[0].Int64s(), got[1].Int64s())
	}
}
