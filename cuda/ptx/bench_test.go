// SPDX-License-Identifier: Apache-2.0

package ptx

import "testing"

// BenchmarkDequant reports millions of elements a second on one core.
func BenchmarkDequant(b *testing.B) {
	k := kernel(b, "dequant.ptx", "dequant")
	const n = 1 << 18
	for _, c := range []struct {
		name string
		opt  Options
	}{{"plain", Options{}}, {"races", Options{Races: true}}} {
		b.Run(c.name, func(b *testing.B) {
			m := NewMachine(c.opt)
			q, x := put(b, m, "q", make([]byte, n)), put(b, m, "x", make([]byte, n/32))
			y, err := m.Alloc(2*n, AllocOptions{Name: "y"})
			if err != nil {
				b.Fatal(err)
			}
			grid, block := [3]uint32{n / 16 / 256, 1, 1}, [3]uint32{256, 1, 1}
			for b.Loop() {
				if _, err := m.Launch(k, grid, block, 0, params(k, q, x, y, n)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(n/1e6*float64(b.N)/b.Elapsed().Seconds(), "Melements/s")
		})
	}
}

// BenchmarkSoftmax reports millions of elements a second on one core.
func BenchmarkSoftmax(b *testing.B) {
	k := kernel(b, "softmax.ptx", "softmax")
	const rows, n = 64, 1024
	m := NewMachine(Options{})
	x, y := put(b, m, "x", make([]byte, 4*rows*n)), put(b, m, "y", make([]byte, 4*rows*n))
	for b.Loop() {
		grid, block := [3]uint32{rows / 4, 1, 1}, [3]uint32{128, 1, 1}
		if _, err := m.Launch(k, grid, block, 0, params(k, x, y, rows, n)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(rows*n/1e6*float64(b.N)/b.Elapsed().Seconds(), "Melements/s")
}
