// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"lathe/cuda"
	"lathe/cuda/word"
)

// Conv16 is y = epilogue(conv(x, w)): images x and weights w [N][KH][KW][C], packed by Pack, both bf16 or both f16;
// sums are fp32. The N channels of a pixel of the result follow each other; beyond the images x is 0.
type Conv16 struct {
	Images
	N int
	// Word is word.BFloat16 or word.Float16.
	Word word.Float
	// Epilogue has no gate.
	Epilogue
}

var _ cuda.Batched[Operands] = Conv16{}

// product is the convolution as a product of windows, of which it shares sizes, weights and configurations.
func (p Conv16) product() W16A16 {
	return W16A16{M: p.windows(), N: p.N, K: p.window(), Word: p.Word, Epilogue: p.Epilogue}
}

// Valid reports why no kernel can take the problem: error L0990.
func (p Conv16) Valid() error {
	if err := p.valid("conv16"); err != nil {
		return err
	}
	if p.Gate {
		return refuse("conv16", "a gate")
	}
	if p.Out == MXINT8 {
		return refuse("conv16", "a result in MXINT8")
	}
	return p.product().Valid()
}

// Pack puts weights, [N][KH][KW][C], into the order of the kernel.
func (p Conv16) Pack(w []byte) []byte { return p.product().Pack(w) }

// PackedBytes is the size of packed weights.
func (p Conv16) PackedBytes() int64 { return p.product().PackedBytes() }

// Floor is the least that must be moved and computed; images are read once.
func (p Conv16) Floor() cuda.Floor {
	q := p.product()
	f := q.Floor()
	f.Bytes += 2 * (p.elements() - int64(q.M)*int64(q.K))
	return f
}

// conv is what this is to all convolutions.
func (p Conv16) conv() conv {
	return conv{Images: p.Images, kernel: "conv16", n: p.N, size: 2, check: p.Valid, params: p.params, args: p.args,
		bytes: func() int64 { return p.Floor().Bytes }}
}

// params are those of an instance, behind the tile's.
func (p Conv16) params() []string {
	e := p.Epilogue.params() // without the gate
	return append(texts(p.unit(2), int(p.Word)), e[0], e[2])
}

// args are those of a launch; m is the number of pixels.
func (p Conv16) args(o Operands, m cuda.Arg) []cuda.Arg {
	return append([]cuda.Arg{o.X, o.W, o.Bias, o.Residual, o.Y, cuda.Null(), cuda.I64(int64(p.N)), cuda.I64(0),
		cuda.I64(0), m, cuda.I32(int32(p.N)), cuda.I32(int32(p.window()))}, p.Images.args()...)
}

// Plan chooses the configuration of least estimated time. Errors as Valid.
func (p Conv16) Plan(a cuda.Arch) (Plan, error) { return p.conv().plan(a) }

// Call is the convolution of the images of each of a number of samples. Errors as Valid.
func (p Conv16) Call(o Operands, t cuda.Target) (cuda.Call, error) { return p.conv().call(o, t) }

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p Conv16) Reduced(a cuda.Arch) (Conv16, Plan, error) {
	t, err := p.conv().choose(a, p.windows())
	if err != nil {
		return p, Plan{}, err
	}
	p.Images, p.N = p.reduced(t, 64, p.unit(2)), t.bn+8
	plan, err := p.conv().planned(t)
	return p, plan, err
}
