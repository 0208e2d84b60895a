// SPDX-License-Identifier: Apache-2.0

package pjrt_test

import (
	"testing"

	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
)

// layer is a dense layer of 64 inputs and 32 outputs over 5,000 samples.
func layer(d hlo.DType, bits int) (*hlo.Builder, hlo.Array) {
	b := hlo.New("layer")
	x, w := make([]int64, 5000*64), make([]int64, 64*32)
	for i := range x {
		x[i] = int64(i%255 - 127)
	}
	for i := range w {
		w[i] = int64(i%17 - 8)
	}
	in := hlo.FromInt64s(d, []int{5000, 64}, x)
	k := b.Weight(hlo.FromInt64s(hlo.I8, []int{32, 64}, w))
	b.Return(b.DotInt(b.Arg("x", in.Type), k, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}, bits))
	return b, in
}

func BenchmarkStart(b *testing.B) {
	cfg := pjrttest.Config(b)
	for b.Loop() {
		e, err := pjrt.Start(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		e.Close()
	}
}

func BenchmarkCompile(b *testing.B) {
	e := pjrttest.Engine(b)
	program, _ := layer(hlo.I32, 31)
	for b.Loop() {
		p, err := e.Compile(b.Context(), program.Program())
		if err != nil {
			b.Fatal(err)
		}
		p.Drop(b.Context())
	}
}

// BenchmarkRun includes the way of 1.3 MB (i8: 0.3 MB) of inputs and 0.6 MB of results through the pipes.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name string
		d    hlo.DType
		bits int
	}{{"i8", hlo.I8, 20}, {"f32", hlo.I32, 20}, {"i32", hlo.I32, 31}, {"f64", hlo.I32, 53}, {"i64", hlo.I32, 63}} {
		b.Run(c.name, func(b *testing.B) {
			program, in := layer(c.d, c.bits)
			p, err := pjrttest.Engine(b).Compile(b.Context(), program.Program())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := p.Run(b.Context(), []hlo.Array{in}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
