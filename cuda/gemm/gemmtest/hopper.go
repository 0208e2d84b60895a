// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
)

// hopperShapes are a small one with corners, and those of the speed goals.
var hopperShapes = []struct {
	m, n, k int
	gemm.Epilogue
	timed bool
}{
	{33, 136, 72, gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu, Gate: true}, false},
	{512, 4096, 4096, gemm.Epilogue{Out: word.BF16, Act: gemm.Silu, Gate: true}, true},
	{4096, 8192, 8192, gemm.Epilogue{Out: word.BF16}, true},
	{4096, 4096, 4096, gemm.Epilogue{Out: word.BF16, Bias: true, Act: gemm.GeluErf, Residual: true}, true},
}

// hopperCases are the kernels of sm_90a on those shapes, each timed one behind a reduced one.
func hopperCases(bound float64) ([]cuda.Case, error) {
	a, err := cuda.FindArch("sm_90a")
	if err != nil {
		return nil, err
	}
	var all []cuda.Case
	for i, c := range hopperShapes {
		p := gemm.Hopper16{W16A16: gemm.W16A16{M: c.m, N: c.n, K: c.k, Word: word.BFloat16, Epilogue: c.Epilogue}}
		if c.timed {
			small, plan, err := p.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, Hopper16(small, plan, uint64(i), true, bound))
		}
		plan, err := p.Plan(a)
		if err != nil {
			return nil, err
		}
		one := Hopper16(p, plan, uint64(i), !c.timed, bound)
		one.Timed = c.timed
		all = append(all, one)
	}
	for i, c := range hopperShapes {
		p := gemm.Hopper8{W8A16: gemm.W8A16{M: c.m, N: c.n, K: c.k, Epilogue: c.Epilogue}}
		if c.timed {
			small, plan, err := p.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, W8A16(small.W8A16, plan, uint64(i), true, bound))
		}
		plan, err := p.Plan(a)
		if err != nil {
			return nil, err
		}
		one := W8A16(p.W8A16, plan, uint64(i), !c.timed, bound)
		one.Timed = c.timed
		all = append(all, one)
	}
	bytes, err := hopperBytes(a)
	return append(all, bytes...), err
}

// hopperBytes are a small product of bytes and one of the speed goals, behind a reduced one.
func hopperBytes(a cuda.Arch) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		gemm.Int8
		timed bool
	}{
		{gemm.Int8{M: 20, N: 136, K: 144, Unsigned: true, Result: Codes8}, false},
		{gemm.Int8{M: 4096, N: 4096, K: 4096, Result: Codes8}, true},
	} {
		p := gemm.HopperInt8{Int8: c.Int8}
		if c.timed {
			small, plan, err := p.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, HopperInt8(small, plan, uint64(i), Channels(small.Int8, uint64(i), true)))
		}
		plan, err := p.Plan(a)
		if err != nil {
			return nil, err
		}
		one := HopperInt8(p, plan, uint64(i), Channels(p.Int8, uint64(i), true))
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}
