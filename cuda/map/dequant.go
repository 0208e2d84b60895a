// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"math"

	"lathe/cuda"
	"lathe/internal/diag"
)

// Dequant is y[i] = q[i] * 2^(X[i/32]-133): N elements of MXINT8 blocks (OCP MX v1.0, section 6.3) as words of Out.
type Dequant struct {
	// Out is bf16 or f32. In fp16 most scales are not exact, so there is no such kernel.
	Out string
	// N counts elements; the last block may be short.
	N int64
}

const (
	dequantThreads  = 256
	dequantElements = 16 // a thread
)

// Width is the size of an output element in bytes.
func (d Dequant) Width() int64 {
	if d.Out == "bf16" {
		return 2
	}
	return 4
}

// Instance is the kernel. Error L0990 for an output that it does not write.
func (d Dequant) Instance() (cuda.Instance, error) {
	if d.Out != "bf16" && d.Out != "f32" {
		e := diag.New("L0990", "dequant", "no output in %q", d.Out)
		if d.Out == "f16" {
			e = e.WithNote("MXINT8 is not exact in fp16: its range is smaller than that of the scales")
		}
		return cuda.Instance{}, e.WithHint("use bf16 or f32")
	}
	wide, name := "0", "dequant_"+d.Out
	if d.N >= math.MaxInt32 {
		wide, name = "1", name+"_wide"
	}
	return cuda.Make("dequant", name, d.Out, wide)
}

// Launch reads elements and scales from the buffers q and x and writes y. Errors: L0990 as Instance, L0933 for an N
// that is no size, or larger than a grid.
func (d Dequant) Launch(q, x, y int) (cuda.Launch, error) {
	i, err := d.Instance()
	if err != nil {
		return cuda.Launch{}, err
	}
	blocks := max((d.N+dequantThreads*dequantElements-1)/(dequantThreads*dequantElements), 1)
	if d.N < 0 || blocks > math.MaxInt32 {
		return cuda.Launch{}, diag.New("L0933", i.Kernel, "%d elements", d.N).
			WithHint("one launch takes 0 to %d", int64(math.MaxInt32)*dequantThreads*dequantElements)
	}
	return cuda.Launch{Kernel: i.Kernel, Grid: [3]uint32{uint32(blocks), 1, 1}, Block: [3]uint32{dequantThreads, 1, 1},
		Args: []cuda.Arg{cuda.Buffer(q), cuda.Buffer(x), cuda.Buffer(y), cuda.I64(d.N)}}, nil
}

// Floor is what must be moved at least, in bytes; there is no arithmetic to speak of.
func (d Dequant) Floor() (bytes, flops int64) { return d.N + (d.N+31)/32 + d.Width()*d.N, 0 }
