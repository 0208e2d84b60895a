// SPDX-License-Identifier: Apache-2.0

package cuda

import "strings"

// Peak is what one GPU of an architecture can do at most, in bytes and operations a second: what NVIDIA's datasheet of
// that GPU gives, dense, without sparsity.
type Peak struct {
	GPU string
	// SMs is the number of multiprocessors, each of which draws its share of what follows, and Clock their boost clock.
	SMs   int
	Clock float64
	// Bytes is memory, Vector fp32 beside the tensor cores, Tensor16 bf16 and f16 with sums in fp32, Tensor8 bytes.
	Bytes, Vector, Tensor16, Tensor8 float64
	// Reached is the share of the tensor rates that mma.sync reaches: nine tenths, six where wgmma or tcgen05 is needed
	// for more.
	Reached float64
}

var peaks = map[int]Peak{
	80:  {"A100 80GB SXM", 108, 1.41e9, 2.039e12, 19.5e12, 312e12, 624e12, 0.9},
	86:  {"A40", 84, 1.74e9, 0.696e12, 37.4e12, 149.7e12, 299.3e12, 0.9},
	89:  {"L40", 142, 2.49e9, 0.864e12, 90.5e12, 181e12, 362e12, 0.9},
	90:  {"H200 SXM", 132, 1.98e9, 4.8e12, 67e12, 989e12, 1979e12, 0.6},
	100: {"B200", 148, 1.965e9, 8e12, 75e12, 2250e12, 4500e12, 0.6},
	120: {"RTX 5090", 170, 2.407e9, 1.792e12, 104.8e12, 209.5e12, 838e12, 0.9},
}

// PeakOf is that of the GPU for which predictions are made on a.
func PeakOf(a Arch) Peak { return peaks[a.Capability] }

// Ceiling is the rate of the instruction that computes, in operations a second, and its name.
type Ceiling struct {
	Rate        float64
	Instruction string
}

// grouped is the share of the tensor rates that wgmma is taken to reach. It is an estimate.
const grouped = 0.85

// matrix are the operations of an instruction of the tensor cores: 16x8x16 and 16x8x32 products.
var matrix = map[string]float64{"HMMA": 4096, "IMMA": 8192}

// issued is how many instructions a multiprocessor issues in a clock: one for each of its four schedulers.
const issued = 4

// CeilingOf is that of an instance of the library: what mma.sync or wgmma reaches, or less where the loop around it, by
// the budget of the header, issues too much beside it; fp32 where it has no such instruction.
func (p Peak) CeilingOf(i Instance, a Arch) (Ceiling, error) {
	sass, err := i.SASS(a)
	if err != nil {
		return Ceiling{}, err
	}
	c := p.Scalar()
	for _, group := range sass {
		for _, one := range group {
			switch {
			case strings.HasPrefix(one, "HMMA"):
				c = Ceiling{p.Tensor16 * p.Reached, "HMMA"}
			case strings.HasPrefix(one, "IMMA"):
				c = Ceiling{p.Tensor8 * p.Reached, "IMMA"}
			case strings.HasPrefix(one, "HGMMA"):
				c = Ceiling{p.Tensor16 * grouped, "HGMMA"}
			case strings.HasPrefix(one, "IGMMA"):
				c = Ceiling{p.Tensor8 * grouped, "IGMMA"}
			}
		}
	}
	loops, err := i.Loops(a)
	for _, l := range loops {
		name, _, _ := strings.Cut(l.Mnemonic, ".")
		if of := matrix[name]; of > 0 && name == c.Instruction {
			rate := of * float64(l.Count) / float64(l.Slots) * issued * float64(p.SMs) * p.Clock
			c.Rate = min(c.Rate, rate)
		}
	}
	return c, err
}

// Scalar is the ceiling of kernels without tensor cores.
func (p Peak) Scalar() Ceiling { return Ceiling{p.Vector, "FFMA"} }

// Single is the ceiling of sums by a thread a result: two loads, their indices and conversions for each product leave
// about a fiftieth of fp32. It is an estimate.
func (p Peak) Single() Ceiling { return Ceiling{p.Vector / 50, "FFMA, a thread a result"} }

// Floor is the least time in seconds for bytes and operations.
func (p Peak) Floor(bytes, flops int64, c Ceiling) float64 {
	return max(float64(bytes)/p.Bytes, float64(flops)/c.Rate)
}
