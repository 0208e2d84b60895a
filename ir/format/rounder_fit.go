// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"

	"lathe/ir/hlo"
)

// fitter is a set that chooses a scale for values: fit in Go, fitHLO in programs, for rows [channels, n] of f64, one
// number each. Sums add up in another order there, so that scales may differ in their last bit.
type fitter interface {
	fitHLO(b *hlo.Builder, rows hlo.Value) hlo.Value
	times(s float32) Set
}

// fitted rounds each channel of x, along axis 0, at a scale that it chooses anew.
func (r *Rounder) fitted(b *hlo.Builder, x hlo.Value) hlo.Value {
	dims := x.Type().Dims
	rows := b.Reshape(b.Convert(x, hlo.F64), dims[0], x.Type().Len()/max(dims[0], 1))
	scale := r.fit.fitHLO(b, rows)
	least := b.Float(hlo.F64, math.SmallestNonzeroFloat32*(1<<30))
	scale = b.Select(b.Compare(hlo.GE, scale, least), scale, b.Float(hlo.F64, 1))
	scale = b.Convert(b.Convert(scale, hlo.F32), hlo.F64)
	wide := b.Along(scale, rows.Type().Dims, 0)
	var q hlo.Value
	if t, ternary := r.fit.(Ternary); ternary {
		q = t.roundHLO(b, rows)
	} else {
		q = b.Convert(r.lookUp(b, b.Convert(b.Div(rows, wide), hlo.F32)), hlo.F64)
	}
	return b.Reshape(b.Convert(b.Mul(q, wide), hlo.F32), dims...)
}

// meanHLO is the mean of the elements of rows where keep holds, 0 where there is none.
func meanHLO(b *hlo.Builder, rows, keep hlo.Value) hlo.Value {
	sum := b.Reduce(hlo.ReduceAdd, b.Select(keep, rows, b.Float(hlo.F64, 0)), 1)
	n := b.Reduce(hlo.ReduceAdd, b.Convert(keep, hlo.F64), 1)
	return b.Div(sum, b.Max(n, b.Float(hlo.F64, 1)))
}

func (f Binary) fitHLO(b *hlo.Builder, rows hlo.Value) hlo.Value {
	size := b.Abs(rows)
	return meanHLO(b, size, b.Compare(hlo.GE, size, b.Float(hlo.F64, 0)))
}

func (f Ternary) fitHLO(b *hlo.Builder, rows hlo.Value) hlo.Value {
	return meanHLO(b, b.Abs(rows), f.beyond(b, rows))
}

// beyond marks what does not become 0.
func (f Ternary) beyond(b *hlo.Builder, rows hlo.Value) hlo.Value {
	size, delta := b.Abs(rows), b.Float(hlo.F64, float64(f.Delta))
	if f.Delta != f.Scale/2 {
		return b.Compare(hlo.GT, size, delta)
	}
	mean := meanHLO(b, size, b.Compare(hlo.GE, size, b.Float(hlo.F64, 0)))
	mean = b.Convert(b.Convert(b.Mul(mean, b.Float(hlo.F64, 0.75)), hlo.F32), hlo.F64)
	return b.Compare(hlo.GT, size, b.Along(mean, rows.Type().Dims, 0))
}

// roundHLO are the signs of what does not become 0.
func (f Ternary) roundHLO(b *hlo.Builder, rows hlo.Value) hlo.Value {
	return b.Select(f.beyond(b, rows), b.Sign(rows), b.Float(hlo.F64, 0))
}

func (f Codebook) fitHLO(b *hlo.Builder, rows hlo.Value) hlo.Value {
	reach := math.Max(math.Abs(float64(f.at(0))), math.Abs(float64(f.at(f.len()-1))))
	return b.Div(b.Reduce(hlo.ReduceMax, b.Abs(rows), 1), b.Float(hlo.F64, reach))
}

// fitHLO takes the scale of least squares, from the largest magnitude on, as fit does.
func (f Residual) fitHLO(b *hlo.Builder, rows hlo.Value) hlo.Value {
	at := b.Div(b.Reduce(hlo.ReduceMax, b.Abs(rows), 1), b.Float(hlo.F64, float64(int(1)<<f.L-1)))
	one := f.times(1).(Residual)
	for range 4 {
		scale := b.Along(b.Max(at, b.Float(hlo.F64, math.SmallestNonzeroFloat32)), rows.Type().Dims, 0)
		k := one.nearestHLO(b, b.Div(rows, scale))
		square := b.Reduce(hlo.ReduceAdd, b.Mul(k, k), 1)
		product := b.Reduce(hlo.ReduceAdd, b.Mul(k, rows), 1)
		some := b.Compare(hlo.GT, square, b.Float(hlo.F64, 0))
		at = b.Select(some, b.Div(product, b.Max(square, b.Float(hlo.F64, 1))), at)
	}
	return at
}

// nearestHLO takes off level after level by the sign of the rest.
func (f Residual) nearestHLO(b *hlo.Builder, x hlo.Value) hlo.Value {
	sum := b.Splat(x, 0)
	for _, s := range f.levels() {
		level := b.Float(hlo.F64, math.Abs(s.Float64()))
		up := b.Compare(hlo.GE, b.Sub(x, sum), b.Float(hlo.F64, 0))
		sum = b.Add(sum, b.Select(up, level, b.Neg(level)))
	}
	return sum
}
