// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir/format"
)

// layer draws one whose inputs depend on each other, on a grid of integers.
func layer(seed uint64, rows, cols int) *Layer {
	r := rand.New(rand.NewPCG(seed, 0))
	l := New(rows, cols)
	l.Grid, _ = format.GridOf(format.Fixed{W: 3, Signed: true}, format.Fixed{W: 3, Signed: true})
	for range rows * cols {
		l.Weights, l.Scales = append(l.Weights, r.NormFloat64()), append(l.Scales, 0.75)
	}
	for range 8 * cols {
		x, y := make([]float64, cols), make([]float64, rows)
		common := r.NormFloat64()
		for i := range x {
			x[i] = 2*common + r.NormFloat64()
			for c := range y {
				y[c] += x[i] * l.Weights[c*cols+i]
			}
		}
		l.Add(y, x, 1)
	}
	return l
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// TestGain: both lose less than half of what the nearest codes lose, in every draw of dependent inputs.
func TestGain(t *testing.T) {
	for seed := range uint64(4) {
		for name, round := range map[string]func(*Layer) []int{"gptq": (*Layer).GPTQ, "adaround": (*Layer).AdaRound} {
			l := layer(seed, 5, 24)
			got := round(l)
			least := total(l.lossOf(l.Weights)) // which meet the target
			near, have := total(l.Loss(l.Nearest()))-least, total(l.Loss(got))-least
			if !(have < near/2) {
				t.Errorf("%s: lost %g, nearest codes %g", name, have, near)
			}
			again := layer(seed, 5, 24)
			if !slices.Equal(got, round(again)) {
				t.Errorf("%s: not the same again", name)
			}
		}
	}
}

// TestBest compares AdaRound with the best of all ways to round few weights up or down.
func TestBest(t *testing.T) {
	const cols = 10
	sum, best := 0.0, 0.0
	for seed := range uint64(10) {
		l := layer(seed, 1, cols)
		got := l.AdaRound()
		sum += l.Loss(got)[0] - l.lossOf(l.Weights)[0]
		least := math.Inf(1)
		at := make([]int, cols)
		for bits := range 1 << cols {
			for k, w := range l.Weights {
				at[k] = min(l.Grid.Below(w/l.Scales[k])+bits>>k&1, len(l.Grid.Values)-1)
			}
			least = min(least, l.Loss(at)[0]-l.lossOf(l.Weights)[0])
		}
		best += least
	}
	if !(sum < 1.5*best) {
		t.Errorf("AdaRound loses %g, the best choices %g", sum, best)
	}
}

// TestDead: inputs that are always 0 leave their weights nearest, whatever the others do.
func TestDead(t *testing.T) {
	for name, round := range map[string]func(*Layer) []int{"gptq": (*Layer).GPTQ, "adaround": (*Layer).AdaRound} {
		l := layer(1, 3, 12)
		for i := range l.Cols {
			l.Square[i*l.Cols+7], l.Square[7*l.Cols+i] = 0, 0
		}
		for r := range l.Rows {
			l.Target[r*l.Cols+7] = 0
		}
		near := l.Nearest()
		got := round(l)
		for r := range l.Rows {
			if k := r*l.Cols + 7; got[k] != near[k] {
				t.Errorf("%s: row %d: %d, nearest %d", name, r, got[k], near[k])
			}
		}
	}
}

// TestDigits: codes are of the grid, a row never has more of loss and price than with the nearest codes, so that its
// error is at most theirs and the price of their digits; a higher price leaves fewer digits; no price is GPTQ.
func TestDigits(t *testing.T) {
	for seed := range uint64(8) {
		cost := []float64{1, 1, 1, 1, 0, 1, 1, 2} // of -4 to 3
		least, digits := math.Inf(1), 0.0
		for _, each := range []float64{0, 1e-4, 1e-3, 1e-2, 100} {
			l := layer(seed, 5, 24)
			at := l.Digits(Price{Each: each, Cost: cost})
			if each == 0 && !slices.Equal(at, layer(seed, 5, 24).GPTQ()) {
				t.Errorf("seed %d: no price, and not the codes of GPTQ", seed)
			}
			if !slices.Equal(at, digitsOf(layer(seed, 5, 24), each, cost)) {
				t.Errorf("seed %d, price %g: not the same again", seed, each)
			}
			digits = 0
			for _, k := range at {
				digits += cost[k] // which faults beyond the grid
			}
			if digits > least {
				t.Errorf("seed %d, price %g: %g digits, a lower price leaves %g", seed, each, digits, least)
			}
			least = digits
			unit, near := each*l.spread(), l.Nearest()
			have, bound := l.Loss(at), l.Loss(near)
			for r := range have {
				for i := range l.Cols {
					have[r] += unit * cost[at[r*l.Cols+i]]
					bound[r] += unit * cost[near[r*l.Cols+i]]
				}
				if each > 0 && have[r] > bound[r]+1e-9*math.Abs(bound[r]) {
					t.Errorf("seed %d, price %g, row %d: loss and price %g, nearest codes %g", seed, each, r, have[r], bound[r])
				}
			}
		}
		if digits != 0 {
			t.Errorf("seed %d: at the price of 100 outputs, %g digits are left", seed, digits)
		}
	}
}

func digitsOf(l *Layer, each float64, cost []float64) []int {
	return l.Digits(Price{Each: each, Cost: cost})
}

// TestCenter: a centered layer, its bias moved by Offsets, makes the mean of what it should, whatever its codes.
func TestCenter(t *testing.T) {
	l := layer(3, 4, 6)
	x, y := []float64{3, 1, 4, 1, 5, 9}, []float64{2, 7, 1, 8}
	l.Add(y, x, 1)
	l.Center()
	at := l.Nearest()
	for r, off := range l.Offsets(at) {
		mean := off - l.made[r]/float64(l.places)
		for i, v := range l.read {
			mean += l.value(r*l.Cols+i, at[r*l.Cols+i]) * v / float64(l.places)
		}
		if math.Abs(mean) > 1e-9 {
			t.Errorf("row %d: off by %g on average", r, mean)
		}
	}
}
