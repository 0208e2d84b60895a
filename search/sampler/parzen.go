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
	// of numbers, by class: means and widths between the bounds, and the logarithm of the mass that lies there
	mean, sigma, mass []float64
	low, high         float64
	// of choices: the probability of the class's own choice, and of the others; those of the last class, which has no
	// choice, are equal
	hit, miss float64
}

// widths says how wide the kernels of numbers are.
type widths struct {
	// scott gives all one width, by the number of observations and parameters, as 4.x did for several; else each is as
	// wide as the larger gap to its neighbours.
	scott  bool
	params int
}

// newParzen makes the density of observations: columns has the values of each parameter, trial by trial, of logarithms
// where its range says so. weights has one for each trial; nil: those of Optuna, which let the oldest fade.
func newParzen(space []search.Named, columns [][]float64, n int, weights []float64, w widths) *parzen {
	if weights == nil {
		weights = fading(n)
	}
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
			p.dims = append(p.dims, numbers(s.Dist, columns[i], w))
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

func numbers(d *search.Distribution, values []float64, w widths) dimension {
	out := dimension{dist: d, class: make([]int, len(values)+1)}
	out.low, out.high = d.Bounds()
	n, span := len(values), out.high-out.low
	means := append(slices.Clone(values), (out.low+out.high)/2)
	var sigmas []float64
	if w.scott {
		sigma := 0.2 * math.Pow(math.Max(float64(n), 1), -1/float64(w.params+4)) * span
		sigmas = slices.Repeat([]float64{sigma}, n)
	} else {
		sigmas = gaps(values, out.low, out.high)
	}
	least := span / math.Min(100, float64(n+2))
	seen := map[[2]float64]int{}
	for i, m := range means {
		s := span
		if i < n {
			s = math.Max(least, math.Min(span, sigmas[i]))
		}
		key := [2]float64{m, s}
		c, ok := seen[key]
		if !ok {
			c = len(out.mean)
			seen[key], out.mean, out.sigma = c, append(out.mean, m), append(out.sigma, s)
			out.mass = append(out.mass, mt.LogMass((out.low-m)/s, (out.high-m)/s))
		}
		out.class[i] = c
	}
	return out
}

// gaps are the larger distances to the neighbours, the bounds being neighbours too; the first and the last look inward
// alone.
func gaps(values []float64, low, high float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(values))
	last := len(order) - 1
	for k, i := range order {
		before, behind := values[i]-low, high-values[i]
		if k > 0 {
			before = values[i] - values[order[k-1]]
		}
		if k < last {
			behind = values[order[k+1]] - values[i]
		}
		switch {
		case last > 0 && k == 0:
			out[i] = behind
		case last > 0 && k == last:
			out[i] = before
		default:
			out[i] = math.Max(before, behind)
		}
	}
	return out
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

// logDensity is the logarithm of the density of a class at a value.
func (d *dimension) logDensity(class int, v float64) float64 {
	if d.dist.Kind == search.Categorical {
		return math.Log(d.probability(class, int(v)))
	}
	m, s := d.mean[class], d.sigma[class]
	half := d.dist.Step / 2
	if half == 0 {
		return mt.LogDensity(d.dist.Within(v), m, s, d.mass[class])
	}
	low, high := math.Max(d.dist.Within(v-half), d.low), math.Min(d.dist.Within(v+half), d.high)
	return mt.LogMass((low-m)/s, (high-m)/s) - d.mass[class]
}

// score is the logarithm of the density at each of the points, which columns has by parameter.
func (p *parzen) score(columns [][]float64) []float64 {
	points, kernels := len(columns[0]), len(p.weights)
	sums := make([]float64, points*kernels)
	for i := range p.dims {
		d := &p.dims[i]
		classes := slices.Max(d.class) + 1
		tables := map[float64][]float64{} // of a value, by class
		for k, v := range columns[i] {
			table, ok := tables[v]
			if !ok {
				table = make([]float64, classes)
				used := make([]bool, classes)
				for _, c := range d.class {
					if !used[c] {
						used[c], table[c] = true, d.logDensity(c, v)
					}
				}
				tables[v] = table
			}
			row := sums[k*kernels : (k+1)*kernels]
			for j, c := range d.class {
				row[j] += table[c]
			}
		}
	}
	logs := make([]float64, kernels)
	for j, w := range p.weights {
		logs[j] = math.Log(w)
	}
	out := make([]float64, points)
	for k := range out {
		row := sums[k*kernels : (k+1)*kernels]
		most := math.Inf(-1)
		for j := range row {
			row[j] += logs[j]
			most = math.Max(most, row[j])
		}
		if math.IsInf(most, -1) {
			most = 0
		}
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(v - most)
		}
		out[k] = math.Log(sum) + most
	}
	return out
}
