// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"bytes"
	"fmt"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
)

// TestKept has rows that end around the ends of what stays in shared memory, 48 and 96 KiB. The bits are those of
// kernels that keep nothing, and what is kept is read from memory once.
func TestKept(t *testing.T) {
	const rows = 3
	for i, bytes := range []int64{48<<10 - 16, 48 << 10, 48<<10 + 16, 96 << 10, 96<<10 + 16, 96<<10 - 16} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			t.Parallel()
			wide := reduce.Matrix{Rows: rows, Cols: bytes / 4}
			mask := &reduce.MaskRows{Div: 1, Mul: 1, Mod: 2}
			soft := newSoftmax(reduce.Softmax{Matrix: wide, In: word.Float32, Out: word.Float32, Mask: mask})
			layer := newNorm(reduce.Norm{Matrix: wide, In: word.Float32, Out: word.BFloat16, Gain: word.Float32, Eps: 1e-5})
			rms := newNorm(reduce.Norm{Matrix: wide, In: word.Float32, Out: word.Float32, Gain: word.BFloat16, Eps: 1e-5,
				RMS: true, Add: true})
			read := (min(bytes, 96<<10) + 511) / 512 * rows // by warps
			compareKept(t, soft.job(t), 4, read)
			compareKept(t, layer.job(t), 5, read)
			compareKept(t, rms.job(t), 5, 2*read) // and the addend
			if i > 2 {
				return // half as many bytes a value, twice as many values
			}
			half := newNorm(reduce.Norm{Matrix: reduce.Matrix{Rows: rows, Cols: bytes / 2}, In: word.Float(1 + i%2),
				Out: word.Float32, Gain: word.BFloat16, Eps: 1e-5, RMS: i == 1, Add: true})
			compareKept(t, half.job(t), 5, 2*read)
		})
	}
}

// compareKept runs a job, and the same with nothing kept, as template parameter `at` says it.
func compareKept(t *testing.T, j cudatest.Job, at int, saved int64) {
	t.Helper()
	j.Quick = true
	got, want := cudatest.Run(t, j), j
	params := append([]string(nil), j.Kernels[0].Params...)
	if params[at] == "0" {
		t.Fatalf("%s keeps nothing", j.Kernels[0])
	}
	params[at] = "0"
	i, err := cuda.Named(j.Kernels[0].Template.Name, params...)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := i.Shared()
	if err != nil {
		t.Fatal(err)
	}
	want.Kernels, want.Launches = []cuda.Instance{i}, append([]cuda.Launch(nil), j.Launches...)
	want.Launches[0].Kernel, want.Launches[0].Shared = i.Kernel, uint32(shared)
	for k, out := range cudatest.Run(t, want) {
		if !bytes.Equal(out, got[k]) {
			t.Errorf("%s: output %d has other bits where nothing is kept", j.Kernels[0], k)
		}
	}
	_, with := cudatest.Trace(t, j)
	_, without := cudatest.Trace(t, want)
	if less := without[0].GlobalAccesses - with[0].GlobalAccesses; less != saved {
		t.Errorf("%s: %d accesses less than with nothing kept, want %d", j.Kernels[0], less, saved)
	}
}
