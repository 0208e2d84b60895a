// SPDX-License-Identifier: Apache-2.0

package array

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"lathe/ir/format"
)

// benched has each family, and each way through the code.
var benched = []string{
	"fixed(8,4)", "fixed(8,4,round=away)", "fixed(16,8,round=floor)", "fixed(8,4,over=wrap)", "fixed(40,20)",
	"e4m3", "e5m2", "e2m1", "fp16", "float(8,7,ieee)", "float(4,27)", "fp32", "dfloat(4,3)", "dfloat(8,23)",
	"float(5,10,round=up)", "log(5)", "log(8,round=log)", "log(16)", "binary", "ternary", "residual(4)*0.1",
	"codebook(nf4)*0.3", "int(8)*0.05", "uint(8,z=131,round=up)*0.0235", "int(16)*0.01", "int(8,div=f32)*0.05",
	"mxint8", "mxint(8,32,round=away)", "mxfp8", "mxfp4", "bfp(8,16,8)", "bminifloat(4,3,16,8)",
	"blog(5,16,8)"}

// drawn are float32 numbers of several sizes.
func drawn(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(float32(r.NormFloat64() * math.Exp(r.NormFloat64())))
	}
	return x
}

// BenchmarkArrays encodes and decodes a million values a round.
//
//	go test ./ir/format/array -bench Arrays -run ^$
func BenchmarkArrays(b *testing.B) {
	x := drawn(1 << 20)
	for _, text := range benched {
		f := parse(b, text)
		var e *Encoded
		b.Run(text+"/encode", func(b *testing.B) {
			b.SetBytes(int64(len(x)))
			for b.Loop() {
				e = encoded(b, f, x)
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

func encoded(b *testing.B, f format.Format, x []float64) *Encoded {
	e, err := Encode(f, []int{len(x)}, x, 0)
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// BenchmarkLayer reports how long 16 million values take, as many as a layer of a language model has, in the slowest of
// the formats: measured on a quarter of them, the best of three.
func BenchmarkLayer(b *testing.B) {
	x := drawn(1 << 22)
	for b.Loop() {
		var in, out time.Duration
		for _, text := range benched {
			f := parse(b, text)
			bestIn, bestOut := time.Hour, time.Hour
			for range 3 {
				start := time.Now()
				e := encoded(b, f, x)
				bestIn = min(bestIn, time.Since(start))
				start = time.Now()
				e.Values()
				bestOut = min(bestOut, time.Since(start))
			}
			b.Logf("%s: encode %v, decode %v", text, 4*bestIn, 4*bestOut)
			in, out = max(in, bestIn), max(out, bestOut)
		}
		b.ReportMetric(4*in.Seconds(), "s-encode")
		b.ReportMetric(4*out.Seconds(), "s-decode")
	}
}
