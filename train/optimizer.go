// SPDX-License-Identifier: Apache-2.0

package train

import (
	"math"

	"lathe/ir/hlo"
	"lathe/lower/plan"
)

// Numbers of the state of AdamW (Loshchilov and Hutter 2019, algorithm 2).
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// moments is how many arrays an optimizer keeps for each that is trained.
func moments(t *plan.Train) int {
	switch {
	case t.Optimizer == "adamw":
		return 2
	case t.Momentum > 0:
		return 1
	}
	return 0
}

// Columns of the numbers of a step.
const (
	rateColumn = iota // the learning rate
	meanColumn        // 1/(1-beta1^t)
	squareColumn
	priceColumn // of a bit
	countColumn // 0 for a step that is none: it changes nothing
	dropColumn  // the seed of dropout, a whole number
	columns
)

// rates are the numbers of steps from on, a row each.
func rates(t *plan.Train, bits *plan.Bits, from, count, total int) []float32 {
	var out []float32
	for s := from; s < from+count; s++ {
		n := float64(s + 1)
		out = append(out, float32(rate(t, s, total)), float32(1/(1-math.Pow(beta1, n))),
			float32(1/(1-math.Pow(beta2, n))), float32(price(bits, s, total)), 1, float32(dropSeed(t.Seed, s)))
	}
	return out
}

// rate is the learning rate of step s of total: it rises linearly over the warm-up, and then stays, or falls to 0 along
// a line or half a cosine.
func rate(t *plan.Train, s, total int) float64 {
	warm := int(t.Warmup * float64(total))
	if s < warm {
		return t.LR * float64(s+1) / float64(warm+1)
	}
	done := float64(s-warm) / float64(max(total-warm, 1))
	switch t.Schedule {
	case "cosine":
		return t.LR * (1 + math.Cos(math.Pi*done)) / 2
	case "linear":
		return t.LR * (1 - done)
	}
	return t.LR
}

// update prints the step of one array: p is what it was, g its gradient, state its moments, numbers the row of the
// step. It gives the array and its moments.
func update(b *hlo.Builder, t *plan.Train, l *leaf, p, g hlo.Value, state []hlo.Value,
	numbers hlo.Value) []hlo.Value {
	num := func(v float64) hlo.Value { return b.Float(hlo.F32, v) }
	column := func(i int) hlo.Value { return b.Reshape(b.SliceAxis(numbers, 0, i, i+1)) }
	lr := column(rateColumn)
	decay := num(0)
	if l.rate > 0 {
		lr = b.Mul(lr, num(l.rate))
	}
	if l.Decays {
		decay = num(t.WeightDecay)
	}
	switch {
	case t.Optimizer == "adamw":
		m := b.Add(b.Mul(num(beta1), state[0]), b.Mul(num(1-beta1), g))
		v := b.Add(b.Mul(num(beta2), state[1]), b.Mul(num(1-beta2), b.Mul(g, g)))
		root := b.Add(b.Sqrt(b.Mul(v, column(squareColumn))), num(epsilon))
		step := b.Add(b.Div(b.Mul(m, column(meanColumn)), root), b.Mul(decay, p))
		return []hlo.Value{b.Sub(p, b.Mul(lr, step)), m, v}
	case t.Momentum > 0:
		g = b.Add(g, b.Mul(decay, p))
		m := b.Add(b.Mul(num(t.Momentum), state[0]), g)
		step := m
		if t.Nesterov {
			step = b.Add(g, b.Mul(num(t.Momentum), m))
		}
		return []hlo.Value{b.Sub(p, b.Mul(lr, step)), m}
	}
	g = b.Add(g, b.Mul(decay, p))
	return []hlo.Value{b.Sub(p, b.Mul(lr, g))}
}
