// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"math"

	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// Dequant is y[i] = q[i] * 2^(X[i/32]-133): N elements of MXINT8 blocks (OCP MX v1.0, section 6.3) as words of Out.
type Dequant struct {
	// Out is word.BF16 or word.F32. In fp16 most scales are not exact, so there is no such kernel.
	Out word.Type
	// N counts elements; the last block may be short.
	N int64
}

const (
	dequantThreads  = 256
	dequantElements = 16 // a thread
)

func (d Dequant) instance() (cuda.Instance, error) {
	if d.Out != word.BF16 && d.Out != word.F32 {
		e := diag.New(diag.NoKernelTakes, "dequant", "no output in %q", d.Out)
		if d.Out == word.F16 {
			e = e.WithNote("MXINT8 is not exact in fp16: its range is smaller than that of the scales")
		}
		return cuda.Instance{}, e.WithHint("use bf16 or f32")
	}
	wide, name := "0", "dequant_"+string(d.Out)
	if d.N >= math.MaxInt32 {
		wide, name = "1", name+"_wide"
	}
	return cuda.Make("dequant", name, string(d.Out), wide)
}

// Valid reports why no kernel can take the problem. Errors: L0990 for an output that it does not write, L0933 for an N
// that is no size, or larger than a grid.
func (d Dequant) Valid() error {
	_, err := d.Plan(cuda.Arch{})
	return err
}

// Plan is the kernel, on any architecture. Errors as Valid.
func (d Dequant) Plan(cuda.Arch) (cuda.Plan[Operands], error) {
	i, err := d.instance()
	if err != nil {
		return cuda.Plan[Operands]{}, err
	}
	blocks := max((d.N+dequantThreads*dequantElements-1)/(dequantThreads*dequantElements), 1)
	if d.N < 0 || blocks > math.MaxInt32 {
		return cuda.Plan[Operands]{}, diag.New(diag.KernelLaunch, i.Kernel, "%d elements", d.N).
			WithHint("one launch takes 0 to %d", int64(math.MaxInt32)*dequantThreads*dequantElements)
	}
	return cuda.OneKernel(i, func(o Operands) []cuda.Launch {
		return []cuda.Launch{{Kernel: i.Kernel, Grid: [3]uint32{uint32(blocks), 1, 1},
			Block: [3]uint32{dequantThreads, 1, 1}, Args: []cuda.Arg{o.X, o.XScales, o.Y, cuda.I64(d.N)}}}
	}), nil
}

// Floor is what must be moved at least; there is no arithmetic to speak of.
func (d Dequant) Floor() cuda.Floor {
	return cuda.Floor{Bytes: d.N + (d.N+31)/32 + int64(d.Out.Bytes())*d.N}
}
