// SPDX-License-Identifier: Apache-2.0

package array

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/ir/format"
)

// BenchmarkArrays encodes and decodes a million values a round; 16 of them are what a layer of a language model has.
//
//	go test ./ir/format/array -bench Arrays -run ^$
func BenchmarkArrays(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 1<<20)
	for i := range x {
		x[i] = float64(float32(r.NormFloat64() * math.Exp(r.NormFloat64())))
	}
	for _, text := range []string{"fixed(8,4)", "fixed(8,4,round=away)", "e4m3", "e5m2", "e2m1", "fp16", "float(8,7,ieee)",
		"dfloat(4,3)", "log(5)", "log(8,round=log)", "ternary", "residual(4)*0.1", "codebook(nf4)*0.3", "int(8)*0.05",
		"mxint8", "mxfp8", "mxfp4", "bfp(8,16,8)", "bminifloat(4,3,16,8)", "blog(5,16,8)"} {
		f, err := format.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		var e *Encoded
		b.Run(text+"/encode", func(b *testing.B) {
			b.SetBytes(int64(len(x)))
			for b.Loop() {
				if e, err = Encode(f, []int{len(x)}, x, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(text+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(x)))
			for b.Loop() {
				e.Values()
			}
		})
	}
}
