// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/big"
	"math/bits"

	"lathe/internal/diag"
)

// operand is one encoded vector.
type operand struct {
	f      Format
	elem   Format // of the block elements, or f itself
	block  Block  // nil for scalar formats
	size   int    // elements that share a scale
	codes  []int64
	scales []int64
	ints   Integers
	hasInt bool
}

// DotExact is the exact sum of the products of two encoded vectors; ascales and bscales hold one scale field per
// block of a block format and are nil for scalar formats. NaN where an operand, or a product of zero and infinity, is.
func DotExact(a Format, acodes, ascales []int64, b Format, bcodes, bscales []int64) (Exact, error) {
	x, err := newOperand(a, acodes, ascales)
	if err != nil {
		return Exact{}, err
	}
	y, err := newOperand(b, bcodes, bscales)
	if err != nil {
		return Exact{}, err
	}
	if len(acodes) != len(bcodes) {
		return Exact{}, diag.New(diag.FormatData, "", "a vector of %d codes times one of %d", len(acodes), len(bcodes))
	}
	sum := Exact{}
	for i := 0; i < len(acodes); {
		end := min(len(acodes), (i/x.size+1)*x.size, (i/y.size+1)*y.size)
		d := segment(x, y, i, end)
		sum = sum.Add(d.Mul(x.scale(i)).Mul(y.scale(i)))
		i = end
	}
	return sum, nil
}

func newOperand(f Format, codes, scales []int64) (*operand, error) {
	o := &operand{f: f, elem: f, size: max(len(codes), 1), codes: codes, scales: scales}
	blocks := 0
	if b, ok := f.(Block); ok {
		o.block, o.elem, o.size = b, b.Element(), b.BlockSize()
		blocks = (len(codes) + o.size - 1) / o.size
	}
	if ScalesBeside(f) {
		return nil, needScale(f)
	}
	if blocks != len(scales) {
		return nil, diag.New(diag.FormatData, "", "%d codes of %s have %d scales, got %d", len(codes), f, blocks, len(scales))
	}
	o.ints, o.hasInt = IntegersOf(o.elem)
	return o, nil
}

func needScale(f Format) error {
	return diag.New(diag.FormatData, "", "%s has no scale of its own",
		f).WithHint("write a number in place of the brackets")
}

// scale is the scale of element i.
func (o *operand) scale(i int) Exact {
	if o.block == nil {
		return FromInt(1, 0)
	}
	return o.block.ScaleValue(o.scales[i/o.size])
}

// segment is the sum of elements from..to at scale 1.
func segment(x, y *operand, from, to int) Exact {
	if !x.hasInt || !y.hasInt {
		sum := Exact{}
		for i := from; i < to; i++ {
			sum = sum.Add(x.elem.Decode(x.codes[i]).Mul(y.elem.Decode(y.codes[i])))
		}
		return sum
	}
	return FromBig(intDot(x, y, from, to), 0).Mul(x.ints.Step).Mul(y.ints.Step)
}

// intDot is the integer dot product of elements from..to.
func intDot(x, y *operand, from, to int) *big.Int {
	width := x.elem.Width() + y.elem.Width() + bits.Len(uint(to-from))
	if x.ints.Zero == 0 && y.ints.Zero == 0 && width <= 62 {
		var sum int64
		for i := from; i < to; i++ {
			sum += x.ints.Of(x.codes[i]) * y.ints.Of(y.codes[i])
		}
		return big.NewInt(sum)
	}
	sum, p, q := new(big.Int), new(big.Int), new(big.Int)
	for i := from; i < to; i++ {
		p.SetInt64(x.ints.Of(x.codes[i]))
		sum.Add(sum, p.Mul(p, q.SetInt64(y.ints.Of(y.codes[i]))))
	}
	return sum
}
