// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	pointwise "lathe/cuda/map"
	"lathe/cuda/map/maptest"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

func TestDequantGates(t *testing.T) {
	var all []cuda.Instance
	for _, n := range []int64{1, 1 << 31} {
		for _, out := range []word.Type{word.BF16, word.F32} {
			all = append(all, cudatest.Plan(t, pointwise.Dequant{Out: out, N: n}).Instances...)
		}
	}
	cudatest.Gates(t, all...)
}

// job is a call of the kernel.
func job(t testing.TB, d pointwise.Dequant, q, x cudatest.Buffer) cudatest.Job {
	t.Helper()
	j := cudatest.Job{Buffers: []cudatest.Buffer{q, x, {Name: "y", Bytes: d.N * int64(d.Out.Bytes()), Out: true}}}
	cudatest.Add(t, &j, d, pointwise.Operands{X: cuda.Buffer(0), XScales: cuda.Buffer(1), Y: cuda.Buffer(2)})
	return j
}

// at is element i of the output.
func at(b []byte, i int, out word.Type) float64 {
	if out == word.BF16 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
}

// TestDequantExhaustive takes all 65,536 pairs of scale and element: 65,279 exact values, 256 NaN, one -Inf, which the
// scale 254 gives with -128. The zeros among them are positive.
func TestDequantExhaustive(t *testing.T) {
	q, x := cudatest.AllCodes()
	for _, out := range []word.Type{word.BF16, word.F32} {
		t.Run(string(out), func(t *testing.T) {
			t.Parallel()
			d := pointwise.Dequant{Out: out, N: 65536}
			got := cudatest.Run(t, job(t, d, cudatest.Buffer{Name: "q", Data: q}, cudatest.Buffer{Name: "X", Data: x}))[0]
			var equal, nan, inf int
			for i := range q {
				v := at(got, i, out)
				want := math.Ldexp(float64(int8(q[i])), int(x[i/32])-133)
				switch {
				case x[i/32] == 255 && math.IsNaN(v):
					nan++
				case want == math.Ldexp(-1, 128) && math.IsInf(v, -1):
					inf++
				case v == want && math.Signbit(v) == (q[i] > 127):
					equal++
				default:
					t.Fatalf("q %d, X %d: %v, want %v", int8(q[i]), x[i/32], v, want)
				}
			}
			if equal != 65279 || nan != 256 || inf != 1 {
				t.Errorf("%d equal, %d NaN, %d -Inf", equal, nan, inf)
			}
		})
	}
}

// TestDequantTails takes lengths around those at which a thread, a block of 32 or a block of threads ends.
func TestDequantTails(t *testing.T) {
	for _, n := range []int64{0, 1, 15, 16, 17, 31, 32, 33, 4095, 4096, 4097, 4113} {
		for _, out := range []word.Type{word.BF16, word.F32} {
			t.Run(fmt.Sprintf("%s/%d", out, n), func(t *testing.T) {
				t.Parallel()
				q, x := cudatest.Blocks(uint64(n), int(n+31)/32, 127, 100)
				d := pointwise.Dequant{Out: out, N: n}
				got := cudatest.Run(t, job(t, d, cudatest.Buffer{Name: "q", Data: q[:n]}, cudatest.Buffer{Name: "X", Data: x}))[0]
				for i := range q[:n] {
					v, want := at(got, i, out), maptest.Value(q[i], x[i/32])
					if v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
						t.Fatalf("element %d is %v, want %v", i, v, want)
					}
				}
			})
		}
	}
}

// TestDequantWide takes the last elements of a tensor of more than 2^32, whose buffers exist only where they are used.
func TestDequantWide(t *testing.T) {
	const from, n = 1 << 32, 1<<32 + 4096 + 17
	q, x := cudatest.Blocks(3, 129, 127, 100)
	q = q[:n-from]
	for _, out := range []word.Type{word.BF16, word.F32} {
		d := pointwise.Dequant{Out: out, N: n}
		j := job(t, d,
			cudatest.Buffer{Name: "q", Bytes: n, Sparse: true, Pieces: []cudatest.Piece{{At: from, Data: q}}},
			cudatest.Buffer{Name: "X", Bytes: (n + 31) / 32, Sparse: true, Pieces: []cudatest.Piece{{At: from / 32, Data: x}}})
		j.First = from / 4096
		j.Buffers[2].Sparse = true
		width := int64(d.Out.Bytes())
		j.Buffers[2].Pieces = []cudatest.Piece{{At: width * from, Bytes: width * (n - from)}}
		got := cudatest.Run(t, j)[0]
		for i := range q {
			v, want := at(got, i, out), maptest.Value(q[i], x[i/32])
			if v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
				t.Fatalf("%s: element %d is %v, want %v", out, from+i, v, want)
			}
		}
	}
}

// TestCases runs what is checked on a GPU, as far as it is small, and sees a wrong bit.
func TestCases(t *testing.T) {
	all, err := maptest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if !c.Timed {
			t.Run(c.Name, func(t *testing.T) { cudatest.RunCase(t, c, true) })
		}
	}
	y := make([]byte, 2*33)
	c, err := maptest.Dequant(pointwise.Dequant{Out: "bf16", N: 33}, false)
	if err != nil || !strings.Contains(c.Check([][]byte{y}).Wrong, "element 1 is 0") {
		t.Errorf("zeros pass: %v", err)
	}
}

func TestDequantRefuses(t *testing.T) {
	err := pointwise.Dequant{Out: "f16", N: 1}.Valid()
	if diag.CodeOf(err) != "L0990" || !strings.Contains(err.Error(), "not exact in fp16") {
		t.Errorf("fp16: %v", err)
	}
	for _, n := range []int64{-1, 1 << 44} {
		if err := (pointwise.Dequant{Out: "bf16", N: n}).Valid(); diag.CodeOf(err) != "L0933" {
			t.Errorf("%d elements: %v", n, err)
		}
	}
}
