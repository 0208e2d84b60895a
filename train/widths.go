// SPDX-License-Identifier: Apache-2.0

package train

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/lower/plan"
	"lathe/train/model"
)

// quickly is how much faster than weights places move.
const quickly = 20

// widths adds leaves for the widths of all weights of layers that are trained, and of the data that they multiply where
// the plan asks for those: the places that their codes lose on the right, in place of a number of bits (as HGQ does,
// Sun et al. 2024, for fraction bits).
func (l *leaves) widths(t *plan.Bits) error {
	for i := range l.model.Params {
		p := &l.model.Params[i]
		k, direct := l.direct[i]
		if !direct || !p.Weighted {
			continue
		}
		if p.Steps == nil {
			return diag.New(diag.UntrainedFormat, p.Pos, "widths are trained of weights in fixed formats; those of %s have no"+
				" steps", p.Node).WithHint("set weight = \"fixed(8)\" in [quantize]")
		}
		shape := make([]int, len(p.Shape))
		for a, d := range p.Shape {
			if shape[a] = 1; t.Per == "element" || t.Per == "channel" && a == 0 {
				shape[a] = d
			}
		}
		places := leaf{param: i, rate: quickly}
		places.Param.Name, places.Node, places.Pos, places.Shape = p.Name+".places", p.Node, p.Pos, shape
		places.Start = make([]float32, (hlo.Type{Dims: shape}).Len())
		l.narrow[k] = len(l.all)
		l.all = append(l.all, places)
	}
	if !t.OfData() {
		return nil
	}
	for i := range l.model.Each {
		e := &l.model.Each[i]
		places := leaf{param: -1, rate: quickly}
		places.Param.Name, places.Node, places.Pos = e.Node+".places", e.Node, e.Pos
		places.Start = slices.Clone(e.Start)
		if t.Data == "tensor" {
			places.Start = []float32{slices.Min(e.Start)}
		}
		places.Shape = []int{len(places.Start)}
		l.data = append(l.data, len(l.all))
		l.all = append(l.all, places)
	}
	return nil
}

// dataPlaces prints the places that the channels of each value lose, nil where they are not trained.
func (l *leaves) dataPlaces(b *hlo.Builder, now []hlo.Value) []hlo.Value {
	var out []hlo.Value
	for i, k := range l.data {
		out = append(out, b.BroadcastTo(now[k], len(l.model.Each[i].Bits)))
	}
	return out
}

// lost are those places in the end, nil where they are not trained.
func (l *leaves) lost(now [][]float32) [][]float32 {
	var out [][]float32
	for i, k := range l.data {
		n := len(l.model.Each[i].Bits)
		out = append(out, slices.Repeat(now[k], n/len(now[k])))
	}
	return out
}

// dataBits prints the bits of what weights of p multiply, of the shape of the weights or one number.
func (l *leaves) dataBits(b *hlo.Builder, p *model.Param, places []hlo.Value) hlo.Value {
	if !p.Narrow || places == nil {
		return b.Float(hlo.F32, float64(p.DataBits))
	}
	e := &l.model.Each[p.Reads]
	bits, n := e.Width(b, places[p.Reads]), p.Shape[p.Along]
	bits = b.Reshape(b.BroadcastInDim(bits, []int{n / len(e.Bits), len(e.Bits)}, []int{1}), n)
	return b.Along(bits, p.Shape, p.Along)
}

// stepsOf are steps of channels, spread over a shape.
func stepsOf(steps []float64, shape []int) []float64 {
	n := hlo.Type{Dims: shape}.Len()
	out := make([]float64, n)
	for i := range out {
		out[i] = steps[i*len(steps)/n]
	}
	return out
}

// narrowed prints weights x of p that have lost places on the right, with the gradient of both, and the sum of their
// bits, each times those of the data that it multiplies.
func narrowed(b *hlo.Builder, p *model.Param, x, places, data hlo.Value) (rounded, bits hlo.Value) {
	dims := x.Type().Dims
	step := b.Const(hlo.FromFloat64s(hlo.F32, dims, stepsOf(p.Steps, dims)))
	places = b.BroadcastTo(b.Max(places, b.Float(hlo.F32, 0)), dims...)
	whole := b.Min(b.RoundEven(places), b.Float(hlo.F32, 64))
	up := model.Power(b, whole)
	code := b.Div(b.Div(x, step), up)
	value := b.Mul(b.Mul(b.RoundEven(code), up), step)
	// A place more moves the value by ln 2 times what rounding has taken off.
	slope := b.Mul(b.Float(hlo.F32, -math.Ln2), b.Sub(x, value))
	source := b.Add(x, b.Mul(stop(b, slope), places))
	// |code| has log2|code| + 1 bits, none from 1/2 down.
	size := b.Mul(b.Log(b.Max(b.Abs(b.Div(x, step)), b.Float(hlo.F32, 1e-30))), b.Float(hlo.F32, 1/math.Ln2))
	width := b.Sub(b.Add(stop(b, size), b.Float(hlo.F32, 1)), places)
	each := b.Mul(model.Bits(b, width), data)
	return b.Through(value, source), b.Reduce(hlo.ReduceAdd, b.Reshape(each, x.Type().Len()), 0)
}

// stop is v without a gradient.
func stop(b *hlo.Builder, v hlo.Value) hlo.Value { return b.Through(v, b.Splat(v, 0)) }

// cut rounds values as narrowed does: each of places is that of as many values in a row.
func cut(x []float32, places []float32, steps []float64) {
	for i, v := range x {
		step := steps[i*len(steps)/len(x)] * math.Ldexp(1, model.Places(places[i*len(places)/len(x)]))
		x[i] = float32(math.RoundToEven(float64(v)/step) * step)
	}
}

// price is that of a bit at step s of total.
func price(t *plan.Bits, s, total int) float64 {
	if !t.Given || t.Price == 0 {
		return 0
	}
	from := t.From
	if from <= 0 {
		return t.Price
	}
	return from * math.Pow(t.Price/from, float64(s)/float64(max(total-1, 1)))
}
