// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"fmt"
	"slices"

	"lathe/ir/format"
)

// Tensor is the value of a node: Floats for a float type, else Codes (row-major).
type Tensor struct {
	Type   Type
	Floats []float32
	// Codes are sign-extended for signed integer formats, raw bits otherwise.
	Codes []int64
	// BlockScales holds one scale code a block for block formats, in block order.
	BlockScales []int64
}

// NewTensor is a zero tensor of type t.
func NewTensor(t Type) *Tensor {
	if t.IsFloat() {
		return &Tensor{Type: t, Floats: make([]float32, t.Elems())}
	}
	v := &Tensor{Type: t, Codes: make([]int64, t.Elems())}
	if n := t.Blocks(); n > 0 {
		v.BlockScales = make([]int64, n)
	}
	return v
}

// Entered is t as the value of a node of type u, which has its shape: rounded where u is a float of 16 bits.
func (t *Tensor) Entered(u Type) *Tensor {
	h, half := u.Half()
	if !half {
		return t
	}
	return (&Tensor{Type: u, Floats: slices.Clone(t.Floats)}).rounded(h)
}

// rounded rounds the values of t in place.
func (t *Tensor) rounded(h format.Half) *Tensor {
	for i, v := range t.Floats {
		t.Floats[i] = h.Round(v)
	}
	return t
}

// Lattice views the values of a tensor as integers: value i = Ints[i] * 2^exp(channel of i).
// Exps has one entry, or one per index of Axis.
type Lattice struct {
	Ints []int64
	Exps []int
	Axis int
}

// Exp is the exponent of channel c.
func (l *Lattice) Exp(c int) int {
	if len(l.Exps) == 1 {
		return l.Exps[0]
	}
	return l.Exps[c]
}

// Lattice decodes codes to integers at a power-of-two step. It is the one door through which operators read
// quantized values, so a new scalar format needs no change in any operator. An error names what does not fit.
func (t *Tensor) Lattice() (*Lattice, error) {
	if t.Type.IsFloat() {
		return nil, fmt.Errorf("float values where codes are needed")
	}
	if s, axis, ok := format.ScaledAlong(t.Type.Format); ok {
		return t.channelLattice(s, axis)
	}
	exp, _, ok := t.Type.Format.Lattice()
	if !ok {
		return nil, fmt.Errorf("format %s has no common step of 63 bits", t.Type.Format)
	}
	if _, ok := format.AsFixed(t.Type.Format); ok {
		return &Lattice{Ints: t.Codes, Exps: []int{exp}}, nil
	}
	ints := make([]int64, len(t.Codes))
	for i, c := range t.Codes {
		v := t.Type.Format.Decode(c)
		if ints[i], ok = v.Int64(exp); !ok { // what it becomes in the fixed format of all finite values
			fx, _ := format.ExactFixed(t.Type.Format)
			ints[i] = fx.Encode(v)
		}
	}
	return &Lattice{Ints: ints, Exps: []int{exp}}, nil
}

// channelLattice handles codes with one power-of-two scale a channel.
func (t *Tensor) channelLattice(f format.Scaled, axis int) (*Lattice, error) {
	exps := make([]int, len(t.Type.Scales))
	for i, s := range t.Type.Scales {
		e, ok := format.Log2(s)
		if !ok {
			return nil, fmt.Errorf("scale %g of %s is not a power of two", s, f)
		}
		exps[i] = e
	}
	ints := t.Codes
	if _, zero := f.Factor(); zero != 0 {
		ints = make([]int64, len(t.Codes))
		for i, c := range t.Codes {
			ints[i] = c - zero
		}
	}
	return &Lattice{Ints: ints, Exps: exps, Axis: axis}, nil
}

// Decode returns the values as float64: exact for every format of up to 53 bits.
func (t *Tensor) Decode() ([]float64, error) {
	out := make([]float64, t.Type.Elems())
	if t.Type.IsFloat() {
		for i, v := range t.Floats {
			out[i] = float64(v)
		}
		return out, nil
	}
	if s, axis, ok := format.ScaledAlong(t.Type.Format); ok {
		inner := 1
		for _, d := range t.Type.Shape[axis+1:] {
			inner *= d
		}
		for i, c := range t.Codes {
			out[i] = s.DecodeAt(c, t.Type.Scales[i/inner%len(t.Type.Scales)]).Float64()
		}
		return out, nil
	}
	if b, ok := t.Type.Format.(format.Block); ok {
		return t.decodeBlocks(b)
	}
	if f, ok := format.AsFixed(t.Type.Format); ok && f.Floats(t.Codes, out) {
		return out, nil
	}
	for i, c := range t.Codes {
		out[i] = t.Type.Format.Decode(c).Float64()
	}
	return out, nil
}

// decodeBlocks decodes block by block.
func (t *Tensor) decodeBlocks(b format.Block) ([]float64, error) {
	if n := t.Type.Blocks(); len(t.BlockScales) < n {
		return nil, fmt.Errorf("%d scales for more blocks of %s", len(t.BlockScales), b)
	}
	out := make([]float64, len(t.Codes))
	t.EachBlock(func(block, from, to int) {
		format.DecodeFloatBlock(b, t.Codes[from:to], t.BlockScales[block], out[from:to])
	})
	return out, nil
}
