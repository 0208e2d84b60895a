// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/internal/tools"
	"lathe/ir/format"
)

func TestInt8Gates(t *testing.T) {
	s8, u8 := format.Fixed{W: 8, Signed: true}, format.Fixed{W: 8}
	all := []cuda.Instance{}
	for _, c := range gemm.TilesInt8 {
		if !tools.Long && c.Rows() != 128 {
			continue
		}
		for _, p := range []gemm.Int8{{K: 16, Result: s8}, {K: 1, Unsigned: true, Result: u8}, {K: 16, Raw: true},
			{K: 16, Result: format.Fixed{W: 13, Signed: true, Round: format.RoundOutward, Over: format.Wrap}}} {
			all = append(all, made(t, "int8", p.Params(c))...)
		}
	}
	cudatest.Gates(t, all...)
}

// runInt8 demands every bit.
func runInt8(t *testing.T, p gemm.Int8, c gemm.Tile, channels []gemm.Channel, quick bool) {
	t.Helper()
	if err := p.Valid(); err != nil {
		t.Fatal(err)
	}
	plan, err := p.With(c)
	if err != nil {
		t.Fatal(err)
	}
	if one := gemmtest.Int8(p, plan, 5, channels); len(one.Launches) > 0 {
		t.Run(one.Name, func(t *testing.T) { cudatest.RunCase(t, one, quick) })
	}
}

func TestInt8(t *testing.T) {
	sat := func(w int, signed bool) format.Fixed { return format.Fixed{W: w, Signed: signed} }
	for i, c := range []struct {
		gemm.Int8
		tile     int
		mul, all bool
	}{
		{gemm.Int8{M: 65, N: 72, K: 400, Result: sat(8, true), Zero: 3}, 1, true, true},
		{gemm.Int8{M: 20, N: 33, K: 33, Unsigned: true, Result: sat(8, false), Zero: 128}, 0, true, true},
		{gemm.Int8{M: 129, N: 130, K: 128, Result: format.Fixed{W: 16, Signed: true, Over: format.Sym}}, 2, false, false},
		{gemm.Int8{M: 9, N: 40, K: 64, Raw: true}, 0, false, false},
		{gemm.Int8{M: 63, N: 64, K: 31, Unsigned: true, Raw: true}, 1, false, false},
		{gemm.Int8{M: 7, N: 24, K: 100, Result: sat(24, true)}, 0, false, false},
		{gemm.Int8{M: 1, N: 1, K: 1, Result: sat(4, false)}, 0, true, false},
		{gemm.Int8{M: 4, N: 16, K: 0, Result: sat(8, true)}, 0, true, false},
		{gemm.Int8{M: 0, N: 16, K: 4, Result: sat(8, true)}, 0, true, false},
	} {
		runInt8(t, c.Int8, gemm.TilesInt8[c.tile], gemmtest.Channels(c.Int8, uint64(i), c.mul), !c.all)
	}
}

// TestRoundings runs every rounding mode with every overflow rule, shifts to the left and beyond 64 among them.
func TestRoundings(t *testing.T) {
	for i, r := range roundings() {
		for over := format.Sat; over <= format.Wrap; over++ {
			if !tools.Long && i%3 != int(over) {
				continue
			}
			result := format.Fixed{W: 5 + i, Signed: i%2 == 0, Round: r, Over: over}
			p := gemm.Int8{M: 16, N: 128, K: 32, Result: result, Zero: int32(i) - 4}
			runInt8(t, p, gemm.TilesInt8[0], gemmtest.Channels(p, uint64(i), false), true)
		}
	}
}

// roundings are those of the kernel.
func roundings() []format.Round {
	var all []format.Round
	for r := format.RoundEven; r <= format.RoundOutward; r++ {
		all = append(all, r)
	}
	return all
}
