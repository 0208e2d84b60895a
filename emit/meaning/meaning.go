// SPDX-License-Identifier: Apache-2.0

// Package meaning says what the codes of a value mean, for programs beside a design that know nothing of formats.
package meaning

import (
	"fmt"
	"math"

	"lathe/ir"
	"lathe/ir/format"
)

// Values say what the codes of an input or output mean, so that a host program can make them of values and read them.
type Values struct {
	// Kind is "float"; "whole" for whole numbers of the model itself, of type Type in NumPy; "integer" for codes of the
	// value (code - zero) * scale; "block" for those with the further factor 2^(field - scale_bias) of their block, NaN
	// for the field of all ones; "table" for codes whose values a table lists; "code" for others.
	Kind string `json:"kind"`
	Type string `json:"type,omitempty"`
	Bits int    `json:"bits"`
	// Of whole numbers and integers. A value becomes value / scale, rounded to float32 first where Divide says so, then
	// rounded to an integer, plus zero, clamped to Min and Max, or cut to Bits bits where Wrap says so.
	Scale  float64 `json:"scale,omitempty"`
	Zero   int64   `json:"zero"`
	Min    int64   `json:"min"`
	Max    int64   `json:"max"`
	Round  string  `json:"round,omitempty"`
	Wrap   bool    `json:"wrap,omitempty"`
	Divide string  `json:"divide,omitempty"`
	// Of blocks along the last axis: the exponent of a block is that of its largest value, from ScaleMin to ScaleMax.
	Block     int `json:"block,omitempty"`
	ScaleBits int `json:"scale_bits,omitempty"`
	ScaleBias int `json:"scale_bias,omitempty"`
	ScaleMin  int `json:"scale_min,omitempty"`
	ScaleMax  int `json:"scale_max,omitempty"`
	// Table lists the values of all codes, null for NaN and infinities. From are the least values that become each of
	// Codes, in ascending order; smaller ones become the first, and -0 becomes MinusZero.
	Table     []*float64 `json:"table,omitempty"`
	From      []float32  `json:"from,omitempty"`
	Codes     []int64    `json:"codes,omitempty"`
	MinusZero int64      `json:"minus_zero,omitempty"`
}

// tableBits are those of the codes whose values are listed.
const tableBits = 8

// scaleBits are the most of a scale of blocks.
const scaleBits = 8

// mostBits are those of integers that a host converts in float64.
const mostBits = 53

// Of is what the codes of a type mean, in a graph at a stage.
func Of(t ir.Type, stage ir.Stage) Values {
	f := t.Format
	v := Values{Kind: "code", Bits: f.Width()}
	if t.IsFloat() {
		v.Kind = "float"
		return v
	}
	if ints, whole := ir.WholeOf(f); whole && stage == ir.StageFloat {
		v.Kind, v.Type, v.Min, v.Max = "whole", wholeName(ints), ints.Min(), ints.Max()
		return v
	}
	if _, _, beside := format.ScaledAlong(f); beside {
		return v
	}
	if b, block := t.BlockFormat(); block {
		return v.block(b)
	}
	if i, ok := format.IntegersOf(f); ok && i.Codes.W <= mostBits {
		v.integers(i)
		if format.WithExactQuotients(f) != f {
			v.Divide = "f32"
		}
		return v
	}
	if fx, ok := format.AsFixed(f); ok && fx.W <= mostBits {
		step := format.FromInt(1, -fx.F)
		fx.F = 0
		v.integers(format.Integers{Codes: fx, Step: step})
		return v
	}
	if format.Coded(f) && v.Bits <= tableBits {
		v.table(f)
	}
	return v
}

// wholeName is what NumPy calls the type of whole numbers.
func wholeName(ints format.Fixed) string {
	switch {
	case ints.W == 1:
		return "bool"
	case ints.Signed:
		return fmt.Sprintf("int%d", ints.W)
	}
	return fmt.Sprintf("uint%d", ints.W)
}

func (v *Values) integers(i format.Integers) {
	v.Kind, v.Scale, v.Zero = "integer", i.Step.Float64(), i.Zero
	v.Min, v.Max, v.Wrap, v.Round = i.Codes.Min(), i.Codes.Max(), i.Codes.Over == format.Wrap, i.Codes.Round.String()
}

// block describes blocks of integers with a scale of up to eight bits; others stay codes.
func (v Values) block(b format.Block) Values {
	element, ok := format.AsFixed(b.Element())
	if !ok || b.ScaleWidth() > scaleBits {
		return v
	}
	step := format.FromInt(1, -element.F)
	element.F = 0
	v.integers(format.Integers{Codes: element, Step: step})
	v.Kind, v.Block, v.ScaleBits, v.ScaleBias = "block", b.BlockSize(), b.ScaleWidth(), -b.ScaleExp(0)
	v.ScaleMin, v.ScaleMax = b.ScaleLimits()
	return v
}

// table lists the values of a format's codes, and where rounding goes from one to the next.
func (v *Values) table(f format.Format) {
	v.Kind, v.MinusZero = "table", f.Encode(format.FromFloat32(float32(math.Copysign(0, -1))))
	for code := range int64(1) << f.Width() {
		if x := f.Decode(code); x.IsFinite() {
			value := x.Float64()
			v.Table = append(v.Table, &value)
		} else {
			v.Table = append(v.Table, nil)
		}
	}
	code := func(order int64) int64 { return f.Encode(format.FromFloat32(ordered(order))) }
	last := int64(math.Float32bits(math.MaxFloat32))
	for from := -last; from <= last; {
		c := code(from)
		v.From, v.Codes = append(v.From, ordered(from)), append(v.Codes, c)
		low, high := from, last+1 // code(low) == c, and that of high is another
		for high-low > 1 {
			if middle := low + (high-low)/2; code(middle) == c {
				low = middle
			} else {
				high = middle
			}
		}
		from = high
	}
}

// ordered is the float32 at a place in their order: 0 at 0, positive ones behind.
func ordered(at int64) float32 {
	if at < 0 {
		return -math.Float32frombits(uint32(-at))
	}
	return math.Float32frombits(uint32(at))
}
