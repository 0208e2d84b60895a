// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"math"
	"math/bits"

	"lathe/rtl/cmvm"
)

// Price is what codes cost, beside the error that they make.
type Price struct {
	// Each is the price of a unit of Cost, in shares of the variance that an output of the layer has on average: an error
	// of that share is as bad.
	Each float64
	// Cost is that of each value of Grid: nothing is below 0.
	Cost []float64
}

// descents bounds how often all weights of a row are looked at again, and descentWork the multiplications.
const descents, descentWork = 40, 2e10

// Digits rounds weights such that the loss and the price of the codes are least together: column after column as GPTQ,
// and then one weight of a row after the other, for as long as both together become less. A row never has more of them
// than with the nearest codes. Without a price it is GPTQ. It returns indices into Grid.
func (l *Layer) Digits(p Price) []int {
	if p.Each == 0 {
		return l.GPTQ()
	}
	l.damped()
	unit := p.Each * l.spread()
	pick := func(k int, want, curve float64) int { return l.pick(k, want, curve, unit, p.Cost) }
	best := l.Nearest()
	l.descend(best, pick)
	if out, ok := l.feedback(pick); ok {
		l.descend(out, pick)
		x, y := l.priced(best, unit, p.Cost), l.priced(out, unit, p.Cost)
		for r := range x {
			if y[r] < x[r] {
				copy(best[r*l.Cols:(r+1)*l.Cols], out[r*l.Cols:(r+1)*l.Cols])
			}
		}
	}
	return best
}

// priced is the loss of each row and what its codes cost.
func (l *Layer) priced(at []int, unit float64, cost []float64) []float64 {
	out := l.Loss(at)
	for k, i := range at {
		out[k/l.Cols] += unit * cost[i]
	}
	return out
}

// pick is the index of the value for element k of which the squared distance from want, times curve, and the cost,
// times unit, are least together.
func (l *Layer) pick(k int, want, curve, unit float64, cost []float64) int {
	near := l.Grid.Nearest(want / l.Scales[k])
	best := near
	loss := func(i int) float64 {
		d := l.value(k, i) - want
		return curve * d * d
	}
	least := loss(near) + unit*cost[near]
	for _, step := range []int{-1, 1} {
		for i := near + step; i >= 0 && i < len(cost); i += step {
			far := loss(i)
			if far >= least {
				break
			}
			if have := far + unit*cost[i]; have < least {
				best, least = i, have
			}
		}
	}
	return best
}

// descend lets pick choose weights anew, one after the other, each for what the others of its row leave.
func (l *Layer) descend(at []int, pick func(k int, want, curve float64) int) {
	sweeps := int(min(descents, descentWork/float64(l.Rows*l.Cols*l.Cols)+1))
	l.eachRow(func(r int) {
		from := r * l.Cols
		slope := make([]float64, l.Cols) // half the gradient
		for i := range slope {
			slope[i] = -l.Target[from+i]
			for j, s := range l.Square[i*l.Cols : (i+1)*l.Cols] {
				slope[i] += s * l.value(from+j, at[from+j])
			}
		}
		for range sweeps {
			moved := false
			for i := range l.Cols {
				k, curve := from+i, l.Square[i*l.Cols+i]
				have := l.value(k, at[k])
				next := pick(k, have-slope[i]/curve, curve)
				if next == at[k] {
					continue
				}
				by := l.value(k, next) - have
				for j, s := range l.Square[i*l.Cols : (i+1)*l.Cols] {
					slope[j] += by * s
				}
				at[k], moved = next, true
			}
			if !moved {
				break
			}
		}
	})
}

// Costs are those of weights of some values, for a Price: of layers that are wired into sums, their signed digits; of
// others, the bits of their magnitude, none for 0. Values are numbers of one finest step.
func Costs(values []float64, unrolled bool) []float64 {
	step := 0 // of which all are multiples: 2^step
	for _, v := range values {
		if v != 0 {
			f, e := math.Frexp(v)
			step = min(step, e-53+bits.TrailingZeros64(uint64(math.Abs(math.Ldexp(f, 53)))))
		}
	}
	out := make([]float64, len(values))
	for i, v := range values {
		switch w := int64(math.Ldexp(v, -step)); {
		case unrolled:
			out[i] = float64(cmvm.Digits([][]int64{{w}}))
		default:
			out[i] = float64(bits.Len64(uint64(max(w, -w))))
		}
	}
	return out
}
