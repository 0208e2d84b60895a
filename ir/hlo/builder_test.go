// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// TestConst reads constants of every type back, splat, listed and promoted to a weight.
func TestConst(t *testing.T) {
	long := make([]int64, 2000)
	for i := range long {
		long[i] = int64(i % 120)
	}
	b := hlo.New("const")
	var in []hlo.Array
	for _, d := range []hlo.DType{hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64, hlo.F32, hlo.F64} {
		in = append(in, hlo.FromInt64s(d, []int{2, 1, 2}, []int64{1, 0, 3, 127}),
			hlo.FromInt64s(d, []int{3}, []int64{5, 5, 5}),
			hlo.FromInt64s(d, []int{2, 1000}, long), hlo.FromInt64s(d, []int{0, 3}, nil))
	}
	in = append(in, hlo.FromInt64s(hlo.I1, []int{3}, []int64{1, 0, 1}), hlo.FromInt64s(hlo.I1, nil, []int64{1}),
		hlo.FromInt64s(hlo.I64, []int{2}, []int64{math.MinInt64, math.MaxInt64}),
		hlo.Array{Type: hlo.TypeOf(hlo.UI64), Data: []byte{255, 255, 255, 255, 255, 255, 255, 255}},
		hlo.FromFloat64s(hlo.F32, []int{4}, []float64{math.NaN(), math.Inf(-1), -0.1, math.Copysign(0, -1)}),
		hlo.FromFloat64s(hlo.F64, []int{2}, []float64{math.Pi, math.Inf(1)}))
	var outs []hlo.Value
	for _, a := range in {
		outs = append(outs, b.Const(a), b.Const(a))
	}
	b.Return(outs...)
	if n := len(b.Program().Weights); n != 16 {
		t.Errorf("%d weights, want 16: two of 2000 elements for each of 8 types", n)
	}
	for i, a := range pjrttest.Run(t, b) {
		if w := in[i/2]; string(a.Data) != string(w.Data) || !a.Type.Equal(w.Type) {
			t.Errorf("%s: %v, want %v", w.Type, a.Data, w.Data)
		}
	}
}

func TestArrays(t *testing.T) {
	for name, a := range map[string]hlo.Array{
		"count":    hlo.FromInt64s(hlo.I8, []int{3}, []int64{1}),
		"range":    hlo.FromInt64s(hlo.I8, []int{1}, []int64{128}),
		"sign":     hlo.FromInt64s(hlo.UI32, []int{1}, []int64{-1}),
		"i1":       hlo.FromInt64s(hlo.I1, []int{1}, []int64{2}),
		"f32":      hlo.FromInt64s(hlo.F32, []int{1}, []int64{1<<24 + 1}),
		"f64":      hlo.FromInt64s(hlo.F64, []int{1}, []int64{math.MaxInt64}),
		"type":     hlo.FromInt64s("i4", []int{1}, []int64{1}),
		"dims":     hlo.FromInt64s(hlo.I8, []int{-1}, []int64{1}),
		"big":      hlo.FromFloat32s([]int{1 << 30, 1 << 30}, nil),
		"float":    hlo.FromFloat64s(hlo.I32, nil, []float64{1}),
		"bytes":    {Type: hlo.TypeOf(hlo.I32, 2), Data: make([]byte, 7)},
		"no type":  {},
		"f64 rows": hlo.FromFloat64s(hlo.F64, []int{2}, []float64{1}),
	} {
		if a.Check() == "" || a.Int64s() != nil || a.Float64s() != nil {
			t.Errorf("%s: %q, %v", name, a.Check(), a.Int64s())
		}
		b := hlo.New("x")
		b.Const(a)
		if diag.CodeOf(b.Err()) != diag.HLOBuild {
			t.Errorf("%s: %v", name, b.Err())
		}
	}
	back := hlo.FromFloat64s(hlo.F32, []int{2}, []float64{0.1, -2}).Float64s()
	if back[0] != float64(float32(0.1)) || back[1] != -2 {
		t.Error(back)
	}
}

func i32(b *hlo.Builder, dims ...int) hlo.Value { return b.Arg("x", hlo.TypeOf(hlo.I32, dims...)) }
func f32(b *hlo.Builder, dims ...int) hlo.Value { return b.Arg("y", hlo.TypeOf(hlo.F32, dims...)) }

// mistakes are wrong calls by name.
var mistakes = map[string]func(b *hlo.Builder) hlo.Value{
	"arg":       func(b *hlo.Builder) hlo.Value { return b.Arg("x", hlo.TypeOf("i4")) },
	"shapes":    func(b *hlo.Builder) hlo.Value { return b.Add(i32(b, 2), i32(b, 3)) },
	"types":     func(b *hlo.Builder) hlo.Value { return b.Add(i32(b, 2), f32(b, 2)) },
	"zero":      func(b *hlo.Builder) hlo.Value { return b.Add(i32(b, 2), hlo.Value{}) },
	"foreign":   func(b *hlo.Builder) hlo.Value { return b.Neg(i32(hlo.New("other"), 2)) },
	"float and": func(b *hlo.Builder) hlo.Value { return b.And(f32(b, 2), f32(b, 2)) },
	"float not": func(b *hlo.Builder) hlo.Value { return b.Not(f32(b, 2)) },
	"int exp":   func(b *hlo.Builder) hlo.Value { return b.Exp(i32(b, 2)) },
	"select":    func(b *hlo.Builder) hlo.Value { x := i32(b, 2); return b.Select(x, x, x) },
	"convert":   func(b *hlo.Builder) hlo.Value { return b.Convert(i32(b, 2), "i7") },
	"bitcast":   func(b *hlo.Builder) hlo.Value { return b.Bitcast(i32(b, 2), hlo.F64) },
	"reshape":   func(b *hlo.Builder) hlo.Value { return b.Reshape(i32(b, 6), 4) },
	"transpose": func(b *hlo.Builder) hlo.Value { return b.Transpose(i32(b, 2, 3), 0, 0) },
	"broadcast": func(b *hlo.Builder) hlo.Value { return b.BroadcastInDim(i32(b, 2), []int{3, 3}, []int{0}) },
	"descending": func(b *hlo.Builder) hlo.Value {
		return b.BroadcastInDim(i32(b, 2, 3), []int{3, 2}, []int{1, 0})
	},
	"rank":        func(b *hlo.Builder) hlo.Value { return b.BroadcastTo(i32(b, 2, 3), 3) },
	"slice":       func(b *hlo.Builder) hlo.Value { return b.Slice(i32(b, 4), []int{2}, []int{5}, nil) },
	"slice axis":  func(b *hlo.Builder) hlo.Value { return b.SliceAxis(i32(b, 4), 1, 0, 1) },
	"concat":      func(b *hlo.Builder) hlo.Value { return b.Concat(0, i32(b, 2, 3), i32(b, 2, 4)) },
	"concat none": func(b *hlo.Builder) hlo.Value { return b.Concat(0) },
	"pad": func(b *hlo.Builder) hlo.Value {
		return b.Pad(i32(b, 2), b.Int(hlo.I32, 0), []int{-3}, []int{0}, nil)
	},
	"pad type": func(b *hlo.Builder) hlo.Value {
		return b.Pad(i32(b, 2), b.Int(hlo.I8, 0), []int{1}, []int{0}, nil)
	},
	"reverse": func(b *hlo.Builder) hlo.Value { return b.Reverse(i32(b, 2), 1) },
	"iota":    func(b *hlo.Builder) hlo.Value { return b.Iota(hlo.TypeOf(hlo.I32, 2), 1) },
	"take":    func(b *hlo.Builder) hlo.Value { return b.TakeI(i32(b), i32(b)) },
	"take by": func(b *hlo.Builder) hlo.Value { return b.TakeI(i32(b, 4), f32(b)) },
	"dot": func(b *hlo.Builder) hlo.Value {
		return b.DotInt(i32(b, 2), i32(b, 3), hlo.Dot{LhsContract: []int{0}, RhsContract: []int{0}}, 31)
	},
	"dot bits": func(b *hlo.Builder) hlo.Value { return b.DotInt(i32(b, 2), i32(b, 3), hlo.Dot{}, 64) },
	"dot type": func(b *hlo.Builder) hlo.Value { return b.DotInt(f32(b, 2), i32(b, 3), hlo.Dot{}, 20) },
	"conv": func(b *hlo.Builder) hlo.Value {
		return b.ConvInt(i32(b, 1, 4, 4, 3), i32(b, 2, 3, 3, 2), hlo.Conv{}, 31)
	},
	"conv axes": func(b *hlo.Builder) hlo.Value {
		return b.Convolution(i32(b, 1, 4, 4, 3), i32(b, 2, 3, 3, 3), hlo.Conv{Input: "bb1f"}, hlo.I32)
	},
	"depthwise": func(b *hlo.Builder) hlo.Value {
		return b.ConvInt(i32(b, 1, 4, 4, 3), i32(b, 3, 3, 3, 1), hlo.Conv{Groups: 3, Stride: []int{1}}, 31)
	},
	"conv rank": func(b *hlo.Builder) hlo.Value { return b.ConvInt(i32(b, 3), i32(b), hlo.Conv{}, 31) },
	"conv stride": func(b *hlo.Builder) hlo.Value {
		return b.ConvInt(i32(b, 1, 4, 4, 3), i32(b, 2, 3, 3, 3), hlo.Conv{Stride: []int{0, 1}}, 31)
	},
	"reduce": func(b *hlo.Builder) hlo.Value { return b.Reduce(hlo.ReduceAdd, i32(b, 2), 1) },
	"window": func(b *hlo.Builder) hlo.Value {
		return b.ReduceWindow(hlo.ReduceAdd, i32(b, 2), hlo.Window{Size: []int{1, 1}})
	},
	"argmax":      func(b *hlo.Builder) hlo.Value { return b.ArgMax(i32(b, 2), 2) },
	"requant out": func(b *hlo.Builder) hlo.Value { return b.Saturate(i32(b, 2), 0, 9, true, hlo.I8) },
	"requant bits": func(b *hlo.Builder) hlo.Value {
		return b.Saturate(i32(b, 2), 0, 64, false, hlo.I64)
	},
	"requant code": func(b *hlo.Builder) hlo.Value { return b.Saturate(i32(b, 2), 3, 8, true, hlo.I8) },
	"requant type": func(b *hlo.Builder) hlo.Value { return b.Saturate(f32(b, 2), 0, 8, true, hlo.I8) },
	"shifts": func(b *hlo.Builder) hlo.Value {
		return b.RoundShift(i32(b, 2), 31, hlo.Shift{By: []int{1, 2, 3}}, 0)
	},
	"no shift":   func(b *hlo.Builder) hlo.Value { return b.RoundShift(i32(b, 2), 31, hlo.Shift{}, 0) },
	"left shift": func(b *hlo.Builder) hlo.Value { return b.RoundShift(i32(b, 2), 31, hlo.Places(-40), 0) },
	"round":      func(b *hlo.Builder) hlo.Value { return b.RoundShift(i32(b, 2), 31, hlo.Places(1), 9) },
	"divround":   func(b *hlo.Builder) hlo.Value { return b.DivRound(f32(b, 2), f32(b, 2), 0) },
}

// TestMistakes feeds one wrong call each; everything after it stays silent, and there is no program.
func TestMistakes(t *testing.T) {
	for name, wrong := range mistakes {
		b := hlo.New(name)
		b.At("here")
		v := wrong(b)
		after := b.Tanh(b.Concat(0, b.Requant(v, hlo.Requantize{Shift: hlo.Places(2), Width: 8, Out: hlo.I8}), v))
		b.Return(after, b.ReduceKeep(hlo.ReduceMax, b.ArgMax(v, 0), 0), b.Splat(v, 1), b.ConvLast(v, v, hlo.Conv{}))
		if diag.CodeOf(b.Err()) != diag.HLOBuild || b.Program() != nil || !strings.HasPrefix(b.Err().Error(), "here: ") {
			t.Errorf("%s: %v, a program", name, b.Err())
		}
		t.Log(b.Err())
	}
	for name, end := range map[string]func(b *hlo.Builder){
		"no return":    func(*hlo.Builder) {},
		"two returns":  func(b *hlo.Builder) { b.Return(b.Int(hlo.I32, 1)); b.Return(b.Int(hlo.I32, 1)) },
		"empty":        func(b *hlo.Builder) { b.Return() },
		"after return": func(b *hlo.Builder) { b.Return(b.Int(hlo.I32, 1)); b.Int(hlo.I32, 2) },
	} {
		b := hlo.New(name)
		if end(b); b.Program() != nil || diag.CodeOf(b.Err()) != diag.HLOBuild {
			t.Errorf("%s: %v", name, b.Err())
		}
	}
}

func TestAxes(t *testing.T) {
	b := hlo.New("axes")
	for samples, lead := range map[int]int{0: 0, 1: 1, 7: 1} {
		b.Samples = samples
		dims := slices.Clone([]int{samples}[:lead])
		if got := b.Axes(0, 3); b.Axis(1) != 1+lead || got[0] != lead || got[1] != 3+lead || b.Lead() != lead ||
			!slices.Equal(b.Dims(4, 5), append(dims, 4, 5)) {
			t.Error(samples, got, b.Dims(4, 5))
		}
	}
}
