// SPDX-License-Identifier: Apache-2.0

// Package cases lists the cases of all kernels. Tests, pages and benchmarks read it; what lathe links does not.
package cases

import (
	"cmp"
	"slices"

	"lathe/cuda"
	"lathe/cuda/attn/attntest"
	"lathe/cuda/gemm/gemmtest"
	"lathe/cuda/map/maptest"
	"lathe/cuda/reduce/reducetest"
)

// All returns the cases of all families. Error as theirs.
func All() ([]cuda.Case, error) {
	var all []cuda.Case
	for _, family := range []func() ([]cuda.Case, error){
		attntest.Cases, gemmtest.Cases, maptest.Cases, reducetest.Cases,
	} {
		cases, err := family()
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// Kernel is an instance with the cases that run it.
type Kernel struct {
	Instance cuda.Instance
	// Cases run it, Timed of them are for a GPU only, since they are large.
	Cases, Timed int
}

// Kernels returns the instances of all cases, each once, in order of their text. Error as All.
func Kernels() ([]Kernel, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var out []Kernel
	for _, c := range all {
		for _, i := range c.Instances {
			at, found := slices.BinarySearchFunc(out, i.String(), func(k Kernel, s string) int {
				return cmp.Compare(k.Instance.String(), s)
			})
			if !found {
				out = slices.Insert(out, at, Kernel{Instance: i})
			}
			out[at].Cases++
			if c.Timed {
				out[at].Timed++
			}
		}
	}
	return out, nil
}
