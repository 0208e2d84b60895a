// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"bytes"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
)

// TestRowAlone demands of a row the same bits whatever other rows stand around it.
func TestRowAlone(t *testing.T) {
	for _, n := range []int64{500, 3000, 9000} {
		all := newSoftmax(reduce.Softmax{Matrix: reduce.Matrix{Rows: 7, Cols: n}, In: word.BFloat16, Out: word.BFloat16})
		one := all
		one.p.Rows = 1
		one.x = all.x[6*n:]
		a, b := all.job(t), one.job(t)
		a.Quick, b.Quick = true, true
		if d := cudatest.FirstDifference(cudatest.Run(t, b)[0], cudatest.Run(t, a)[0][6*n*2:], 2); d != "" {
			t.Errorf("softmax of %d columns: %s", n, d)
		}
		norm := newNorm(reduce.Norm{Matrix: reduce.Matrix{Rows: 7, Cols: n}, In: word.BFloat16, Out: word.BFloat16,
			Eps: 1e-6})
		alone := norm
		alone.p.Rows = 1
		alone.x = norm.x[6*n:]
		a, b = norm.job(t), alone.job(t)
		a.Quick, b.Quick = true, true
		if d := cudatest.FirstDifference(cudatest.Run(t, b)[0], cudatest.Run(t, a)[0][6*n*2:], 2); d != "" {
			t.Errorf("norm of %d columns: %s", n, d)
		}
	}
}

// TestUnaligned starts every buffer two bytes after a multiple of 16.
func TestUnaligned(t *testing.T) {
	for _, n := range []int64{64, 4096, 8200} {
		m := reduce.Matrix{Rows: 7, Cols: n, Unaligned: true}
		c := newSoftmax(reduce.Softmax{Matrix: m, In: word.BFloat16, Out: word.Float16})
		j := c.job(t)
		j.Quick = true
		for i := range j.Buffers[:2] {
			b := &j.Buffers[i]
			if len(b.Data) > 0 {
				b.Data = append([]byte{1, 2}, b.Data...)
			} else {
				b.Bytes += 2
			}
			j.Launches[0].Args[2*i] = cuda.BufferAt(i, 2) // x and y; the mask lies between
		}
		out := cudatest.Run(t, j)[0]
		if !bytes.Equal(out[:2], []byte{255, 255}) {
			t.Error("writes before the first element")
		}
		c.check(t, out[2:])
	}
}

// TestAccesses counts: rows that start at multiples of 16 bytes are read and written in whole sectors of 32 bytes.
func TestAccesses(t *testing.T) {
	for _, n := range []int64{1024, 4096, 8192} {
		c := newSoftmax(reduce.Softmax{Matrix: reduce.Matrix{Rows: 2, Cols: n}, In: word.BFloat16, Out: word.BFloat16})
		j := c.job(t)
		j.Quick = true
		_, stats := cudatest.Trace(t, j)
		s := stats[0]
		if want := 2 * 2 * n * 2 / 32; s.Sectors != want || s.SectorsIdeal != want || s.SharedCycles != s.SharedIdeal {
			t.Errorf("%d columns: %d sectors, %d ideal, want %d; shared memory %d cycles, %d ideal",
				n, s.Sectors, s.SectorsIdeal, want, s.SharedCycles, s.SharedIdeal)
		}
		if want := 2 * n / (8 * 32) * 2; s.GlobalAccesses != want {
			t.Errorf("%d columns: %d accesses, want %d of 16 bytes a lane", n, s.GlobalAccesses, want)
		}
	}
}

// TestEmpty launches nothing for a matrix without elements, and everything for one element.
func TestEmpty(t *testing.T) {
	for _, m := range []reduce.Matrix{{Rows: 0, Cols: 5}, {Rows: 5, Cols: 0}, {Rows: 1, Cols: 1}} {
		l := cudatest.Plan(t, reduce.Norm{Matrix: m}).Launches(reduce.NormArgs{})
		if want := int(m.Rows * m.Cols); len(l) != want {
			t.Errorf("%+v: %d launches", m, len(l))
		}
	}
}
