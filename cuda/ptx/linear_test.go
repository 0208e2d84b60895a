// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// matrix is random bfloat16, as bytes and as values.
func matrix(r *rand.Rand, n int) ([]byte, []float64) {
	b, v := make([]byte, 2*n), make([]float64, n)
	for i := range v {
		bits := math.Float32bits(float32(r.NormFloat64())) &^ 0xFFFF
		v[i] = float64(math.Float32frombits(bits))
		binary.LittleEndian.PutUint16(b[2*i:], uint16(bits>>16))
	}
	return b, v
}

// linearRun is one run of the linear kernel on m rows, n columns and depth k.
func linearRun(t testing.TB, kern *Kernel, opt Options, m, n, k int, a, b []byte) ([]byte, *Stats, error) {
	t.Helper()
	mach := NewMachine(opt)
	pa, pb := put(t, mach, "a", a), put(t, mach, "b", b)
	py, err := mach.Alloc(int64(2*m*n), AllocOptions{Name: "y"})
	if err != nil {
		t.Fatal(err)
	}
	grid := [3]uint32{uint32(n / 64), uint32(m+63) / 64, 1}
	args := params(kern, pa, pb, py, uint64(m), uint64(n), uint64(k))
	stats, err := mach.Launch(kern, grid, [3]uint32{128, 1, 1}, 3*16384, args)
	if err != nil {
		return nil, stats, err
	}
	return get(t, mach, py, 2*m*n), stats, nil
}

func TestLinear(t *testing.T) {
	kern := kernel(t, "linear.ptx", "linear")
	r := rand.New(rand.NewPCG(3, 4))
	const m, n, k = 70, 64, 256
	a, av := matrix(r, m*k)
	b, bv := matrix(r, n*k)
	var first []byte
	for _, opt := range everyOptions() {
		y, stats, err := linearRun(t, kern, opt, m, n, k, a, b)
		if err != nil {
			t.Fatalf("%+v: %v", opt, err)
		}
		if opt.Count && (stats.SharedCycles != stats.SharedIdeal || stats.Opcodes["mma"] != 2*4*4*4*8) {
			t.Errorf("bank conflicts or mma: %+v", stats)
		}
		if first == nil {
			first = y
		} else if string(first) != string(y) {
			t.Errorf("%+v gives other bits", opt)
		}
	}
	for i := range m {
		for j := range n {
			want, size := 0.0, 0.0
			for x := range k {
				want += av[i*k+x] * bv[j*k+x]
				size += math.Abs(av[i*k+x] * bv[j*k+x])
			}
			bits := uint32(binary.LittleEndian.Uint16(first[2*(i*n+j):])) << 16
			got := float64(math.Float32frombits(bits))
			if math.Abs(got-want) > math.Abs(want)/256+size*1e-6 {
				t.Fatalf("y[%d,%d] is %g, not %g", i, j, got, want)
			}
		}
	}
}

// BenchmarkLinear reports millions of multiply-accumulates a second on one core.
func BenchmarkLinear(b *testing.B) {
	kern := kernel(b, "linear.ptx", "linear")
	r := rand.New(rand.NewPCG(3, 4))
	const m, n, k = 128, 128, 512
	x, _ := matrix(r, m*k)
	w, _ := matrix(r, n*k)
	for _, c := range []struct {
		name string
		opt  Options
	}{{"plain", Options{}}, {"races", Options{Races: true}}, {"count", Options{Count: true}}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := linearRun(b, kern, c.opt, m, n, k, x, w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(m*n*k/1e6*float64(b.N)/b.Elapsed().Seconds(), "MMAC/s")
		})
	}
}
