// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"math"
	"math/bits"
	"testing"
)

// TestFunctions runs what the compiler makes of ordinary C++ and compares with Go's functions.
func TestFunctions(t *testing.T) {
	k := kernel(t, "functions.ptx", "functions")
	const n = 64
	x := make([]byte, 4*n)
	in := func(i int) float32 { return float32(i-20) * 1.37 }
	for i := range n {
		binary.LittleEndian.PutUint32(x[4*i:], math.Float32bits(in(i)))
	}
	for _, opt := range everyOptions() {
		m := NewMachine(opt)
		a, y := put(t, m, "x", x), put(t, m, "y", make([]byte, 4*16*n))
		_, err := m.Launch(k, [3]uint32{1, 1, 1}, [3]uint32{n, 1, 1}, 0, params(k, a, y))
		if err != nil {
			t.Fatal(err)
		}
		got := get(t, m, y, 4*16*n)
		for i := range n {
			want := functionsOf(in(i), i)
			for f, w := range want {
				g := float64(math.Float32frombits(binary.LittleEndian.Uint32(got[4*(16*i+f):])))
				if math.Abs(g-w) > 3e-6*math.Max(1, math.Abs(w)) {
					t.Fatalf("function %d of %g: %g, not %g", f, in(i), g, w)
				}
			}
		}
	}
}

func functionsOf(v float32, t int) []float64 {
	x := float64(v)
	poly := float32(0)
	for i := range t & 7 {
		poly = float32(math.FMA(float64(poly), x, float64(i)))
	}
	local := 0.0
	for i := range 8 {
		if (i*3+t)&7 == t&7 {
			local = float64(float32(i) + v)
		}
	}
	cases := []float64{5, x, x * x, x - 1, math.Sin(x), 1 / (x*x + 1), -1, -1}
	big := int64(v * 1e9)
	return []float64{
		math.Sin(x), math.Exp(x), math.Log(math.Abs(x) + 1), math.Tanh(x), math.Erf(x), math.Pow(math.Abs(x), 1.7),
		x / 3, math.Sqrt(math.Abs(x)), 1 / (x + 100), float64(poly),
		local + []float64{1, 2, 4, 8, 16, 32, 64, -1}[t&7], cases[t&7],
		float64(float32(big / int64(t+3))), float64(float32(uint64(big*big) % 1000003)), math.Mod(x, 1.5),
		7 + float64(bits.OnesCount64(uint64(big))),
	}
}
