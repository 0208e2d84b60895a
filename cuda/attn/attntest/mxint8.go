// SPDX-License-Identifier: Apache-2.0

package attntest

import (
	"math"

	"lathe/cuda"
	"lathe/cuda/attn"
)

// MXINT8 is the kernel on samples: queries as those of SDPA, elements of keys and values of any byte, with scales such
// that they lie within 2 of 0. Errors as those
// of the plan.
func MXINT8(p attn.MXINT8, timed bool) (cuda.Case, error) {
	arch, err := cuda.FindArch(measured)
	if err != nil {
		return cuda.Case{}, err
	}
	plan, err := p.Plan(arch)
	if err != nil {
		return cuda.Case{}, err
	}
	c, a := dense(p.SDPA, plan.Instances[0], inBlocks(p.Dim))
	o := attn.MXINT8Args{Args: a, KScales: cuda.Buffer(5), VScales: cuda.Buffer(6)}
	encoded(&c, p.Dim)
	return finished(c, cuda.CaseOf(p, plan, o), timed, cachedFormats), nil
}

// cachedFormats are those of attention over blocks.
const cachedFormats = "bf16, mxint8 -> bf16"

// inBlocks are the values of a case whose keys and values are blocks along rows of dim elements.
func inBlocks(dim int64) func(k, i int64) float64 {
	return func(k, i int64) float64 {
		if k == 0 {
			return sample(k, i)
		}
		return math.Ldexp(float64(element(k, i)), int(scale(k, i/dim*((dim+31)/32)+i%dim/32))-133)
	}
}

// encoded makes blocks of the keys and values of a case, buffers 1 and 2, whose scales are further buffers.
func encoded(c *cuda.Case, dim int64) {
	for k := int64(1); k <= 2; k++ {
		rows := c.Buffers[k].Bytes / 2 / dim
		c.Buffers[k].Bytes, c.Buffers[k].Fill = rows*dim, elements(k)
		c.Buffers = append(c.Buffers, cuda.CaseBuffer{Name: "scales of " + c.Buffers[k].Name, Bytes: rows * ((dim + 31) / 32),
			Fill: scales(k)})
	}
}

func elements(k int64) func([]byte) {
	return func(b []byte) {
		for i := range b {
			b[i] = byte(element(k, int64(i)))
		}
	}
}

func scales(k int64) func([]byte) {
	return func(b []byte) {
		for i := range b {
			b[i] = scale(k, int64(i))
		}
	}
}

// element is element i of keys (k = 1) or values (2) of a case, and scale the scale of block i: 2^-6 to 1, times 2^-6.
func element(k, i int64) int8 { return int8(64 * sample(k, i)) }

func scale(k, i int64) byte { return 121 + byte(int64(64*sample(k+2, i)+128)%7) }
