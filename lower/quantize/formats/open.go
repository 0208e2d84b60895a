// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"fmt"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/curve"
	"lathe/ir/op/dot"
	"lathe/ir/op/norm"
	"lathe/ir/op/sequence"
	"lathe/lower/own"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// What a model with formats of its own leaves unquantized stays exact where the plan asks for nothing: every bit of a
// result up to the next quantization, or as many as formats and units take.

const (
	// exactBits bounds the width of values that keep all bits, and is that of values that have no such format.
	exactBits = 32
	// layerBits is what layers that multiply, and norms, read of such values, and what inputs get.
	layerBits = 16
	// belowSteps is how many bits an input has below the finest step that the model rounds it to.
	belowSteps = 4
	// constBits holds every float32 in a range of 2^24.
	constBits = 25
	// biasGuard is how much finer than products a bias is: that is less than float32 tells of their sum.
	biasGuard = 12
	// beyondSamples is how many bits values have above the greatest that calibration has seen, where bounds are wider.
	beyondSamples = 4
)

// staysExact says that the plan leaves the data of a quantized model to it.
func (q *quantizer) staysExact() bool { return q.own.Quantized && !q.plan.Quantize.Data.Given }

// leftOpen says that neither the plan nor the model gives the result of n a format.
func (q *quantizer) leftOpen(n *ir.Node) bool {
	if _, ok := q.own.Format(n); ok || !q.staysExact() || q.wanted[n] != nil || q.rule(n, dataOut) != nil {
		return false
	}
	return true
}

// openChoice is the format of a result that is left open: the one that holds every bit, else the widest fixed one that
// n takes, with the values that n can have.
func (q *quantizer) openChoice(n *ir.Node) plan.Choice {
	if f, ok := exactResult(n); ok && q.takes(n, f) {
		return plan.Choice{Pattern: format.PatternOf(f), From: "every bit of the result, which the model leaves open"}
	}
	for _, w := range []int{exactBits, constBits - 1, layerBits} {
		f := format.Fixed{W: w, Signed: true}
		f.F = calib.Frac(f, q.room(n), plan.MinMax)
		if q.takes(n, f) {
			q.cut[n] = true
			return plan.Choice{Pattern: format.PatternOf(f), Calibrated: q.sampled,
				From: "the widest format for a result that the model leaves open"}
		}
	}
	return q.plan.Quantize.Data
}

// exactResult is the format that holds every result of n.
func exactResult(n *ir.Node) (format.Format, bool) {
	if !n.Op.Traits.Joins {
		return dot.ExactResult(n, exactBits)
	}
	if f, ok := allOf(n.Args); ok {
		return f, true
	}
	return kept(n)
}

// kept is the one format of all arguments, which the result can have too; false where there is none.
func kept(n *ir.Node) (format.Format, bool) {
	f := n.Args[0].Type.Format
	for _, a := range n.Args {
		if a.Type.IsFloat() || a.Type.Scales != nil || a.Type.Format.String() != f.String() {
			return nil, false
		}
	}
	like := *n
	like.Type.Format, like.Type.Scales = f, nil
	return f, n.Op.Legal == nil || n.Op.Legal(&like) == nil
}

// allOf is the fixed format of up to exactBits bits that holds all values of nodes; false where there is none.
func allOf(nodes []*ir.Node) (format.Format, bool) {
	all := format.Fixed{F: math.MinInt32}
	top := math.MinInt32
	for _, n := range nodes {
		f, ok := format.AsFixed(n.Type.Format)
		if !ok {
			return nil, false
		}
		all.F, all.Signed = max(all.F, f.F), all.Signed || f.Signed
		top = max(top, f.W-f.F-signBits(f))
	}
	all.W = top + all.F + signBits(all)
	return all, all.W <= exactBits
}

func signBits(f format.Fixed) int {
	if f.Signed {
		return 1
	}
	return 0
}

// takes says that n may have results in format f. What joins values asks for nothing but one format, which casts give.
func (q *quantizer) takes(n *ir.Node, f format.Format) bool {
	was := n.Type
	defer func() { n.Type = was }()
	n.Type.Format, n.Type.Scales = f, nil
	return n.Op.Traits.Joins || n.Op.Legal == nil || n.Op.Legal(n) == nil
}

// room bounds the values of n: by interval analysis from the formats of the model, and not far beyond the samples.
func (q *quantizer) room(n *ir.Node) *calib.Values {
	seen, most := q.values[n], 0.0
	if seen == nil {
		seen = &calib.Values{Min: -1, Max: 1}
	}
	most = max(-seen.Min, seen.Max)
	if q.sampled {
		most = math.Ldexp(most, beyondSamples)
	}
	v := &calib.Values{Min: -most, Max: most}
	if b := q.bounds[n]; b != nil && b.Max-b.Min >= 0 {
		v.Min, v.Max = max(v.Min, b.Min), min(v.Max, b.Max)
	}
	return v
}

// narrowed narrows what n reads of values that are left open to what its unit takes, and what norms and softmax read of
// any.
func (q *quantizer) narrowed(n *ir.Node) {
	q.withoutZeros(n)
	q.narrowFine(n)
	if !q.staysExact() || q.rule(n, dataIn) != nil {
		return
	}
	t := &n.Op.Traits
	switch {
	case t.Curve:
		q.narrow(n, curve.LookedUp)
	case t.Weighted && !oneTerm(n), !(t.Weighted || t.Elementwise || t.Monotone || t.Joins || t.KeepsCodes):
		q.narrow(n, layerBits)
	case n.Op.Exact != nil && !t.Weighted:
		for _, w := range []int{constBits - 1, layerBits} {
			if f, err := n.Op.Exact(n); err != nil || f.Width() < arith.ProductBits {
				break
			}
			q.narrow(n, w)
		}
	}
}

// narrow casts arguments of n that are fixed and have more bits.
func (q *quantizer) narrow(n *ir.Node, w int) {
	for i, a := range n.Args {
		if f, fixed := format.AsFixed(a.Type.Format); !a.IsConst() && fixed && f.W > w {
			n.Args[i] = q.cast(a, openFormat(w, fmt.Sprintf("what %s takes", n.Op.Name)), n, q.values[a])
			q.cut[n.Args[i]] = true
		}
	}
}

// oneTerm says that a weighted node multiplies each element by one factor.
func oneTerm(n *ir.Node) bool { return n.Args[1].Type.Elems() == n.Args[1].Type.Shape[0] }

// roundedInput is the choice for an input that the model rounds in several formats, or the plan channel by channel: it
// comes with some bits below their finest step; false where others read it too.
func (q *quantizer) roundedInput(n *ir.Node) (plan.Choice, bool) {
	f, ok := q.belowChannels(n)
	if !ok {
		return plan.Choice{}, false
	}
	lo, hi := f.Limits()
	q.wanting[n.Name] = calib.Range{Min: lo.Float64(), Max: hi.Float64()}
	who, how := "the model", "in more than one way"
	switch {
	case q.forChannels(n):
		who, how = "the plan", "channel by channel"
	case slices.ContainsFunc(q.users[n], own.Channels):
		how = "channel by channel"
	}
	q.report.Note("%s rounds input %q %s: it comes in %s; [[input]] format chooses otherwise", who, n.Name, how, f)
	return plan.Choice{Pattern: format.PatternOf(f), From: who + " rounds it " + how}, true
}

// belowChannels is the format of some bits below the finest step of the channels that all that reads n is rounded to;
// false where others read n, or where those are too many.
func (q *quantizer) belowChannels(n *ir.Node) (format.Fixed, bool) {
	f, ok := q.own.Cut(q.g, n)
	below := max(layerBits-f.W, belowSteps)
	f.W, f.F = f.W+below, f.F+below
	return f, ok && f.W <= exactBits
}

// openInput is the choice for an input that the model leaves unquantized, or quantizes channel by channel.
func (q *quantizer) openInput(n *ir.Node) plan.Choice {
	if c, ok := q.roundedInput(n); ok {
		return c
	}
	c := openFormat(layerBits, "the model leaves it unquantized")
	q.report.Note("the model does not quantize its input %q: it gets %d bits; [[input]] format chooses otherwise", n.Name,
		layerBits)
	return c
}

// openConst is the choice for a constant that the model leaves unquantized.
func (q *quantizer) openConst(n *ir.Node, i int, c plan.Choice) plan.Choice {
	const why = "the model leaves it unquantized"
	switch {
	case !q.staysExact() || c.Given || (norm.HasGains(n.Op) || sequence.TakesAngles(n.Op)) && i > 0:
		return c
	case n.Op.Traits.Weighted && i == 1:
		return openFormat(layerBits, why)
	}
	return openFormat(constBits, why)
}

// factors makes the factors of a scale signs with scales: products are as wide as data, and the rounding of the result
// takes the scales. It says whether it has.
func (q *quantizer) factors(n *ir.Node, i int, x []float32, c plan.Choice) bool {
	if !q.staysExact() || c.Given || !n.Op.Traits.Weighted || i != 1 || !oneTerm(n) {
		return false
	}
	signs, scales := make([]int64, len(x)), make([]float32, len(x))
	for k, v := range x {
		switch scales[k] = float32(math.Abs(float64(v))); {
		case v == 0:
			scales[k] = 1
		case v < 0:
			signs[k] = -1
		default:
			signs[k] = 1
		}
	}
	typ := ir.Type{Shape: n.Args[i].Type.Shape, Format: format.Affine{W: 2, Signed: true, Axis: 0}, Scales: scales}
	if slices.Min(scales) == slices.Max(scales) {
		typ.Scales, typ.Format = nil, format.Affine{W: 2, Signed: true, Scale: scales[0], Axis: format.PerTensor}
		if e, ok := format.Log2(scales[0]); ok {
			typ.Format = format.Fixed{W: 2, F: -e, Signed: true}
		}
	}
	q.explain(n, "weight", typ, c.From)
	q.setConst(n, i, typ, ir.CodeBlob(signs))
	return true
}

// lastBit is the fraction bits that hold every value of x; none where all are 0.
func lastBit(x []float32) int {
	frac, found := 0, false
	for _, v := range x {
		if _, exp := arith.Significand(v); v != 0 && (!found || -exp > frac) {
			frac, found = -exp, true
		}
	}
	return frac
}

// noteCut tells which values that the model leaves open have no exact format.
func (q *quantizer) noteCut() {
	var names []string
	for _, n := range q.g.Nodes {
		if q.cut[n] {
			names = append(names, fmt.Sprintf("%s (%s)", n.Name, n.Type.Format))
		}
	}
	if len(names) == 0 {
		return
	}
	q.report.Note("no format of up to %d bits holds every bit of values that the model leaves unquantized, so they are "+
		"rounded: %s; a [[quantize.rule]] with data_out chooses otherwise", exactBits, diag.Several(names))
}
