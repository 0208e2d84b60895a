// SPDX-License-Identifier: Apache-2.0

package gemm

import "lathe/cuda"

// measured is the architecture whose configurations the timed cases have.
const measured = "sm_90"

// Cases are the kernels of this family on the shapes that are checked and timed where a GPU is present. Error as
// cuda.Make.
func Cases() ([]cuda.Case, error) { return casesWithin(gpuBound) }

// casesWithin are the cases with a constant of the bound on sums.
func casesWithin(bound float64) ([]cuda.Case, error) {
	a, err := cuda.FindArch(measured)
	if err != nil {
		return nil, err
	}
	all, err := linearCases(a, bound)
	if err != nil {
		return nil, err
	}
	for _, list := range []func(cuda.Arch) ([]cuda.Case, error){exactCases, windowCases, int8Cases} {
		cases, err := list(a)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// The constants of the bound on sums: by tensor cores, which truncate, and by the interpreter, which rounds.
const gpuBound, cpuBound = 4, 1

// linearCases are small problems with corners, one for each kernel, and those of the speed goals.
func linearCases(a cuda.Arch, bound float64) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		W8A16
		timed bool
	}{
		{W8A16{M: 65, N: 136, K: 200, Epilogue: Epilogue{Out: BF16, Bias: true, Act: GeluErf, Residual: true}}, false},
		{W8A16{M: 33, N: 256, K: 264, Epilogue: Epilogue{Out: MXINT8, Act: Silu, Gate: true}}, false},
		{W8A16{M: 5, N: 72, K: 1096, Epilogue: Epilogue{Out: F32}}, false},
		{W8A16{M: 1, N: 33, K: 33, Epilogue: Epilogue{Out: BF16, Act: Relu}}, false},
		{W8A16{M: 1, N: 14336, K: 4096, Epilogue: Epilogue{Out: BF16}}, true},
		{W8A16{M: 8, N: 28672, K: 8192, Epilogue: Epilogue{Out: BF16}}, true},
		{W8A16{M: 16, N: 28672, K: 8192, Epilogue: Epilogue{Out: BF16}}, true},
		{W8A16{M: 64, N: 14336, K: 4096, Epilogue: Epilogue{Out: BF16}}, true},
		{W8A16{M: 4096, N: 8192, K: 8192, Epilogue: Epilogue{Out: BF16}}, true},
		{W8A16{M: 4096, N: 4096, K: 4096, Epilogue: Epilogue{Out: BF16, Bias: true, Act: GeluErf, Residual: true}}, true},
	} {
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := c.Case(plan, uint64(i), !c.timed, bound)
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}

func exactCases(a cuda.Arch) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		MX
		scales Scales
		timed  bool
	}{
		{MX{M: 65, N: 72, K: 400, Epilogue: Epilogue{Out: F32}}, NarrowScales, false},
		{MX{M: 33, N: 80, K: 352, Epilogue: Epilogue{Out: F32}}, AnyScales, false},
		{MX{M: 33, N: 96, K: 65, Epilogue: Epilogue{Out: BF16}}, NarrowScales, false},
		{MX{M: 2048, N: 4096, K: 4096, Epilogue: Epilogue{Out: BF16}}, NarrowScales, true},
	} {
		for _, wide := range []bool{false, true} {
			c.Wide = wide
			plan, err := c.Plan(a)
			if err != nil {
				return nil, err
			}
			one := c.Case(plan, uint64(i), c.scales)
			one.Timed = c.timed
			all = append(all, one)
		}
	}
	return all, nil
}

func int8Cases(a cuda.Arch) ([]cuda.Case, error) {
	var all []cuda.Case
	for i, c := range []struct {
		Int8
		timed bool
	}{
		{Int8{M: 65, N: 72, K: 400, Result: codes8, Zero: 3}, false},
		{Int8{M: 20, N: 33, K: 33, Unsigned: true, Result: codes8}, false},
		{Int8{M: 33, N: 40, K: 64, Raw: true}, false},
		{Int8{M: 4096, N: 4096, K: 4096, Result: codes8}, true},
	} {
		plan, err := c.Plan(a)
		if err != nil {
			return nil, err
		}
		one := c.Case(plan, uint64(i), c.DrawChannels(uint64(i), true))
		one.Timed = c.timed
		all = append(all, one)
	}
	return all, nil
}
