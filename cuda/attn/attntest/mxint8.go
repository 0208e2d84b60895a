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
	blocks := (p.Dim + 31) / 32
	c, a := dense(p.SDPA, plan.Instances[0], func(k, i int64) float64 {
		if k == 0 {
			return sample(k, i)
		}
		return math.Ldexp(float64(element(k, i)), int(scale(k, i/p.Dim*blocks+i%p.Dim/32))-133)
	})
	for k := int64(1); k <= 2; k++ {
		rows := c.Buffers[k].Bytes / 2 / p.Dim
		c.Buffers[k].Bytes = rows * p.Dim
		c.Buffers[k].Fill = func(b []byte) {
			for i := range b {
				b[i] = byte(element(k, int64(i)))
			}
		}
		c.Buffers = append(c.Buffers, cuda.CaseBuffer{Name: "scales of " + c.Buffers[k].Name, Bytes: rows * blocks,
			Fill: func(b []byte) {
				for i := range b {
					b[i] = scale(k, int64(i))
				}
			}})
	}
	o := attn.MXINT8Args{Args: a, KScales: cuda.Buffer(5), VScales: cuda.Buffer(6)}
	return finished(c, cuda.CaseOf(p, plan, o), timed, "bf16, mxint8 -> bf16"), nil
}

// element is element i of keys (k = 1) or values (2) of a case, and scale the scale of block i: 2^-6 to 1, times 2^-6.
func element(k, i int64) int8 { return int8(64 * sample(k, i)) }

func scale(k, i int64) byte { return 121 + byte(int64(64*sample(k+2, i)+128)%7) }
