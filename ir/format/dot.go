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
	ints   Ints
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
		return Exact{}, diag.New(codeData, "", "a vector of %d codes times one of %d", len(acodes), len(bcodes))
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
	if a, ok := f.(Affine); ok && a.Axis >= 0 {
		return nil, needScale(f)
	}
	if blocks != len(scales) {
		return nil, diag.New(codeData, "", "%d codes of %s have %d scales, got %d", len(codes), f, blocks, len(scales))
	}
	o.ints, o.hasInt = AsInts(o.elem)
	return o, nil
}

func needScale(f Format) error {
	return diag.New(codeData, "", "%s has no scale of its own", f).WithHint("write a number in place of the brackets")
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
	if !x.hasInt || !y.hasInt || !finiteCodes(x, from, to) || !finiteCodes(y, from, to) {
		sum := Exact{}
		for i := from; i < to; i++ {
			sum = sum.Add(x.elem.Decode(x.codes[i]).Mul(y.elem.Decode(y.codes[i])))
		}
		return sum
	}
	return FromBig(intDot(x, y, from, to), 0).Mul(x.ints.Step).Mul(y.ints.Step)
}

// finiteCodes says that the integers of all the codes are their values.
func finiteCodes(o *operand, from, to int) bool {
	if o.ints.direct {
		return true
	}
	for _, c := range o.codes[from:to] {
		if !o.elem.Decode(c).IsFinite() {
			return false
		}
	}
	return true
}

// intDot is the integer dot product of elements from..to.
func intDot(x, y *operand, from, to int) *big.Int {
	if width := x.elem.Width() + y.elem.Width(); x.ints.direct && y.ints.direct &&
		x.ints.zero == 0 && y.ints.zero == 0 && width+bits.Len(uint(to-from)) <= 62 {
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

// WindowSum is the result of DotWindow.
type WindowSum struct {
	Code   int64 // in the accumulator format
	Sticky bool  // a block sum lay above the window and was saturated, or was NaN and left out
	Lost   int   // block sums of which bits lay below the window: Code is up to Lost steps too low
}

// DotWindow is the dot product of two vectors of block formats (scale fields powers of two, equal block sizes) in an
// accumulator acc = fixed(W,F): each exact block sum D*2^g is added as D << (g+F), saturated to W bits, or where that
// is negative as D >> -(g+F), floor; the total saturates once at the end.
func DotWindow(a Block, acodes, ascales []int64, b Block, bcodes, bscales []int64, acc Fixed) (WindowSum, error) {
	var out WindowSum
	x, err := newOperand(a, acodes, ascales)
	if err != nil {
		return out, err
	}
	y, err := newOperand(b, bcodes, bscales)
	switch {
	case err != nil:
		return out, err
	case len(acodes) != len(bcodes) || x.size != y.size:
		return out, diag.New(codeData, "", "%d codes in blocks of %d times %d in blocks of %d",
			len(acodes), x.size, len(bcodes), y.size)
	case !x.hasInt || !y.hasInt:
		return out, diag.New(codeAcc, "", "%s times %s has no integer block sums", a, b)
	}
	total := new(big.Int)
	for i := 0; i < len(acodes); i += x.size {
		scale := x.scale(i).Mul(y.scale(i))
		if scale.IsNaN() {
			out.Sticky = true
			continue
		}
		d := intDot(x, y, i, min(i+x.size, len(acodes)))
		out.addWindow(total, d, scale.Log2()+x.ints.exp+y.ints.exp+acc.F, acc)
	}
	acc.Over = Sat
	out.Code = acc.RequantBig(total, -acc.F)
	return out, nil
}

// addWindow adds d*2^shift to total as DotWindow says.
func (w *WindowSum) addWindow(total, d *big.Int, shift int, acc Fixed) {
	if shift < 0 {
		q := RSBig(d, -shift, RoundFloor)
		if int(d.TrailingZeroBits()) < -shift && d.Sign() != 0 {
			w.Lost++
		}
		total.Add(total, q)
		return
	}
	if d.Sign() != 0 && d.BitLen()+shift > acc.W+1 {
		shift = acc.W + 1 // enough to saturate, and no longer a huge integer
	}
	q := new(big.Int).Lsh(d, uint(shift))
	lo, hi := big.NewInt(acc.Min()), big.NewInt(acc.Max())
	switch {
	case q.Cmp(lo) < 0:
		q, w.Sticky = lo, true
	case q.Cmp(hi) > 0:
		q, w.Sticky = hi, true
	}
	total.Add(total, q)
}
