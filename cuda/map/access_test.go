// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/map"
	"lathe/cuda/map/maptest"
	"lathe/cuda/num"
	"lathe/cuda/word"
)

// Whole, aligned tensors move up to 16 bytes a lane and access: the loads and stores of all warps are counted.
func TestAccesses(t *testing.T) {
	const n = 1 << 13
	chain := pointwise.Chain{N: n, Cols: n, In: num.BF16, Out: num.BF16, Inputs: []pointwise.Shape{0}}
	one, narrow := cast(t, n, "int(8)", "fixed(8,1)"), cast(t, n, "fp32", "fixed(8,1)")
	wide := cast(t, n, "int(16)", "int(64)")
	castOf := func(p pointwise.Cast) func(j *cudatest.Job) {
		return func(j *cudatest.Job) { cudatest.Add(t, j, p, plain(cuda.Buffer(0), cuda.Buffer(1))) }
	}
	for _, c := range []struct {
		name     string
		add      func(j *cudatest.Job)
		bytes    [2]int64 // of an element, in and out
		thread   int64    // elements of a thread
		accesses int64    // of a warp
	}{
		{"cast 1 to 1", castOf(one), [2]int64{1, 1}, 16, 2},
		{"cast 4 to 1", castOf(narrow), [2]int64{4, 1}, 4, 2},
		{"cast 2 to 8", castOf(wide), [2]int64{2, 8}, 4, 3},
		{"chain", func(j *cudatest.Job) {
			cudatest.Add(t, j, chain, pointwise.ChainOperands{X: []cuda.Arg{cuda.Buffer(0)}, Y: cuda.Buffer(1)})
		}, [2]int64{2, 2}, 8, 2},
	} {
		job := cudatest.Job{Quick: true, Buffers: []cudatest.Buffer{{Name: "x", Data: make([]byte, n*c.bytes[0])},
			{Name: "y", Bytes: n * c.bytes[1], Out: true}}}
		c.add(&job)
		_, stats := cudatest.Trace(t, job)
		warps := n / (32 * c.thread)
		if got := stats[0].GlobalAccesses; got != warps*c.accesses {
			t.Errorf("%s: %d accesses, want %d", c.name, got, warps*c.accesses)
		}
	}
	for _, in := range []num.Codec{num.FP32, num.BF16} {
		p := pointwise.Quantize{Rows: 16, Cols: 512, In: in}
		one := cudatest.Job{Quick: true, Buffers: []cudatest.Buffer{{Name: "x", Data: make([]byte, n*in.Bytes)},
			{Name: "q", Bytes: n, Out: true}, {Name: "X", Bytes: n / 32, Out: true}}}
		cudatest.Add(t, &one, p, pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), YScales: cuda.Buffer(2)})
		_, stats := cudatest.Trace(t, one)
		if got, want := stats[0].GlobalAccesses, int64(3*n*in.Bytes/512); got != want {
			t.Errorf("quantize of %s: %d accesses, want %d", in.Type, got, want)
		}
		cudatest.Sectors(t, one)
	}
	for _, out := range []word.Type{word.BF16, word.F32} {
		cudatest.Sectors(t, job(t, pointwise.Dequant{Out: out, N: n}, cudatest.Buffer{Name: "q", Data: make([]byte, n)},
			cudatest.Buffer{Name: "X", Data: make([]byte, n/32)}))
	}
}

func cast(t testing.TB, n int64, from, to string) pointwise.Cast {
	t.Helper()
	return pointwise.Cast{N: n, From: side(t, from), To: side(t, to)}
}

// plain are the operands of a problem without scales.
func plain(x, y cuda.Arg) pointwise.Operands {
	return pointwise.Operands{X: x, Y: y, XScales: cuda.Null(), YScales: cuda.Null()}
}

// The check of each case sees a wrong byte.
func TestCaseChecks(t *testing.T) {
	cases, err := maptest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Timed || c.Launches[0].Kernel[:2] == "de" {
			continue // dequantize has tests of its own
		}
		wrong := cudatest.Run(t, cudatest.JobOf(c, true))
		wrong[0][32] ^= 0x40
		if c.Check(wrong).Wrong == "" {
			t.Errorf("%s: the check does not see a wrong byte", c.Name)
		}
	}
}
