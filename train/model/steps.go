// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// stepRef is a step that a layer meets: one of Scales, or one that stands.
type stepRef struct {
	scale  int // -1: it stands
	stands float64
}

// powers says that the step is a power of two.
func (m *Model) powers(s stepRef) bool {
	if s.scale >= 0 {
		return m.Scales[s.scale].Powers
	}
	_, two := format.Log2(float32(s.stands))
	return two
}

// span is between which steps training may move it.
func (m *Model) span(s stepRef) (lo, hi float64) {
	if s.scale < 0 {
		return s.stands, s.stands
	}
	start := m.Scales[s.scale].Start
	return slices.Min(start) / (1 << reach), slices.Max(start) * (1 << reach)
}

// weighing is the steps of a layer, of which some is trained.
type weighing struct {
	data, weights, result stepRef
	// factored says that some step is no power of two: hardware multiplies sums, in steps of products, by a factor, and
	// the bias is encoded in steps of products.
	factored bool
}

// factorBits are those of the factors of hardware, resultBits those of f64.
const factorBits, resultBits = 31, 53

// weighingOf is what n, a layer, meets; ok is false where no step is trained.
func (m *Model) weighingOf(n *ir.Node) (w weighing, ok bool) {
	ref := func(known map[string]int, name string, stands float64) stepRef {
		if k, trained := known[name]; trained {
			ok = true
			return stepRef{k, stands}
		}
		return stepRef{-1, stands}
	}
	stands := func(t ir.Type) float64 {
		v, _ := format.IntegersOf(t.Format)
		return v.Step.Float64()
	}
	w.data = ref(m.learned, n.Args[0].Name, stands(n.Args[0].Type))
	w.weights = ref(m.learnedWeights, n.Args[1].Name, constStep(n.Args[1].Type))
	w.result = ref(m.learned, n.Name, stands(n.Type))
	w.factored = !m.powers(w.data) || !m.powers(w.weights) || !m.powers(w.result)
	return w, ok
}

// widenLearned decides for layers with trained steps in which floats their sums are exact, wherever steps move.
func (m *Model) widenLearned() error {
	m.weighings = map[string]weighing{}
	for i, n := range m.run.Nodes {
		if !n.Op.Traits.Weighted || n.IsConst() || !makesSteps(n) {
			continue
		}
		w, ok := m.weighingOf(n)
		if !ok {
			continue
		}
		m.weighings[n.Name] = w
		steps, limit := m.mostLearned(n, w), math.Ldexp(1, resultBits)
		if w.factored {
			limit = math.Ldexp(1, resultBits-factorBits)
		}
		t := double
		if !w.factored && steps < 1<<24 {
			t = single
		}
		m.Approximate = slices.DeleteFunc(m.Approximate, func(name string) bool { return name == n.Name })
		if steps >= limit {
			t, m.Approximate = inexact, append(m.Approximate, n.Name)
		}
		m.sums[m.float.Nodes[i]] = t
	}
	return nil
}

// mostLearned bounds the sums of n, in steps of their least bit.
func (m *Model) mostLearned(n *ir.Node, w weighing) float64 {
	most := func(t ir.Type) float64 {
		lo, hi := t.Format.Limits()
		step := 1.0
		if v, ok := format.IntegersOf(t.Format); ok {
			step = v.Step.Float64()
		} else if len(t.Scales) == 0 {
			step = constStep(t)
		}
		return math.Max(math.Abs(lo.Float64()), math.Abs(hi.Float64())) / step
	}
	shape := n.Args[1].Type.Shape
	terms := float64(n.Args[1].Type.Elems() / max(shape[0], 1))
	codes := terms * most(n.Args[0].Type) * most(n.Args[1].Type)
	if w.weights.scale < 0 && len(n.Args[1].Type.Scales) > 0 { // channels that stand have steps of their own
		codes *= float64(slices.Max(n.Args[1].Type.Scales)) / w.weights.stands
	}
	xLo, xHi := m.span(w.data)
	wLo, wHi := m.span(w.weights)
	if len(n.Args) < 3 {
		return codes
	}
	bias := 0.0
	if s, ok := m.coded[n.Args[2].Name]; ok {
		for _, v := range m.Params[s.param].Start {
			bias = max(bias, math.Abs(float64(v))*slack)
		}
	}
	finest := codes + bias/(xLo*wLo)
	if step := constStep(n.Args[2].Type); !w.factored && step > 0 {
		return max(finest, (codes*xHi*wHi+bias)/step)
	}
	return finest
}

// prepareSteps prints the steps that stand beside trained ones, outside of loops.
func (p *Forward) prepareSteps() {
	p.standing = map[float64]hlo.Value{}
	for _, n := range p.run.Nodes {
		w := p.weighings[n.Name]
		for _, s := range []stepRef{w.data, w.weights, w.result} {
			if _, known := p.standing[s.stands]; w.factored && s.scale < 0 && !known {
				p.standing[s.stands] = p.b.Weight(hlo.FromFloat64s(hlo.F64, nil, []float64{s.stands}))
			}
		}
	}
}

// printSteps prints the steps where training stands, f32 without a gradient: a number, or one a channel.
func (p *Forward) printSteps() {
	b := p.b
	p.steps = nil
	for i := range p.Scales {
		s, v := &p.Model.Scales[i], p.Scales[i]
		start := b.Const(hlo.FromFloat64s(hlo.F32, []int{len(s.Start)}, s.Start))
		num := func(x float64) hlo.Value { return b.Float(hlo.F32, x) }
		if s.Powers {
			e := b.RoundEven(b.Clamp(num(-reach), v, num(reach)))
			v = b.Mul(Power(b, e), start)
		} else {
			const rest = 24 - stepBits
			v = b.Mul(b.Clamp(num(1.0/(1<<reach)), v, num(1<<reach)), start)
			bits := b.Add(b.Bitcast(v, hlo.I32), b.Int(hlo.I32, 1<<(rest-1)))
			v = b.Bitcast(b.And(bits, b.Int(hlo.I32, -1<<rest)), hlo.F32)
		}
		if len(s.Start) == 1 {
			v = b.Reshape(v)
		}
		p.steps = append(p.steps, b.Through(v, b.Splat(v, 0)))
	}
}

// step is the step of a reference, in f64: the least one of channels.
func (p *Forward) step(s stepRef) hlo.Value {
	if s.scale < 0 {
		return p.standing[s.stands]
	}
	v := p.b.Convert(p.steps[s.scale], hlo.F64)
	if v.Type().Rank() > 0 {
		v = p.b.Reduce(hlo.ReduceMin, v, 0)
	}
	return v
}

// inSteps prints v, the sums of a layer, in steps of its result, as hardware has them: whole numbers of steps of
// products, times a factor of factorBits bits.
func (p *Forward) inSteps(w weighing, v hlo.Value) hlo.Value {
	b := p.b
	product := b.Mul(p.step(w.data), p.step(w.weights))
	ratio := b.Bitcast(b.Div(product, p.step(w.result)), hlo.I64)
	const rest = resultBits - factorBits
	num := func(x int64) hlo.Value { return b.Int(hlo.I64, x) }
	odd := b.And(b.ShiftRightLogical(ratio, num(rest)), num(1))
	ratio = b.And(b.Add(b.Add(ratio, num(1<<(rest-1)-1)), odd), num(-1<<rest))
	return b.Mul(b.RoundEven(b.Div(v, product)), b.Bitcast(ratio, hlo.F64))
}

// learnedResult rounds v, what node i of run computes, where it or a step that it reads is trained; ok is false
// elsewhere.
func (p *Forward) learnedResult(q *ir.Node, v hlo.Value) (rounded hlo.Value, ok bool) {
	k, trained := p.learned[q.Name]
	w, weighs := p.weighings[q.Name]
	if !trained && !(weighs && w.factored) {
		return v, false
	}
	codes, _ := format.IntegersOf(q.Type.Format)
	quotient, step := v, p.b.Float(hlo.F32, codes.Step.Float64())
	var s *Scale
	var leaf hlo.Value
	if trained {
		s, leaf, step = &p.Model.Scales[k], p.b.Reshape(p.Scales[k]), p.steps[k]
	}
	if weighs && w.factored {
		quotient = p.inSteps(w, v)
	} else {
		quotient = p.over(s, v, step)
	}
	return p.onSteps(codes, quotient, step, v, s, leaf), true
}

// inFloats says that q reads values whose steps are trained, so that what it computes of floats is exact, or that are
// no codes, behind a dropout.
func (p *Forward) inFloats(q *ir.Node) bool {
	return slices.ContainsFunc(q.Args, func(a *ir.Node) bool {
		_, ok := p.learned[a.Name]
		return ok || p.dropped[a.Name]
	})
}

// over prints v in trained steps: rounded next, which is exact where both are floats of f32 and what is divided is f64.
func (p *Forward) over(s *Scale, v, step hlo.Value) hlo.Value {
	d := v.Type().DType
	if !s.Powers {
		d = hlo.F64
	}
	return p.b.Div(p.b.Convert(v, d), p.b.Convert(step, d))
}

// onSteps prints v rounded to codes: quotient is v in steps. The gradient of v is 0 beyond the codes. That of a step
// is what rounding adds, in steps, or the last code beyond the codes, over the root of the number of values times the
// greatest code (Esser et al. 2020).
func (p *Forward) onSteps(c format.Integers, quotient, step, v hlo.Value, s *Scale, leaf hlo.Value) hlo.Value {
	b := p.b
	least, most := float64(c.Codes.Min()-c.Zero), float64(c.Codes.Max()-c.Zero)
	wide := func(x float64) hlo.Value { return b.Float(quotient.Type().DType, x) }
	num := func(x float64) hlo.Value { return b.Float(hlo.F32, x) }
	code := b.Clamp(wide(least), c.Codes.Round.HLO(b, quotient), wide(most))
	y := b.Mul(b.Convert(code, hlo.F32), step)
	x := b.Convert(v, hlo.F32)
	lo, hi := b.Mul(step, num(least)), b.Mul(step, num(most))
	source := b.Clamp(lo, x, hi)
	if s == nil {
		return b.Through(y, source)
	}
	inside := b.And(b.Compare(hlo.GE, x, lo), b.Compare(hlo.LE, x, hi))
	slope := b.Sub(y, b.Select(inside, x, b.Splat(x, 0)))
	if s.Powers {
		slope = b.Mul(slope, num(math.Ln2))
	} else {
		slope = b.Mul(slope, b.Div(num(s.Start[0]), step))
	}
	slope = b.Mul(slope, num(1/math.Sqrt(float64(s.elems)*max(most, 1))))
	slope = b.Through(slope, b.Splat(slope, 0))
	return b.Through(y, b.Add(source, b.Mul(slope, leaf)))
}

// roundWeights prints weights x rounded to codes of trained steps.
func (p *Forward) roundWeights(k int, x hlo.Value) hlo.Value {
	s, step, leaf := &p.Model.Scales[k], p.steps[k], p.Scales[k]
	x = p.b.Select(p.b.Compare(hlo.NE, x, x), p.b.Float(hlo.F32, 0), x) // NaN
	if step.Type().Rank() > 0 {
		step, leaf = p.b.Along(step, x.Type().Dims, 0), p.b.Along(leaf, x.Type().Dims, 0)
	} else {
		leaf = p.b.Reshape(leaf)
	}
	return p.onSteps(s.codes, p.over(s, x, step), step, x, s, leaf)
}

// learnedBias prints the bias of a layer in steps of its products, f64.
func (p *Forward) learnedBias(w weighing, x hlo.Value) hlo.Value {
	b := p.b
	step := p.step(w.weights)
	if k := w.weights.scale; k >= 0 {
		step = b.Convert(p.steps[k], hlo.F64)
	}
	step = b.Mul(p.step(w.data), step)
	x = b.Convert(x, hlo.F64)
	most := b.Float(hlo.F64, 1<<(biasBits-1)-1)
	return b.Through(b.Mul(b.Clamp(b.Neg(most), b.RoundEven(b.Div(x, step)), most), step), x)
}
