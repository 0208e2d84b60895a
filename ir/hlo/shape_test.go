// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"slices"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
)

// count is an array 0, 1, 2, ...
func count(d hlo.DType, dims ...int) hlo.Array {
	v := make([]int64, hlo.Type{Dims: dims}.Len())
	for i := range v {
		v[i] = int64(i)
	}
	return hlo.FromInt64s(d, dims, v)
}

// gather makes an array of dims from a function of the index.
func gather(dims []int, f func(at []int) int64) []int64 {
	out := make([]int64, hlo.Type{Dims: dims}.Len())
	at := make([]int, len(dims))
	for i := range out {
		rest := i
		for a := len(dims) - 1; a >= 0; a-- {
			at[a], rest = rest%dims[a], rest/dims[a]
		}
		out[i] = f(at)
	}
	return out
}

type shapeCase struct {
	name string
	v    hlo.Value
	dims []int
	want func(at []int) int64
}

func runShapes(t *testing.T, b *hlo.Builder, cases []shapeCase, args ...hlo.Array) {
	t.Helper()
	var outs []hlo.Value
	for _, c := range cases {
		outs = append(outs, c.v)
		if err := b.Err(); err != nil {
			t.Fatal(c.name, err)
		}
		if !slices.Equal(c.v.Type().Dims, c.dims) {
			t.Fatalf("%s has type %s, want dimensions %v", c.name, c.v.Type(), c.dims)
		}
	}
	b.Return(outs...)
	for i, a := range pjrttest.Run(t, b, args...) {
		c := cases[i]
		if !a.Type.Equal(c.v.Type()) {
			t.Errorf("%s: result %s, inferred %s", c.name, a.Type, c.v.Type())
		}
		if got, want := a.Int64s(), gather(c.dims, c.want); !slices.Equal(got, want) {
			t.Errorf("%s = %v\nwant %v", c.name, got, want)
		}
	}
}

func TestShapes(t *testing.T) {
	b := hlo.New("shapes")
	x := b.Arg("x", hlo.TypeOf(hlo.I32, 2, 3, 4)) // element 12i+4j+k
	at := func(i, j, k int) int64 { return int64(12*i + 4*j + k) }
	row := b.Const(count(hlo.I32, 3))
	idx := b.Const(hlo.FromInt64s(hlo.I32, []int{2, 2}, []int64{2, 0, -5, 99}))
	near := []int64{2, 0, 0, 2}
	runShapes(t, b, []shapeCase{
		{"reshape", b.Reshape(x, 4, 6), []int{4, 6}, func(a []int) int64 { return int64(6*a[0] + a[1]) }},
		{"scalar", b.Reshape(b.SliceAxis(b.Reshape(x, 24), 0, 7, 8)), nil, func([]int) int64 { return 7 }},
		{"transpose", b.Transpose(x, 2, 0, 1), []int{4, 2, 3}, func(a []int) int64 { return at(a[1], a[2], a[0]) }},
		{"along", b.Along(row, x.Type().Dims, 1), []int{2, 3, 4}, func(a []int) int64 { return int64(a[1]) }},
		{"to", b.BroadcastTo(b.Reshape(row, 3, 1), 2, 3, 4), []int{2, 3, 4},
			func(a []int) int64 { return int64(a[1]) }},
		{"splat", b.Splat(x, -9), []int{2, 3, 4}, func([]int) int64 { return -9 }},
		{"slice", b.Slice(x, []int{1, 0, 1}, []int{2, 3, 4}, []int{1, 2, 2}), []int{1, 2, 2},
			func(a []int) int64 { return at(1, 2*a[1], 1+2*a[2]) }},
		{"axis", b.SliceAxis(x, 1, 1, 3), []int{2, 2, 4}, func(a []int) int64 { return at(a[0], a[1]+1, a[2]) }},
		{"empty", b.SliceAxis(x, 1, 1, 1), []int{2, 0, 4}, nil},
		{"concat", b.Concat(1, x, b.SliceAxis(x, 1, 0, 1)), []int{2, 4, 4},
			func(a []int) int64 { return at(a[0], a[1]%3, a[2]) }},
		{"pad", b.Pad(b.SliceAxis(x, 2, 0, 2), b.Int(hlo.I32, 77), []int{0, 1, -1}, []int{0, 0, 2}, []int{1, 0, 0}),
			[]int{3, 4, 3}, func(a []int) int64 {
				if a[0] == 1 || a[1] == 0 || a[2] > 0 {
					return 77
				}
				return at(a[0]/2, a[1]-1, 1)
			}},
		{"reverse", b.Reverse(x, 0, 2), []int{2, 3, 4}, func(a []int) int64 { return at(1-a[0], a[1], 3-a[2]) }},
		{"iota", b.Iota(hlo.TypeOf(hlo.I64, 2, 5), 1), []int{2, 5}, func(a []int) int64 { return int64(a[1]) }},
		{"take", b.TakeI(row, idx), []int{2, 2}, func(a []int) int64 { return near[2*a[0]+a[1]] }},
		{"rows", b.TakeI(b.Reshape(b.SliceAxis(x, 0, 0, 1), 3, 4), idx), []int{2, 2, 4},
			func(a []int) int64 { return at(0, int(near[2*a[0]+a[1]]), a[2]) }},
		{"one", b.TakeI(row, b.Int(hlo.I64, 1)), nil, func([]int) int64 { return 1 }},
		{"select", b.Select(b.Compare(hlo.GT, b.Int(hlo.I32, 2), b.Int(hlo.I32, 1)), x, b.Int(hlo.I32, 5)),
			[]int{2, 3, 4}, func(a []int) int64 { return at(a[0], a[1], a[2]) }},
	}, count(hlo.I32, 2, 3, 4))
}

func TestReductions(t *testing.T) {
	b := hlo.New("reductions")
	x := b.Arg("x", hlo.TypeOf(hlo.I32, 2, 6, 6, 2))
	v := func(a ...int) int64 { return (int64(72*a[0]+12*a[1]+2*a[2]+a[3])*37)%101 - 50 }
	reduced := func(f hlo.Reducer, values []int64) int64 {
		if len(values) == 0 {
			return 0
		}
		out := values[0]
		for _, n := range values[1:] {
			switch f {
			case hlo.ReduceAdd:
				out += n
			case hlo.ReduceMax:
				out = max(out, n)
			case hlo.ReduceMin:
				out = min(out, n)
			}
		}
		return out
	}
	line := func(a []int) (out []int64) { // over axes 1 and 3
		for i := range 6 {
			out = append(out, v(a[0], i, a[1], 0), v(a[0], i, a[1], 1))
		}
		return out
	}
	under := func(a []int) (out []int64) { // 3x2 windows, stride 2x1, dilation 1x2, padding 1 above and left
		for i := range 3 {
			for j := range 2 {
				if h, w := 2*a[1]+i-1, a[2]+2*j-1; h >= 0 && h < 6 && w >= 0 && w < 6 {
					out = append(out, v(a[0], h, w, a[3]))
				}
			}
		}
		return out
	}
	w := hlo.Window{Size: []int{3, 2}, Stride: []int{2, 1}, Dilation: []int{1, 2}, Low: []int{1, 1}, High: []int{0, 0}}
	var cases []shapeCase
	for _, f := range []hlo.Reducer{hlo.ReduceAdd, hlo.ReduceMax, hlo.ReduceMin} {
		cases = append(cases,
			shapeCase{"reduce", b.Reduce(f, x, 1, 3), []int{2, 6}, func(a []int) int64 { return reduced(f, line(a)) }},
			shapeCase{"keep", b.ReduceKeep(f, x, 1, 3), []int{2, 1, 6, 1},
				func(a []int) int64 { return reduced(f, line([]int{a[0], a[2]})) }},
			shapeCase{"window", b.ReduceWindow(f, x, w.Spatial(x)), []int{2, 3, 5, 2},
				func(a []int) int64 { return reduced(f, under(a)) }})
	}
	cases = append(cases, shapeCase{"argmax", b.ArgMax(b.Rem(x, b.Int(hlo.I32, 5)), 2), []int{2, 6, 2},
		func(a []int) int64 {
			best := 0
			for i := range 6 {
				if v(a[0], a[1], i, a[2])%5 > v(a[0], a[1], best, a[2])%5 {
					best = i
				}
			}
			return int64(best)
		}})
	data := gather([]int{2, 6, 6, 2}, func(a []int) int64 { return v(a...) })
	runShapes(t, b, cases, hlo.FromInt64s(hlo.I32, []int{2, 6, 6, 2}, data))
}

// TestReducerStarts reduces no elements at all, which leaves the start value of each reducer and type.
func TestReducerStarts(t *testing.T) {
	b := hlo.New("starts")
	var outs []hlo.Value
	types := []hlo.DType{hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64, hlo.F32, hlo.F64}
	for _, d := range types {
		none := b.SliceAxis(b.Iota(hlo.TypeOf(d, 3), 0), 0, 1, 1)
		for _, f := range []hlo.Reducer{hlo.ReduceAdd, hlo.ReduceMax, hlo.ReduceMin} {
			v := b.Reduce(f, none, 0)
			if !d.IsFloat() {
				outs = append(outs, v)
				continue
			}
			outs = append(outs, b.Convert(b.Clamp(b.Float(d, -9), v, b.Float(d, 9)), hlo.I64))
		}
	}
	b.Return(outs...)
	got := pjrttest.Run(t, b)
	want := []int64{0, -128, 127, 0, -1 << 31, 1<<31 - 1, 0, -1 << 63, 1<<63 - 1, 0, 0, 255, 0, 0, 1<<32 - 1, 0, 0, -1,
		0, -9, 9, 0, -9, 9}
	for i, w := range want {
		if v := got[i].Int64s()[0]; v != w {
			t.Errorf("%s start %d is %d, want %d", types[i/3], i%3, v, w)
		}
	}
}
