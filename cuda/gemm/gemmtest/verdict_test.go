// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"math"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
)

// TestNear demands that infinities and NaN are met exactly, whatever is allowed beside them.
func TestNear(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got, want, tol float64
		ok             bool
	}{
		{1.5, 1, 0.5, true}, {1.5, 1, 0.25, false}, {inf, inf, inf, true}, {-inf, -inf, nan, true}, {nan, nan, nan, true},
		{3, inf, inf, false}, {-inf, inf, inf, false}, {inf, -inf, inf, false}, {inf, 3, inf, false}, {nan, 3, inf, false},
		{3, nan, nan, false}, {nan, inf, inf, false},
	} {
		v := verdict{}
		v.near(0, c.got, c.want, c.tol)
		if got := v.done(); (got.Wrong == "") != c.ok || math.IsNaN(got.MaxErr) {
			t.Errorf("%v for %v within %v: %+v", c.got, c.want, c.tol, got)
		}
	}
}

// TestInfinities demands that the check of a product sees a finite number, or the other infinity, where one belongs.
func TestInfinities(t *testing.T) {
	p := gemm.W8A16{M: 4, N: 16, K: 64, Epilogue: gemm.Epilogue{Out: word.F32}}
	a, err := cuda.FindArch(Measured)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(a)
	if err != nil {
		t.Fatal(err)
	}
	c := W8A16(p, plan, 1, true, 1)
	q, x := weightBlocks(1, p.N, p.K, cornersFor(p.Epilogue, true))
	s := linearSums(p, activations(1, p.M, p.K, true), q, x)
	sound := make([]float64, p.M*p.N)
	infinite := 0
	for i := range sound {
		if sound[i] = s(i/p.N, i%p.N).value; math.IsInf(sound[i], 0) {
			infinite++
		}
	}
	if infinite == 0 {
		t.Fatal("no infinity among the sums")
	}
	outputs := func(y []float64) [][]byte {
		var out [][]byte
		for _, b := range c.Buffers {
			if b.Output {
				out = append(out, make([]byte, b.Bytes))
			}
		}
		copy(out[0], cudatest.F32Bytes(y))
		return out
	}
	if v := c.Check(outputs(sound)); v.Wrong != "" {
		t.Fatal(v.Wrong)
	}
	for i, y := range sound {
		if !math.IsInf(y, 0) {
			continue
		}
		for _, wrong := range []float64{3, -y, math.NaN()} {
			sound[i] = wrong
			if v := c.Check(outputs(sound)); !strings.HasPrefix(v.Wrong, "element") {
				t.Errorf("%v in place of %v passes: %+v", wrong, y, v)
			}
		}
		sound[i] = y
	}
}
