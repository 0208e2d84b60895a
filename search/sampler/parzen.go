// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"
	"slices"

	"lathe/search"
	"lathe/search/mt"
)

// parzen is a density over some parameters: a kernel at each trial that was observed, and the prior behind them. The
// kernels of one parameter that are the same are one class.
type parzen struct {
	weights []float64 // of the kernels, in sum 1
	dims    []dimension
}

// dimension are the kernels of one parameter.
type dimension struct {
	dist  *search.Distribution
	class []int // of each kernel
	// of numbers, by class: means and widths between the bounds, the logarithm of the mass that lies there, and of a
	// continuous one the part of the logarithm of its density that does not change
	mean, sigma, mass, fixed []float64
	low, high                float64
	// of choices: the probability of the class's own choice, and of the others; those of the last class, which has no
	// choice, are equal
	hit, miss float64
}

// classes is how many there are.
func (d *dimension) classes() int {
	if d.dist.Kind == search.Categorical {
		return len(d.dist.Choices) + 1
	}
	return len(d.mean)
}

// widths says how wide the kernels of numbers are.
type widths struct {
	// scott gives all one width, by the number of observations and parameters, as 4.x did for several; else each is as
	// wide as the larger gap to its neighbours.
	scott  bool
	params int
}

// newParzen makes the density of observations: columns has the values of each parameter, trial by trial, of logarithms
// where its range says so, and order their places by value. weights has one for each trial.
func newParzen(space []search.Named, columns [][]float64, order func(i int) []int32, weights []float64,
	w widths) *parzen {
	p := &parzen{weights: append(slices.Clone(weights), 1)}
	sum := 0.0
	for _, v := range p.weights {
		sum += v
	}
	for i := range p.weights {
		p.weights[i] /= sum
	}
	for i, s := range space {
		if s.Dist.Kind == search.Categorical {
			p.dims = append(p.dims, choices(s.Dist, columns[i]))
		} else {
			p.dims = append(p.dims, numbers(s.Dist, columns[i], order(i), w))
		}
	}
	return p
}

// fading are the weights of n observations, the oldest first: the last 25 have 1, those before a rising part of it.
func fading(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	for i := 0; i < n-25; i++ {
		out[i] = 1 / float64(n)
		if n-25 > 1 {
			out[i] += (1 - 1/float64(n)) * float64(i) / float64(n-26)
		}
	}
	return out
}

func choices(d *search.Distribution, values []float64) dimension {
	n := len(values)
	out := dimension{dist: d, class: make([]int, n+1)}
	for i, v := range values {
		out.class[i] = int(v)
	}
	out.class[n] = len(d.Choices)
	each := 1 / float64(n+1)
	sum := 1 + each*float64(len(d.Choices))
	out.hit, out.miss = (1+each)/sum, each/sum
	return out
}

func numbers(d *search.Distribution, values []float64, order []int32, w widths) dimension {
	n := len(values)
	out := dimension{dist: d, class: make([]int, n+1)}
	out.low, out.high = d.Bounds()
	span := out.high - out.low
	least := span / math.Min(100, float64(n+2))
	scott := 0.2 * math.Pow(math.Max(float64(n), 1), -1/float64(w.params+4)) * span
	out.mean, out.sigma = make([]float64, 0, n+1), make([]float64, 0, n+1)
	for k, place := range order {
		sigma, v := scott, values[place]
		if !w.scott {
			sigma = gap(values, order, k, out.low, out.high)
		}
		sigma = math.Max(least, math.Min(span, sigma))
		c := len(out.mean) - 1
		for c >= 0 && out.mean[c] == v && out.sigma[c] != sigma {
			c--
		}
		if c < 0 || out.mean[c] != v {
			c = len(out.mean)
			out.mean, out.sigma = append(out.mean, v), append(out.sigma, sigma)
		}
		out.class[place] = c
	}
	out.class[n] = len(out.mean)
	out.mean, out.sigma = append(out.mean, (out.low+out.high)/2), append(out.sigma, span)
	out.mass, out.fixed = make([]float64, len(out.mean)), make([]float64, len(out.mean))
	for c, m := range out.mean {
		s := out.sigma[c]
		out.mass[c] = mt.LogMass((out.low-m)/s, (out.high-m)/s)
		out.fixed[c] = mt.LogDensity(m, m, s, out.mass[c])
	}
	return out
}

// gap is the larger distance of value k, in order, to its neighbours, the bounds being neighbours too; the first and
// the last of several look inward alone.
func gap(values []float64, order []int32, k int, low, high float64) float64 {
	v, last := values[order[k]], len(order)-1
	before, behind := v-low, high-v
	if k > 0 {
		before = v - values[order[k-1]]
	}
	if k < last {
		behind = values[order[k+1]] - v
	}
	switch {
	case last > 0 && k == 0:
		return behind
	case last > 0 && k == last:
		return before
	}
	return math.Max(before, behind)
}

// sample draws n points: kernels by weight, then choices, then numbers, parameter by parameter. Numbers are those
// of the range, on their steps.
func (p *parzen) sample(g *mt.Generator, n int) [][]float64 {
	active := g.Weighted(p.weights, n)
	out := make([][]float64, len(p.dims))
	for i := range p.dims {
		if d := &p.dims[i]; d.dist.Kind == search.Categorical {
			out[i] = d.pick(g, active)
		}
	}
	for i := range p.dims {
		d := &p.dims[i]
		if d.dist.Kind == search.Categorical {
			continue
		}
		out[i] = make([]float64, n)
		for k, a := range active {
			c := d.class[a]
			v := mt.Truncated(g.Float64(), d.mean[c], d.sigma[c], d.low, d.high)
			if d.dist.Log {
				v = math.Exp(v)
			}
			low, high, step := d.dist.Low, d.dist.High, d.dist.Step
			if step > 0 {
				v = low + math.RoundToEven((v-low)/step)*step
			}
			out[i][k] = math.Max(low, math.Min(high, v))
		}
	}
	return out
}

// pick draws a choice for each active kernel.
func (d *dimension) pick(g *mt.Generator, active []int) []float64 {
	n := len(d.dist.Choices)
	out := make([]float64, len(active))
	for k, a := range active {
		u, sum, at := g.Float64(), 0.0, 0
		for c := range n - 1 {
			if sum += d.probability(d.class[a], c); sum < u {
				at++
			}
		}
		out[k] = float64(at)
	}
	return out
}

// probability is that of choice c in a kernel of a class.
func (d *dimension) probability(class, c int) float64 {
	switch {
	case class == len(d.dist.Choices):
		return 1 / float64(class)
	case class == c:
		return d.hit
	}
	return d.miss
}

// logDensity is the logarithm of the probability of a choice, or of a number on steps, in a class.
func (d *dimension) logDensity(class int, v float64) float64 {
	if d.dist.Kind == search.Categorical {
		return math.Log(d.probability(class, int(v)))
	}
	m, s := d.mean[class], d.sigma[class]
	half := d.dist.Step / 2
	low, high := math.Max(d.dist.Within(v-half), d.low), math.Min(d.dist.Within(v+half), d.high)
	return mt.LogMass((low-m)/s, (high-m)/s) - d.mass[class]
}

// score is the logarithm of the density at each of the points, which columns has by parameter.
func (p *parzen) score(columns [][]float64) []float64 {
	if len(p.dims) == 1 && p.dims[0].classes() < len(p.weights) {
		return p.byClass().score(columns)
	}
	points, kernels := len(columns[0]), len(p.weights)
	sums := make([]float64, points*kernels)
	for j, w := range p.weights {
		sums[j] = math.Log(w)
	}
	for k := 1; k < points; k++ {
		copy(sums[k*kernels:], sums[:kernels])
	}
	for i := range p.dims {
		d := &p.dims[i]
		for k, v := range columns[i] {
			if row := sums[k*kernels : (k+1)*kernels]; d.dist.Kind != search.Categorical && d.dist.Step == 0 {
				d.addDensity(row, d.dist.Within(v))
			} else if first := slices.Index(columns[i], v); first == k {
				d.addTables(sums, kernels, columns[i], v)
			}
		}
	}
	out := make([]float64, points)
	for k := range out {
		row := sums[k*kernels : (k+1)*kernels]
		most := slices.Max(row)
		if math.IsInf(most, -1) {
			most = 0
		}
		sum := 0.0
		for _, v := range row {
			if v -= most; v > -60 { // less is lost beside 1
				sum += math.Exp(v)
			}
		}
		out[k] = math.Log(sum) + most
	}
	return out
}

// byClass is the same density of one parameter, with one kernel for each class.
func (p *parzen) byClass() *parzen {
	d := p.dims[0]
	weights := make([]float64, d.classes())
	for j, c := range d.class {
		weights[c] += p.weights[j]
	}
	d.class = make([]int, len(weights))
	for c := range d.class {
		d.class[c] = c
	}
	return &parzen{weights, []dimension{d}}
}

// addDensity adds the logarithm of each kernel's density at a point.
func (d *dimension) addDensity(row []float64, v float64) {
	for j, c := range d.class {
		z := (v - d.mean[c]) / d.sigma[c]
		row[j] += d.fixed[c] - 0.5*z*z
	}
}

// addTables adds the logarithm of each kernel's density at a value to all points that have it.
func (d *dimension) addTables(sums []float64, kernels int, values []float64, v float64) {
	table := make([]float64, d.classes())
	for c := range table {
		table[c] = d.logDensity(c, v)
	}
	for k, u := range values {
		if u != v {
			continue
		}
		row := sums[k*kernels : (k+1)*kernels]
		for j, c := range d.class {
			row[j] += table[c]
		}
	}
}
