// SPDX-License-Identifier: Apache-2.0

package fit

import "math"

const (
	// adaSteps bounds the steps of AdaRound, and adaWork its multiplications; adaRate is the rate of learning.
	adaSteps, adaWork = 1000, 2e10
	adaRate           = 0.02
	// adaWarm is the share of steps in which nothing asks for decisions, adaWeight how much that counts afterwards.
	adaWarm, adaWeight = 0.2, 1.0
	// adaFirst and adaLast are the exponents of the term that asks for decisions.
	adaFirst, adaLast = 20.0, 2.0
	// adaLow and adaHigh stretch the sigmoid, such that its ends are reached.
	adaLow, adaHigh = -0.1, 1.1
)

// ada is the state of AdaRound: each weight is at lo + h*(hi-lo), where h is a rectified sigmoid of v.
type ada struct {
	lo        []int
	v, m, s   []float64 // m and s are the moments of Adam
	h         []float64
	values    []float64
	step      []float64 // hi-lo; 0 for weights beyond the ends of the grid
	gradients []float64
}

// AdaRound learns for each weight whether it is rounded up or down (Nagel et al., Up or Down? Adaptive Rounding for
// Post-Training Quantization, 2020), with the loss of all samples at once, by Adam from the nearest values on. Rows
// that gain nothing stay nearest.
func (l *Layer) AdaRound() []int {
	l.damped()
	near := l.Nearest()
	a := l.begin()
	loss := l.distance(near)
	if loss == 0 {
		return near
	}
	steps := int(min(adaSteps, adaWork/float64(l.Rows*l.Cols*l.Cols)+50))
	scale := float64(len(l.Weights)) / loss // such that the nearest values have loss 1 a weight
	for t := range steps {
		l.settle(a)
		multiply(l.Rows, l.Cols, l.Cols, a.values, l.Square, 0, a.gradients)
		at := float64(t) / float64(steps)
		beta := 0.0
		if at >= adaWarm {
			beta = adaLast + (adaFirst-adaLast)*(1+math.Cos(math.Pi*(at-adaWarm)/(1-adaWarm)))/2
		}
		l.eachRow(func(r int) {
			for k := r * l.Cols; k < (r+1)*l.Cols; k++ {
				g := 2 * (a.gradients[k] - l.Target[k]) * scale * a.step[k]
				if d := 2*a.h[k] - 1; beta > 0 && d != 0 { // of weight * (1-|2h-1|^beta)
					g -= adaWeight * beta * math.Pow(math.Abs(d), beta-1) * math.Copysign(2, d)
				}
				a.adam(k, t, g)
			}
		})
	}
	l.settle(a)
	out := make([]int, len(near))
	for k := range out {
		if out[k] = a.lo[k]; a.step[k] > 0 && a.h[k] >= 0.5 {
			out[k]++
		}
	}
	return l.better(near, out)
}

// distance is the squared error of the outputs with weights at indices into Grid in place of the real ones.
func (l *Layer) distance(at []int) (sum float64) {
	d, product := make([]float64, len(at)), make([]float64, len(at))
	for k, i := range at {
		d[k] = l.value(k, i) - l.Weights[k]
	}
	multiply(l.Rows, l.Cols, l.Cols, d, l.Square, 0, product)
	for k := range d {
		sum += d[k] * product[k]
	}
	return sum
}

// begin has h such that each weight is where it is.
func (l *Layer) begin() *ada {
	n := len(l.Weights)
	of := func() []float64 { return make([]float64, n) }
	a := &ada{lo: make([]int, n), v: of(), m: of(), s: of(), h: of(), values: of(), step: of(), gradients: of()}
	for k, w := range l.Weights {
		at := w / l.Scales[k]
		a.lo[k] = l.Grid.Below(at)
		if a.lo[k]+1 == len(l.Grid.Values) || at <= l.Grid.Values[0] {
			continue
		}
		a.step[k] = l.value(k, a.lo[k]+1) - l.value(k, a.lo[k])
		h := (w - l.value(k, a.lo[k])) / a.step[k]
		p := (h - adaLow) / (adaHigh - adaLow)
		a.v[k] = math.Log(p / (1 - p))
	}
	return a
}

// settle computes h and the values of the weights from v.
func (l *Layer) settle(a *ada) {
	l.eachRow(func(r int) {
		for k := r * l.Cols; k < (r+1)*l.Cols; k++ {
			a.h[k] = min(max(adaLow+(adaHigh-adaLow)/(1+math.Exp(-a.v[k])), 0), 1)
			a.values[k] = l.value(k, a.lo[k]) + a.h[k]*a.step[k]
		}
	})
}

// adam moves v of element k, where the loss changes by g with h, in step t.
func (a *ada) adam(k, t int, g float64) {
	const first, second, tiny = 0.9, 0.999, 1e-8
	if a.h[k] <= 0 || a.h[k] >= 1 {
		g = 0 // the sigmoid is cut off
	}
	p := 1 / (1 + math.Exp(-a.v[k]))
	g *= (adaHigh - adaLow) * p * (1 - p)
	a.m[k] = first*a.m[k] + (1-first)*g
	a.s[k] = second*a.s[k] + (1-second)*g*g
	m := a.m[k] / (1 - math.Pow(first, float64(t+1)))
	s := a.s[k] / (1 - math.Pow(second, float64(t+1)))
	a.v[k] -= adaRate * m / (math.Sqrt(s) + tiny)
}
