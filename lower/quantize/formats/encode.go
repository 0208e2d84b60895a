// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"math"

	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/lower/plan"
)

// encode replaces argument i of n by codes of type typ. A format that the plan gives in full may saturate: a warning
// then says how much.
func (q *quantizer) encode(n *ir.Node, i int, typ ir.Type, x []float32, c plan.Choice) {
	codes, channels := encoded(typ, x)
	name := n.Args[i].Name
	if _, open := c.Pattern.Open(); !open && !c.Calibrated && !channels {
		lo, hi := typ.Format.Limits()
		beyond, worst := 0, float32(0)
		for _, v := range x {
			if e := format.FromFloat32(v); e.Cmp(lo) < 0 || e.Cmp(hi) > 0 {
				beyond++
				worst = max(worst, float32(math.Abs(float64(v))))
			}
		}
		if beyond > 0 {
			q.report.Warn("%s: %d of %d values of %q lie outside of %s (up to %s) and saturate or wrap; set by %s",
				n.Name, beyond, len(x), name, typ.Format, diag.Number(float64(worst), 6), c.From)
		}
	}
	grid := typ.Format
	if format.Coded(typ.Format) && !column.TakesCodes(n) {
		f := typ.Format
		if typ.Format, codes = exactCodes(f, codes); typ.Format == nil {
			q.fail(n, diag.ConstantNotFinite, "constant %q takes more than %d bits in %s, counted in its smallest step", name,
				maxSteps, f)
			return
		}
	}
	q.setConst(n, i, typ, ir.CodeBlob(codes))
	q.grids[n.Args[i]] = grid
}

// encoded is the codes of x in a scalar format, and whether channels have scales of their own.
func encoded(typ ir.Type, x []float32) (codes []int64, channels bool) {
	codes = make([]int64, len(x))
	s, axis, channels := format.ScaledAlong(typ.Format)
	channels = channels && axis == 0
	size := len(x)
	if channels {
		size = len(x) / len(typ.Scales)
	}
	Rows(len(x)/max(size, 1), func(c int) {
		part, into := x[c*size:(c+1)*size], codes[c*size:(c+1)*size]
		switch fx, fixed := format.AsFixed(typ.Format); {
		case channels:
			if e, ok := format.Log2(typ.Scales[c]); ok {
				if f, ok := s.CodesAt(e); ok {
					f.EncodeFloats(into, part)
					return
				}
			}
			for k, v := range part {
				into[k] = s.EncodeAt(format.FromFloat32(v), typ.Scales[c])
			}
		case fixed:
			fx.EncodeFloats(into, part)
		default:
			for k, v := range part {
				into[k] = typ.Format.Encode(format.FromFloat32(v))
			}
		}
	})
	return codes, channels
}

// Again encodes other values x of a constant of type t, whose format is that of grid in Decisions.Grids or holds its
// values. Formats stay, and so do scales but those that are found in the values: of blocks, and of channels of few
// codes. ok is false where the values have no codes.
func Again(t ir.Type, grid format.Format, x []float32) (typ ir.Type, data *ir.Blob, ok bool) {
	typ = ir.Type{Shape: t.Shape, Format: t.Format, Scales: t.Scales}
	if b, blocks := t.BlockFormat(); blocks {
		v := ir.EncodeFloats(ir.Type{Shape: t.Shape, Format: b}, x)
		typ.Scales = ir.ScaleValues(b, v.BlockScales)
		return typ, ir.CodeBlob(v.Codes), true
	}
	if f, fitted := grid.(format.Fitted); fitted {
		codes, size := make([]int64, len(x)), len(x)/t.Shape[0]
		typ.Scales = make([]float32, t.Shape[0])
		for c := range typ.Scales {
			typ.Scales[c] = f.FitChannel(x[c*size:(c+1)*size], codes[c*size:(c+1)*size])
		}
		return typ, ir.CodeBlob(codes), true
	}
	typ.Format = grid
	codes, _ := encoded(typ, x)
	if typ.Format = t.Format; grid != t.Format {
		if typ.Format, codes = exactCodes(grid, codes); typ.Format == nil {
			return typ, nil, false
		}
	}
	return typ, ir.CodeBlob(codes), true
}

// exactCodes is the values of codes of f, which are no integers, in the format in which sums take constants; nil where
// they are too wide for any.
func exactCodes(f format.Format, codes []int64) (format.Format, []int64) {
	to := format.Constants(f)
	if _, _, ok := f.Lattice(); !ok { // of all codes, but perhaps of these
		if to, ok = format.FixedFor(f, codes); !ok {
			return nil, nil
		}
	}
	for i, c := range codes {
		codes[i] = to.Encode(f.Decode(c))
	}
	return to, codes
}

// Rows calls f for every row, on all processors.
func Rows(n int, f func(int)) { rowsWith(n, func(c int, _ *[]float32) { f(c) }) }

// rowsWith is rows with a buffer that rows share which come one after the other.
func rowsWith(n int, f func(c int, buf *[]float32)) {
	workers.Ranges(n, 1, func(from, to int) {
		var buf []float32
		for c := from; c < to; c++ {
			f(c, &buf)
		}
	})
}
