// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"fmt"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
)

// sizes are columns for every team: rows of a warp, of four and eight warps, long rows, and rows without alignment.
var sizes = []int64{1024, 999, 4096, 8192, 16384, 31, 9999}

// TestSoftmaxGates compiles the kernel of every team.
func TestSoftmaxGates(t *testing.T) {
	var all []cuda.Instance
	for i, n := range sizes {
		p := reduce.Softmax{Matrix: reduce.Matrix{Rows: 9, Cols: n}, In: word.Float(i % 3), Out: word.Float(i * 2 % 3)}
		if i%2 == 1 {
			p.Mask = &reduce.MaskRows{Div: 1, Mul: 1, Mod: 1}
		}
		all = append(all, cudatest.Plan(t, p).Instances...)
	}
	cudatest.Gates(t, all...)
}

// TestNormGates compiles the kernel of every team for both norms, with all options somewhere.
func TestNormGates(t *testing.T) {
	for _, rms := range []bool{false, true} {
		t.Run(fmt.Sprint("rms=", rms), func(t *testing.T) {
			var all []cuda.Instance
			for i, n := range sizes {
				p := reduce.Norm{Matrix: reduce.Matrix{Rows: 9, Cols: n}, RMS: rms, In: word.Float((i + 1) % 3),
					Out: word.Float(i % 3), Gain: word.Float(i / 2 % 3), Add: i%2 == 0, UnitOffset: rms && i%3 > 0,
					RoundBeforeGain: rms && i%4 > 1}
				if i%3 == 1 {
					p.Quant = &reduce.Blocks{Stride: n}
				}
				all = append(all, cudatest.Plan(t, p).Instances...)
			}
			cudatest.Gates(t, all...)
		})
	}
}

// softmaxArgs are the buffers of a softmax without a mask.
var softmaxArgs = reduce.SoftmaxArgs{X: cuda.Buffer(0), Mask: cuda.Null(), Y: cuda.Buffer(1)}

// TestValid refuses what no launch can do, and launches nothing where there is nothing.
func TestValid(t *testing.T) {
	for what, err := range map[string]error{
		"rows": reduce.Softmax{Matrix: reduce.Matrix{Rows: 1 << 40, Cols: 1 << 20}}.Valid(),
		"cols": reduce.Norm{Matrix: reduce.Matrix{Rows: 1, Cols: 1 << 31}}.Valid(),
		"mask": reduce.Softmax{Matrix: reduce.Matrix{Rows: 1, Cols: 1}, Mask: &reduce.MaskRows{}}.Valid(),
		"unit": reduce.Norm{Matrix: reduce.Matrix{Rows: 1, Cols: 1}, UnitOffset: true}.Valid(),
		"rows of bytes": reduce.Norm{Matrix: reduce.Matrix{Rows: 2, Cols: 64}, In: word.BFloat16,
			Quant: &reduce.Blocks{Stride: 68}}.Valid(),
	} {
		if err == nil {
			t.Errorf("%s: not refused", what)
		}
	}
	if err := (reduce.Norm{Matrix: reduce.Matrix{Rows: 2, Cols: 31}}).Valid(); err != nil {
		t.Error(err)
	}
	wide := reduce.Matrix{Rows: 1, Cols: 1 << 31}
	if _, err := (reduce.Softmax{Matrix: wide}).Plan(cuda.Arch{}); err == nil {
		t.Error("a plan of softmax of too long a row")
	}
	if _, err := (reduce.Norm{Matrix: wide}).Plan(cuda.Arch{}); err == nil {
		t.Error("a plan of a norm of too long a row")
	}
	for _, m := range []reduce.Matrix{{Rows: 0, Cols: 8}, {Rows: 8, Cols: 0}} {
		if l := cudatest.Plan(t, reduce.Softmax{Matrix: m}).Launches(softmaxArgs); len(l) != 0 {
			t.Errorf("%+v: %d launches", m, len(l))
		}
	}
}

// TestLaunchFits compares the launches of every team with their kernels.
func TestLaunchFits(t *testing.T) {
	for _, n := range sizes {
		m := reduce.Matrix{Rows: 9, Cols: n}
		s := reduce.Softmax{Matrix: m, In: word.BFloat16, Out: word.Float32}
		plan := cudatest.Plan(t, s)
		if l := plan.Launches(softmaxArgs); len(l) != 1 || plan.Instances[0].Fit(l[0]) != nil {
			t.Errorf("softmax of %d columns: %v", n, l)
		}
		for _, rms := range []bool{false, true} {
			p := reduce.Norm{Matrix: m, RMS: rms, In: word.Float32, Out: word.Float16, Eps: 1e-5}
			plan := cudatest.Plan(t, p)
			l := plan.Launches(reduce.NormArgs{X: cuda.Buffer(0), Addend: cuda.Null(), Sum: cuda.Null(),
				Gain: cuda.Null(), Bias: cuda.Null(), Y: cuda.Buffer(1), Scales: cuda.Null()})
			if len(l) != 1 || plan.Instances[0].Fit(l[0]) != nil {
				t.Errorf("norm of %d columns: %v", n, l)
			}
		}
	}
}
