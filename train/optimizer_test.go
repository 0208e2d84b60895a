// SPDX-License-Identifier: Apache-2.0

package train

import (
	"math"
	"slices"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
	"lathe/lower/plan"
)

// TestUpdates compares three steps of each optimizer with its definition in float64.
func TestUpdates(t *testing.T) {
	p, g := []float64{1, -2, 0.5}, [][]float64{{0.1, -0.2, 3}, {0.3, 0.1, -1}, {-0.2, 0, 0.5}}
	adam := func(x float64, grads []float64, lr, decay float64) float64 {
		m, v := 0.0, 0.0
		for i, d := range grads {
			m, v = 0.9*m+0.1*d, 0.999*v+0.001*d*d
			n := float64(i + 1)
			x -= lr * (m/(1-math.Pow(0.9, n))/(math.Sqrt(v/(1-math.Pow(0.999, n)))+1e-8) + decay*x)
		}
		return x
	}
	sgd := func(momentum float64, nesterov bool) func(float64, []float64, float64, float64) float64 {
		return func(x float64, grads []float64, lr, decay float64) float64 {
			m := 0.0
			for _, d := range grads {
				d += decay * x
				m = momentum*m + d
				if nesterov {
					x -= lr * (d + momentum*m)
				} else {
					x -= lr * m
				}
			}
			return x
		}
	}
	for _, c := range []struct {
		train plan.Train
		want  func(x float64, grads []float64, lr, decay float64) float64
	}{
		{plan.Train{Optimizer: "adamw", WeightDecay: 0.1}, adam},
		{plan.Train{Optimizer: "sgd", WeightDecay: 0.1}, sgd(0, false)},
		{plan.Train{Optimizer: "sgd", WeightDecay: 0.1, Momentum: 0.8}, sgd(0.8, false)},
		{plan.Train{Optimizer: "sgd", Momentum: 0.8, Nesterov: true}, sgd(0.8, true)},
	} {
		c.train.LR, c.train.Schedule = 0.05, "constant"
		b := hlo.New("main")
		now := []hlo.Value{b.Const(hlo.FromFloat64s(hlo.F32, []int{3}, p))}
		for range moments(&c.train) {
			now = append(now, b.Splat(now[0], 0))
		}
		decaying := &leaf{}
		decaying.Decays = true
		for i := range g {
			numbers := b.Const(hlo.FromFloat32s([]int{columns}, rates(&c.train, &plan.Bits{}, i, 1, 3)))
			grad := b.Const(hlo.FromFloat64s(hlo.F32, []int{3}, g[i]))
			now = update(b, &c.train, decaying, now[0], grad, now[1:], numbers)
		}
		b.Return(now[0])
		got := pjrttest.Run(t, b)[0].Float64s()
		for k, x := range p {
			want := c.want(x, []float64{g[0][k], g[1][k], g[2][k]}, c.train.LR, c.train.WeightDecay)
			if math.Abs(got[k]-want) > 1e-6 {
				t.Errorf("%+v: parameter %d becomes %g, not %g", c.train, k, got[k], want)
			}
		}
	}
}

// TestRate follows each schedule over ten steps, two of which warm up.
func TestRate(t *testing.T) {
	for schedule, want := range map[string][]float64{
		"constant": {1.0 / 3, 2.0 / 3, 1, 1, 1, 1, 1, 1, 1, 1},
		"linear":   {1.0 / 3, 2.0 / 3, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125},
		"cosine":   {1.0 / 3, 2.0 / 3, 1, 0.96193977, 0.85355339, 0.69134172, 0.5, 0.30865828, 0.14644661, 0.03806023},
	} {
		p := &plan.Train{LR: 1, Warmup: 0.2, Schedule: schedule}
		for s, w := range want {
			if v := rate(p, s, 10); math.Abs(v-w) > 1e-7 {
				t.Errorf("%s: step %d has the rate %g, not %g", schedule, s, v, w)
			}
		}
	}
}

// TestBatches sees each sample once an epoch, in another order each time.
func TestBatches(t *testing.T) {
	a, b := batches(7, 0, 5, 4, 20), batches(7, 5, 5, 4, 20)
	if slices.Equal(a, b) || slices.Equal(a, batches(8, 0, 5, 4, 20)) {
		t.Error("epochs or seeds share an order")
	}
	if !slices.Equal(append(batches(7, 0, 3, 4, 20), batches(7, 3, 2, 4, 20)...), a) {
		t.Error("the order depends on where training goes on")
	}
	for _, order := range [][]int64{a, b} {
		slices.Sort(order)
		for i, v := range order {
			if v != int64(i) {
				t.Fatalf("sample %d instead of %d", v, i)
			}
		}
	}
}

// TestLosses compares losses with their definitions in float64.
func TestLosses(t *testing.T) {
	y := [][]float64{{1, 2, -1}, {0, -3, 4}, {2, 2, 2}}
	labels, targets := []int64{1, -1, 2}, []float64{0, 1, 0, 1, 0, 0.5, 1, 1, 0}
	flat := slices.Concat(y...)
	entropy := func(smoothing float64) float64 {
		sum := 0.0
		for _, i := range []int{0, 2} {
			for k, l := range logShares(y[i]) {
				share := smoothing / 3
				if int64(k) == labels[i] {
					share += 1 - smoothing
				}
				sum -= share * l
			}
		}
		return sum / 2
	}
	const cool = 2.0
	squares, binary, distance := parts(y, targets, cool)
	for _, c := range []struct {
		name string
		goal goal
		want float64
	}{
		{"cross entropy", goal{}, entropy(0)},
		{"label smoothing", goal{smoothing: 0.3}, entropy(0.3)},
		{"squares", goal{loss: Squares}, squares},
		{"binary", goal{loss: Binary}, binary},
		{"distilled", goal{temperature: cool, weight: 0.25}, 0.75*entropy(0) + 0.25*distance},
	} {
		b := hlo.New("main")
		out := b.Const(hlo.FromFloat64s(hlo.F32, []int{3, 3}, flat))
		target := b.Const(hlo.FromFloat64s(hlo.F32, []int{3, 3}, targets))
		if c.goal.weight > 0 {
			c.goal.teacher = target
		}
		if c.goal.loss == CrossEntropy {
			target = b.Const(hlo.FromInt64s(hlo.I32, []int{3}, labels))
		}
		b.Return(c.goal.print(b, out, target))
		if got := pjrttest.Run(t, b)[0].Float64s()[0]; math.Abs(got-c.want) > 2e-6 {
			t.Errorf("%s is %g, not %g", c.name, got, c.want)
		}
	}
}

// logShares is log softmax.
func logShares(z []float64) []float64 {
	sum, out := 0.0, make([]float64, len(z))
	for _, v := range z {
		sum += math.Exp(v)
	}
	for i, v := range z {
		out[i] = v - math.Log(sum)
	}
	return out
}

// parts are mean squares, binary cross-entropy, and the distance of distributions cooled by a temperature.
func parts(y [][]float64, targets []float64, cool float64) (squares, binary, distance float64) {
	for i, v := range slices.Concat(y...) {
		squares += (v - targets[i]) * (v - targets[i]) / 9
		p := 1 / (1 + math.Exp(-v))
		binary -= (targets[i]*math.Log(p) + (1-targets[i])*math.Log(1-p)) / 9
	}
	for i := range y {
		scaled := func(z []float64) []float64 { return []float64{z[0] / cool, z[1] / cool, z[2] / cool} }
		teacher, student := logShares(scaled(targets[3*i:3*i+3])), logShares(scaled(y[i]))
		for k := range teacher {
			distance += math.Exp(teacher[k]) * (teacher[k] - student[k]) * cool * cool / 3
		}
	}
	return squares, binary, distance
}
