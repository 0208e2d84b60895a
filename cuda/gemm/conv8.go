// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"bytes"
	"slices"

	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/ir/format"
)

// Conv8 is y = requantize(conv(x, w)) in integers: images x of bytes and weights w [N][KH][KW][C] of signed bytes,
// packed by Pack. The N channels of a pixel of the result follow each other.
type Conv8 struct {
	Images
	// Int8 is the product of the M windows with the weights, K elements each.
	Int8
	// Outside is the code that x has beyond the images.
	Outside int
	// Added is what is added to the codes of the product; nil for nothing.
	Added *Added
}

// Added are bytes r, one for each code q of a product, that become one code with it: over(Zero + RS(t, Shift)), where
// t = q*Mul + r*Factor + Bias stays within 63 bits. They are rounded as the product is.
type Added struct {
	// Unsigned says that r are numbers from 0 to 255.
	Unsigned          bool
	Mul, Factor, Bias int64
	Shift             int
	// Result are the codes: their F is 0, their W at most 32. Zero is added before the overflow rule, which wraps nothing.
	Result format.Fixed
	Zero   int32
}

var _ cuda.Batched[Operands] = Conv8{}

// outsideBytes is how often that code stands behind the weights: what a thread copies at once.
const outsideBytes = 16

// Valid reports why no kernel can take the problem: error L0990.
func (p Conv8) Valid() error {
	if err := p.Images.valid("conv8"); err != nil {
		return err
	}
	least, most := -128, 127
	if p.Unsigned {
		least, most = 0, 255
	}
	switch {
	case p.M != p.windows() || p.K != p.window():
		return refuse("conv8", "%d rows of %d products for %d windows of %d", p.M, p.K, p.windows(), p.window())
	case p.Outside < least || p.Outside > most:
		return refuse("conv8", "a code of %d beyond the images: they have %d to %d", p.Outside, least, most)
	}
	if a := p.Added; a != nil {
		q := p.Int8
		q.Result = a.Result
		switch err := q.Valid(); {
		case err != nil:
			return err
		case p.Raw || a.Result.Round != p.Result.Round || a.Result.Over == format.Wrap:
			return refuse("conv8", "a sum in %s of codes in %s", a.Result, p.Result)
		}
	}
	return p.Int8.Valid()
}

// Word is how a result lies in memory.
func (p Conv8) Word() word.Type {
	q := p.Int8
	if p.Added != nil {
		q.Result = p.Added.Result
	}
	return q.Word()
}

// Pack puts weights, [N][KH][KW][C], into the order of the kernel.
func (p Conv8) Pack(w []byte) []byte {
	return append(p.Int8.Pack(w), bytes.Repeat([]byte{byte(p.Outside)}, outsideBytes)...)
}

// PackedBytes is the size of packed weights.
func (p Conv8) PackedBytes() int64 { return p.Int8.PackedBytes() + outsideBytes }

// Floor is the least that must be moved and computed; images are read once.
func (p Conv8) Floor() cuda.Floor {
	f := p.Int8.Floor()
	f.Bytes += p.elements() - int64(p.M)*int64(p.K) + int64(p.M)*int64(p.N)*int64(p.Word().Bytes()-p.Int8.Word().Bytes())
	if p.Added != nil {
		f.Bytes += int64(p.M) * int64(p.N)
	}
	return f
}

// conv is what this is to all convolutions.
func (p Conv8) conv() conv {
	return conv{Images: p.Images, kernel: "conv8", n: p.N, size: 1, check: p.Valid, params: p.params, args: p.args,
		bytes: func() int64 { return p.Floor().Bytes }}
}

// params are those of an instance, behind the tile's.
func (p Conv8) params() []string {
	sum := 0
	if p.Added != nil {
		if sum = 1; p.Added.Unsigned {
			sum = 2
		}
	}
	coded := p.coded()
	coded[len(coded)-1] = string(p.Word())
	return slices.Concat(texts(p.unit(1)), coded, texts(sum))
}

// args are those of a launch; m is the number of windows.
func (p Conv8) args(o Operands, m cuda.Arg) []cuda.Arg {
	added := []cuda.Arg{cuda.Null(), cuda.I64(0), cuda.I64(0), cuda.I64(0), cuda.I32(0), cuda.I32(0), cuda.I32(0),
		cuda.I32(0)}
	if a := p.Added; a != nil {
		added = []cuda.Arg{o.Residual, cuda.I64(a.Bias), cuda.I64(a.Mul), cuda.I64(a.Factor), cuda.I32(int32(a.Shift)),
			cuda.I32(a.Zero), cuda.I32(int32(a.Result.Min())), cuda.I32(int32(a.Result.Max()))}
	}
	return slices.Concat(p.Int8.args(o, m), added, p.Images.args())
}

// Plan chooses the configuration of least estimated time. Its operands are those of Int8, and
// Residual where something is added. Errors as Valid.
func (p Conv8) Plan(a cuda.Arch) (Plan, error) { return p.conv().plan(a) }

// Call is the convolution of the images of each of a number of samples. Errors as Valid.
func (p Conv8) Call(o Operands, t cuda.Target) (cuda.Call, error) { return p.conv().call(o, t) }

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p Conv8) Reduced(a cuda.Arch) (Conv8, Plan, error) {
	t, err := p.conv().choose(a, p.M)
	if err != nil {
		return p, Plan{}, err
	}
	p.Images, p.N = p.reduced(t, 128, p.unit(1)), t.bn+8
	p.M, p.K = p.windows(), p.window()
	plan, err := p.conv().planned(t)
	return p, plan, err
}
