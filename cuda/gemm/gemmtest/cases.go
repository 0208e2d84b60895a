// SPDX-License-Identifier: Apache-2.0

// Package gemmtest holds the cases of the products, with their definitions in Go.
package gemmtest

import (
	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
)

// Measured is the architecture whose configurations the timed cases have.
const Measured = "sm_90"

// Cases are the kernels of the family on the shapes that are checked and timed where a GPU is present. Error as
// cuda.Make.
func Cases() ([]cuda.Case, error) { return CasesWithin(gpuBound) }

// CasesWithin are the cases with a constant of the bound on sums.
func CasesWithin(bound float64) ([]cuda.Case, error) {
	a, err := cuda.FindArch(Measured)
	if err != nil {
		return nil, err
	}
	all, err := linearCases(a, bound)
	if err != nil {
		return nil, err
	}
	halfCases := func(a cuda.Arch) ([]cuda.Case, error) { return halfCases(a, bound) }
	convCases := func(a cuda.Arch) ([]cuda.Case, error) { return convCases(a, bound) }
	hopperCases := func(cuda.Arch) ([]cuda.Case, error) { return hopperCases(bound) }
	for _, list := range []func(cuda.Arch) ([]cuda.Case, error){halfCases, convCases, exactCases, windowCases, int8Cases,
		conv8Cases, hopperCases} {
		cases, err := list(a)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// The constants of the bound on sums: by tensor cores, which truncate, and by the interpreter, which rounds.
const gpuBound, CPUBound = 4, 1

// linearCases are small problems with corners, one for each kernel, and those of the speed goals, each behind a reduced
// one that runs the same kernels.
func linearCases(a cuda.Arch, bound float64) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		gemm.W8A16
		timed bool
	}{
		{gemm.W8A16{M: 65, N: 136, K: 200, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true, Act: gemm.GeluErf,
			Residual: true}}, false},
		{gemm.W8A16{M: 33, N: 256, K: 264, Epilogue: gemm.Epilogue{Out: gemm.MXINT8, Act: gemm.Silu, Gate: true}}, false},
		{gemm.W8A16{M: 5, N: 72, K: 1096, Epilogue: gemm.Epilogue{Out: word.F32}}, false},
		{gemm.W8A16{M: 1, N: 33, K: 33, Epilogue: gemm.Epilogue{Out: word.BF16, Act: gemm.Relu}}, false},
		{gemm.W8A16{M: 1, N: 14336, K: 4096, Epilogue: gemm.Epilogue{Out: word.BF16}}, true},
		{gemm.W8A16{M: 8, N: 28672, K: 8192, Epilogue: gemm.Epilogue{Out: word.BF16}}, true},
		{gemm.W8A16{M: 16, N: 28672, K: 8192, Epilogue: gemm.Epilogue{Out: word.BF16}}, true},
		{gemm.W8A16{M: 64, N: 14336, K: 4096, Epilogue: gemm.Epilogue{Out: word.BF16}}, true},
		{gemm.W8A16{M: 4096, N: 8192, K: 8192, Epilogue: gemm.Epilogue{Out: word.BF16}}, true},
		{gemm.W8A16{M: 4096, N: 4096, K: 4096, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true, Act: gemm.GeluErf,
			Residual: true}}, true},
	} {
		if c.timed {
			small, plan, err := c.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, W8A16(small, plan, uint64(i), true, bound))
		}
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := W8A16(c.W8A16, plan, uint64(i), !c.timed, bound)
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}

// halfCases are small problems with corners, and those of the speed goals, each behind a reduced one: the layers of
// linearCases with weights of 16 bits.
func halfCases(a cuda.Arch, bound float64) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		gemm.W16A16
		timed bool
	}{
		{gemm.W16A16{M: 65, N: 136, K: 200, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true,
			Act: gemm.GeluErf, Residual: true}}, false},
		{gemm.W16A16{M: 33, N: 256, K: 264, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: gemm.MXINT8,
			Act: gemm.Silu, Gate: true}}, false},
		{gemm.W16A16{M: 5, N: 33, K: 77, Word: word.Float16, Epilogue: gemm.Epilogue{Out: word.F16,
			Residual: true}}, false},
		{gemm.W16A16{M: 8, N: 14336, K: 4096, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16}}, true},
		{gemm.W16A16{M: 64, N: 14336, K: 4096, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16}}, true},
		{gemm.W16A16{M: 4096, N: 8192, K: 8192, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16}}, true},
		{gemm.W16A16{M: 4096, N: 4096, K: 4096, Word: word.BFloat16, Epilogue: gemm.Epilogue{Out: word.BF16, Bias: true,
			Act: gemm.GeluErf, Residual: true}}, true},
	} {
		if c.timed {
			small, plan, err := c.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, W16A16(small, plan, uint64(i), true, bound))
		}
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := W16A16(c.W16A16, plan, uint64(i), !c.timed, bound)
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}

// convCases are small convolutions with corners, and layers of ResNet-50 at 32 images, each behind a reduced one.
func convCases(a cuda.Arch, bound float64) ([]cuda.Case, error) {
	relu := gemm.Epilogue{Out: word.BF16, Bias: true, Act: gemm.ReluLast, Residual: true}
	var all []cuda.Case
	for i, c := range []struct {
		gemm.Conv16
		timed bool
	}{
		{Conv(word.BFloat16, 2, 7, 9, 16, 24, 3, 2, 1, relu), false},
		{Planes(Conv(word.Float16, 1, 6, 7, 3, 33, 3, 1, 1, gemm.Epilogue{Out: word.F16, Bias: true})), false},
		{Conv(word.BFloat16, 32, 56, 56, 64, 64, 3, 1, 1, relu), true},
		{Conv(word.BFloat16, 32, 14, 14, 256, 256, 3, 1, 1, relu), true},
		{Planes(Conv(word.BFloat16, 32, 224, 224, 3, 64, 7, 2, 3, relu)), true},
	} {
		if c.timed {
			small, plan, err := c.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, Conv16(small, plan, uint64(i), true, bound))
		}
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := Conv16(c.Conv16, plan, uint64(i), !c.timed, bound)
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}

func exactCases(a cuda.Arch) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		gemm.MX
		scales Scales
		timed  bool
	}{
		{gemm.MX{M: 65, N: 72, K: 400, Epilogue: gemm.Epilogue{Out: word.F32}}, NarrowScales, false},
		{gemm.MX{M: 33, N: 80, K: 352, Epilogue: gemm.Epilogue{Out: word.F32}}, AnyScales, false},
		{gemm.MX{M: 33, N: 96, K: 65, Epilogue: gemm.Epilogue{Out: word.BF16}}, NarrowScales, false},
		{gemm.MX{M: 2048, N: 4096, K: 4096, Epilogue: gemm.Epilogue{Out: word.BF16}}, NarrowScales, true},
	} {
		for _, wide := range []bool{false, true} {
			c.Wide = wide
			if c.timed {
				small, plan, err := c.Reduced(a)
				if err != nil {
					return nil, err
				}
				all = append(all, MX(small, plan, uint64(i), c.scales))
			}
			plan, err := c.Plan(a)
			if err != nil {
				return nil, err
			}
			one := MX(c.MX, plan, uint64(i), c.scales)
			one.Timed = c.timed
			all = append(all, one)
		}
	}
	return all, nil
}

func int8Cases(a cuda.Arch) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		gemm.Int8
		timed bool
	}{
		{gemm.Int8{M: 65, N: 72, K: 400, Result: Codes8, Zero: 3}, false},
		{gemm.Int8{M: 20, N: 33, K: 33, Unsigned: true, Result: Codes8}, false},
		{gemm.Int8{M: 33, N: 40, K: 64, Raw: true}, false},
		{gemm.Int8{M: 4096, N: 4096, K: 4096, Result: Codes8}, true},
	} {
		if c.timed {
			small, plan, err := c.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, Int8(small, plan, uint64(i), Channels(small, uint64(i), true)))
		}
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := Int8(c.Int8, plan, uint64(i), Channels(c.Int8, uint64(i), true))
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}

// AddedBytes are unsigned bytes, added to a result in steps of two thirds of theirs.
var AddedBytes = gemm.Added{Unsigned: true, Mul: 0x55555, Factor: 0x80001, Bias: -0x80001 * 115, Shift: 20,
	Result: Codes8, Zero: -2}

// conv8Cases are small convolutions of codes, and layers of ResNet-50 at 32 images, each behind a reduced one.
func conv8Cases(a cuda.Arch) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		gemm.Conv8
		added *gemm.Added
		timed bool
	}{
		{ConvBytes(Images(2, 7, 9, 16, 3, 2, 1), gemm.Int8{N: 24, Result: Codes8, Zero: 3}, -7), &AddedBytes, false},
		{ConvBytes(Images(1, 6, 7, 3, 3, 1, 1).Laid(false), gemm.Int8{N: 33, Unsigned: true, Result: Codes8}, 131), nil,
			false},
		{ConvBytes(Images(32, 56, 56, 64, 3, 1, 1), gemm.Int8{N: 64, Result: Codes8}, 0), nil, true},
		{ConvBytes(Images(32, 14, 14, 256, 3, 1, 1), gemm.Int8{N: 256, Result: Codes8}, 0), &AddedBytes, true},
		{ConvBytes(Images(32, 224, 224, 3, 7, 2, 3), gemm.Int8{N: 64, Result: Codes8}, 0), nil, true},
	} {
		c.Added = c.added
		if c.timed {
			small, plan, err := c.Reduced(a)
			if err != nil {
				return nil, err
			}
			all = append(all, Conv8(small, plan, uint64(i), Channels(small.Int8, uint64(i), true)))
		}
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := Conv8(c.Conv8, plan, uint64(i), Channels(c.Int8, uint64(i), true))
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}

func ceil(a, b int) int { return (a + b - 1) / b }
