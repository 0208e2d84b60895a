// SPDX-License-Identifier: Apache-2.0

package onnx

import "math"

// recurrence is a recurrent node, and its inputs as the standard names them, the batch second.
type recurrence struct {
	op                           string
	steps, batch, inputs, hidden int
	dirs                         []string
	x, w, r, b, h0, c0, p        []float32
	lengths                      []int64
	layout, before, coupled      bool
	clip                         float64
	functions                    []string
	alphas, betas                []float32
	fixedStates                  bool
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// slowFunction is an activation of the standard.
func slowFunction(name string, alpha, beta, x float64) float64 {
	switch name {
	case "Sigmoid":
		return sigmoid(x)
	case "Tanh":
		return math.Tanh(x)
	case "Relu":
		return max(x, 0)
	case "Affine":
		return alpha*x + beta
	case "LeakyRelu":
		return max(x, 0) + alpha*min(x, 0)
	case "ThresholdedRelu":
		if x > alpha {
			return x
		}
		return 0
	case "ScaledTanh":
		return alpha * math.Tanh(beta*x)
	case "HardSigmoid":
		return min(max(alpha*x+beta, 0), 1)
	case "Elu":
		return max(x, 0) + alpha*(math.Exp(min(x, 0))-1)
	case "Softsign":
		return x / (1 + math.Abs(x))
	case "Softplus":
		return math.Log(1 + math.Exp(x))
	}
	panic(name)
}

// slow evaluates the equations of the standard, a number at a time: Y [T,D,B,H], Y_h and Y_c [D,B,H].
func (s *recurrence) slow() (y, yh, yc []float64) {
	n, d, h := s.batch, len(s.dirs), s.hidden
	y = make([]float64, s.steps*d*n*h)
	per := map[string]int{"LSTM": 3, "GRU": 2, "RNN": 1}[s.op]
	for k, dir := range s.dirs {
		f := func(i int) func(float64) float64 { // function i of the direction
			i += k * per
			var a, b float64
			if i < len(s.alphas) {
				a = float64(s.alphas[i])
			}
			if i < len(s.betas) {
				b = float64(s.betas[i])
			}
			return func(x float64) float64 {
				if s.clip > 0 {
					x = min(max(x, -s.clip), s.clip)
				}
				return slowFunction(s.functions[i], a, b, x)
			}
		}
		for e := range n {
			state, cell := make([]float64, h), make([]float64, h)
			for i := range h {
				if s.h0 != nil {
					state[i] = float64(s.h0[(k*n+e)*h+i])
				}
				if s.c0 != nil {
					cell[i] = float64(s.c0[(k*n+e)*h+i])
				}
			}
			last := s.steps
			if s.lengths != nil {
				last = int(s.lengths[e])
			}
			for step := range last {
				t := step
				if dir == "reverse" {
					t = last - 1 - step
				}
				state, cell = s.step(k, s.x[(t*n+e)*s.inputs:][:s.inputs], state, cell, f)
				copy(y[((t*d+k)*n+e)*h:], state)
			}
			yh, yc = append(yh, state...), append(yc, cell...)
		}
	}
	return y, yh, yc
}

// step is one step of direction k.
func (s *recurrence) step(k int, x []float32, h, c []float64, f func(int) func(float64) float64) (h2, c2 []float64) {
	gates := len(s.w) / (len(s.dirs) * s.hidden * s.inputs)
	own := func(g, i int) float64 { // W x + Wb of a gate
		row, sum := (k*gates+g)*s.hidden+i, 0.0
		for j, v := range x {
			sum += float64(s.w[row*s.inputs+j]) * float64(v)
		}
		return sum + float64(s.b[(2*k*gates+g)*s.hidden+i])
	}
	back := func(g, i int, h []float64) float64 { // R h + Rb
		row, sum := (k*gates+g)*s.hidden+i, 0.0
		for j, v := range h {
			sum += float64(s.r[row*s.hidden+j]) * v
		}
		return sum + float64(s.b[(2*k*gates+gates+g)*s.hidden+i])
	}
	p := func(g, i int) float64 {
		if s.p == nil {
			return 0
		}
		return float64(s.p[(3*k+g)*s.hidden+i])
	}
	h2, c2 = make([]float64, s.hidden), make([]float64, s.hidden)
	reset := make([]float64, s.hidden)
	if s.op == "GRU" {
		for i := range h {
			reset[i] = f(0)(own(1, i) + back(1, i, h))
		}
	}
	for i := range h {
		switch s.op {
		case "RNN":
			h2[i] = f(0)(own(0, i) + back(0, i, h))
		case "GRU":
			z, past := f(0)(own(0, i)+back(0, i, h)), 0.0
			if s.before {
				past = reset[i] * back(2, i, h)
			} else {
				rh := make([]float64, len(h))
				for j := range h {
					rh[j] = reset[j] * h[j]
				}
				past = back(2, i, rh)
			}
			h2[i] = (1-z)*f(1)(own(2, i)+past) + z*h[i]
		case "LSTM":
			in := f(0)(own(0, i) + back(0, i, h) + p(0, i)*c[i])
			forget := f(0)(own(2, i) + back(2, i, h) + p(2, i)*c[i])
			if s.coupled {
				forget = 1 - in
			}
			c2[i] = forget*c[i] + in*f(1)(own(3, i)+back(3, i, h))
			h2[i] = f(0)(own(1, i)+back(1, i, h)+p(1, i)*c2[i]) * f(2)(c2[i])
		}
	}
	return h2, c2
}
