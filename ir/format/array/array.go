// SPDX-License-Identifier: Apache-2.0

// Package array encodes and decodes whole arrays of numbers, and multiplies encoded ones exactly. Arrays are
// row-major; block formats cut the last axis.
package array

import (
	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir/format"
)

// Encoded is an array of codes.
type Encoded struct {
	Format format.Format
	Shape  []int
	Codes  []int64 // one per element; sign-extended for signed integers, raw bits otherwise
	Scales []int64 // one scale field per block, in block order; nil for scalar formats
}

// layout is the number of rows along the last axis, their length, and the block length within a row.
type layout struct {
	rows, row, block int
	tiles            format.Tiling
}

// newLayout checks that the format can stand alone and that the shape has n elements.
func newLayout(f format.Format, shape []int, n int) (layout, error) {
	l := layout{rows: 1, row: 1}
	for i, d := range shape {
		if d < 0 {
			return l, diag.New(diag.FormatData, "", "shape %v has a negative dimension", shape)
		}
		if i == len(shape)-1 {
			l.row = d
		} else {
			l.rows *= d
		}
	}
	if l.rows*l.row != n {
		return l, diag.New(diag.FormatData, "", "%d elements for shape %v", n, shape)
	}
	if format.ScalesBeside(f) {
		return l, diag.New(diag.FormatData, "", "%s has no scale of its own",
			f).WithHint("write a number in place of the brackets")
	}
	if b, ok := f.(format.Block); ok {
		l.block, l.tiles = b.BlockSize(), format.NewTiling(b, shape)
		if b.Axis() >= 0 && b.Axis() != len(shape)-1 {
			return l, diag.New(diag.FormatData, "", "%s cuts axis %d, but only the last axis of shape %v can be cut here",
				f, b.Axis(), shape)
		}
	}
	return l, nil
}

// each calls visit for every block, for several at once.
func (l layout) each(visit func(k int)) {
	workers.Ranges(l.tiles.Count(), 1+(1<<14)/l.block, func(first, end int) {
		for k := first; k < end; k++ {
			visit(k)
		}
	})
}

// Encode rounds every element of x once to a code of f. The seed serves round=stochastic, with the row-major index.
func Encode(f format.Format, shape []int, x []float64, seed uint32) (*Encoded, error) {
	l, err := newLayout(f, shape, len(x))
	if err != nil {
		return nil, err
	}
	e := &Encoded{Format: f, Shape: shape, Codes: make([]int64, len(x))}
	b, ok := f.(format.Block)
	if !ok {
		encodeAll(f, e.Codes, x, seed)
		return e, nil
	}
	stochastic := format.Rounding(f) == format.RoundStochastic
	e.Scales = make([]int64, l.tiles.Count())
	l.each(func(k int) {
		e.Scales[k] = l.tiles.EncodeFloats(b, k, x, e.Codes)
		if !stochastic {
			return
		}
		scale := b.ScaleValue(e.Scales[k])
		if scale.IsNaN() {
			return
		}
		l.tiles.Pieces(k, func(from, to int) {
			for i := from; i < to; i++ {
				v := format.FromFloat64(x[i]).Quo(scale)
				e.Codes[i] = format.EncodeSeeded(f, v, format.StochasticWord(seed, uint32(i)))
			}
		})
	})
	return e, nil
}

// FromCodes takes codes, and for block formats scale fields, as they stand in a file. Codes may be sign-extended or
// raw bits; one that has more bits than the format is an error.
func FromCodes(f format.Format, shape []int, codes, scales []int64) (*Encoded, error) {
	l, err := newLayout(f, shape, len(codes))
	if err != nil {
		return nil, err
	}
	want := 0
	if b, ok := f.(format.Block); ok {
		want = l.tiles.Count()
		for i, s := range scales {
			if s < 0 || s>>b.ScaleWidth() != 0 {
				return nil, diag.New(diag.FormatData, "", "scale %d is %d, which has more than %d bits", i, s, b.ScaleWidth())
			}
		}
	}
	if len(scales) != want {
		return nil, diag.New(diag.FormatData, "", "shape %v in %s has %d scales, got %d", shape, f, want, len(scales))
	}
	if w := f.Width(); w < 63 {
		for i, c := range codes {
			if c < -1<<(w-1) || c >= 1<<w {
				return nil, diag.New(diag.FormatData, "", "code %d is %d, which has more than the %d bits of %s", i, c, w, f)
			}
		}
	}
	return &Encoded{Format: f, Shape: shape, Codes: codes, Scales: scales}, nil
}

// ScaleShape is the shape of Scales: the last axis counts blocks. Nil for scalar formats.
func (e *Encoded) ScaleShape() []int {
	l, err := newLayout(e.Format, e.Shape, len(e.Codes))
	if err != nil || l.block == 0 {
		return nil
	}
	if len(e.Shape) == 0 {
		return []int{1}
	}
	shape := append([]int{}, e.Shape...)
	rows, cols := l.tiles.Grid()
	shape[len(shape)-1] = cols
	if len(shape) > 1 {
		shape[len(shape)-2] = rows
	}
	return shape
}

// Values decodes every element. Values of more than 53 significant bits are rounded to even.
func (e *Encoded) Values() []float64 {
	out := make([]float64, len(e.Codes))
	b, ok := e.Format.(format.Block)
	if !ok {
		decodeAll(e.Format, out, e.Codes)
		return out
	}
	l, err := newLayout(e.Format, e.Shape, len(e.Codes))
	if err != nil {
		return nil // Encode and FromCodes have refused it
	}
	decode := func(codes []int64, scale int64, out []float64) { format.DecodeFloatBlock(b, codes, scale, out) }
	if b.Width() <= short && len(out) >= 1<<b.Width() {
		if t := format.NewBlockValues(b); t != nil {
			decode = t.Decode
		}
	}
	l.each(func(k int) {
		l.tiles.Pieces(k, func(from, to int) { decode(e.Codes[from:to], e.Scales[k], out[from:to]) })
	})
	return out
}

// Dot encodes the rows of a, shape [..., n], and the vector b, length n, and gives for each row the exact sum of
// products, rounded once to float64.
func Dot(fa format.Format, shape []int, a []float64, fb format.Format, b []float64, seed uint32) ([]float64, error) {
	x, err := Encode(fa, shape, a, seed)
	if err != nil {
		return nil, err
	}
	y, err := Encode(fb, []int{len(b)}, b, seed)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(fa, shape, len(a))
	switch {
	case err != nil:
		return nil, err
	case l.row != len(b):
		return nil, diag.New(diag.FormatData, "", "rows of %d elements times a vector of %d", l.row, len(b))
	}
	if b, ok := fa.(format.Block); ok && b.BlockRows() > 1 {
		return nil, diag.New(diag.FormatData, "", "%s has tiles, and rows are multiplied one by one", fa)
	}
	out, scales := make([]float64, l.rows), len(x.Scales)/max(l.rows, 1)
	for r := range out {
		var s []int64
		if l.block > 0 {
			s = x.Scales[r*scales : (r+1)*scales]
		}
		sum, err := format.DotExact(fa, x.Codes[r*l.row:(r+1)*l.row], s, fb, y.Codes, y.Scales)
		if err != nil {
			return nil, err
		}
		out[r] = sum.Float64()
	}
	return out, nil
}
