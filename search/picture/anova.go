// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"cmp"
	"slices"

	"lathe/search"
	"lathe/search/mt"
)

const (
	// trees is how many trees a forest has, deepest how many splits are above a leaf.
	trees, deepest = 64, 64
	// fewest and most are the trials that a forest is made of; of more, some are left out evenly.
	fewest, most = 20, 1000
)

// tree is a regression tree: a split, or a leaf.
type tree struct {
	value       float64
	dim         int
	at          float64 // below it, or of a category: that one
	left, right *tree   // nil of a leaf
}

// forest predicts the first objective from parameters that all complete trials have.
type forest struct {
	dims []search.Named
	x    [][]float64 // by dimension, by trial
	y    []float64
}

// Variance says which share of the variance of the first objective each parameter explains by itself, as fANOVA has it
// (Hutter, Hoos, Leyton-Brown, 2014): the variance of its marginal in a forest of regression trees, of which each is
// made of as many trials, drawn with repeats. It is nil for fewer than 20 trials, and knows no parameter that some
// trials do not have. Shares add up to 1.
func Variance(h *search.History, parameters []search.Named) map[string]float64 {
	trials := complete(h)
	if len(trials) < fewest {
		return nil
	}
	if n := len(trials); n > most {
		thin := make([]int, most)
		for i := range thin {
			thin[i] = trials[i*(n-1)/(most-1)]
		}
		trials = thin
	}
	f := &forest{}
	for _, n := range trials {
		f.y = append(f.y, h.Values(n)[0])
	}
	for _, p := range parameters {
		var column []float64
		for _, n := range trials {
			if v, ok := h.Column(p.Name).Value(n); ok {
				column = append(column, v)
			}
		}
		if len(column) == len(trials) {
			f.dims, f.x = append(f.dims, p), append(f.x, column)
		}
	}
	r := mt.New(0)
	shares := make([]float64, len(f.dims))
	for range trees {
		rows := make([]int, len(trials))
		for i := range rows {
			rows[i] = r.Choice(len(trials))
		}
		for i, v := range f.marginals(f.grow(rows, 0)) {
			shares[i] += v
		}
	}
	sum := 0.0
	for _, v := range shares {
		sum += v
	}
	if sum == 0 {
		return nil
	}
	out := map[string]float64{}
	for i, d := range f.dims {
		out[d.Name] = shares[i] / sum
	}
	return out
}

// grow makes a tree by the splits that leave the least squared error.
func (f *forest) grow(rows []int, depth int) *tree {
	t := &tree{dim: -1}
	for _, r := range rows {
		t.value += f.y[r] / float64(len(rows))
	}
	best := 0.0
	for d := range f.dims {
		at, gain := f.split(rows, d)
		if gain > best*(1+1e-12) {
			t.dim, t.at, best = d, at, gain
		}
	}
	if t.dim < 0 || depth == deepest {
		return t
	}
	var left, right []int
	for _, r := range rows {
		if f.below(t.dim, f.x[t.dim][r], t.at) {
			left = append(left, r)
		} else {
			right = append(right, r)
		}
	}
	t.left, t.right = f.grow(left, depth+1), f.grow(right, depth+1)
	return t
}

// below says on which side of a split a value lies.
func (f *forest) below(dim int, v, at float64) bool {
	if f.dims[dim].Dist.Kind == search.Categorical {
		return v == at
	}
	return v < at
}

// split is the best split of a dimension, and by how much it lessens the sum of squares.
func (f *forest) split(rows []int, dim int) (at, gain float64) {
	x := f.x[dim]
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	total := 0.0
	for _, r := range sorted {
		total += f.y[r]
	}
	n, sum, from := float64(len(sorted)), 0.0, 0
	kind := f.dims[dim].Dist.Kind
	for i, r := range sorted {
		sum += f.y[r]
		if i+1 < len(sorted) && x[sorted[i+1]] == x[r] {
			continue
		}
		count := float64(i + 1 - from)
		if count < n {
			mean := total / n
			g := count*sq(sum/count-mean) + (n-count)*sq((total-sum)/(n-count)-mean)
			if g > gain {
				gain = g
				if at = x[r]; kind != search.Categorical {
					at = (x[r] + x[sorted[i+1]]) / 2
				}
			}
		}
		if kind == search.Categorical { // one against all others
			sum, from = 0, i+1
		}
	}
	return at, gain
}

func sq(v float64) float64 { return v * v }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// box is where a tree says a value: in each dimension a share of the cells.
type box struct {
	value float64
	in    [][]bool // by dimension and cell
}

// marginals are the variances of each dimension's marginal, as shares of that of the tree.
func (f *forest) marginals(t *tree) []float64 {
	weights := make([][]float64, len(f.dims)) // of cells
	cuts := make([][]float64, len(f.dims))
	f.cuts(t, cuts)
	root := box{in: make([][]bool, len(f.dims))}
	for d := range f.dims {
		weights[d] = f.cells(d, &cuts[d])
		root.in[d] = slices.Repeat([]bool{true}, len(weights[d]))
	}
	var leaves []box
	f.leaves(t, root, cuts, &leaves)
	shares := make([][]float64, len(leaves)) // of each leaf in each dimension
	mean, square := 0.0, 0.0
	for i, l := range leaves {
		volume := 1.0
		for d := range f.dims {
			share := 0.0
			for c, in := range l.in[d] {
				share += weights[d][c] * float64(bit(in))
			}
			shares[i] = append(shares[i], share)
			volume *= share
		}
		mean, square = mean+volume*l.value, square+volume*l.value*l.value
	}
	out := make([]float64, len(f.dims))
	total := square - mean*mean
	if !(total > 1e-12*square) {
		return out
	}
	for d := range f.dims {
		at := make([]float64, len(weights[d]))
		for i, l := range leaves {
			others := l.value
			for k, s := range shares[i] {
				if k != d {
					others *= s
				}
			}
			for c, in := range l.in[d] {
				at[c] += others * float64(bit(in))
			}
		}
		for c, w := range weights[d] {
			out[d] += w * sq(at[c]-mean) / total
		}
	}
	return out
}

// cuts collects the places at which a tree splits numbers.
func (f *forest) cuts(t *tree, cuts [][]float64) {
	if t.left == nil {
		return
	}
	if f.dims[t.dim].Dist.Kind != search.Categorical {
		cuts[t.dim] = append(cuts[t.dim], t.at)
	}
	f.cuts(t.left, cuts)
	f.cuts(t.right, cuts)
}

// cells are the shares of the range of a dimension between its cuts, which are put in order, or those of its choices.
func (f *forest) cells(d int, cuts *[]float64) []float64 {
	dist := f.dims[d].Dist
	if dist.Kind == search.Categorical {
		return slices.Repeat([]float64{1 / float64(len(dist.Choices))}, len(dist.Choices))
	}
	slices.Sort(*cuts)
	*cuts = slices.Compact(*cuts)
	low, high := dist.Bounds()
	within := func(v float64) float64 { return (dist.Within(v) - low) / (high - low) }
	var out []float64
	last := 0.0
	for _, c := range *cuts {
		out, last = append(out, within(c)-last), within(c)
	}
	return append(out, 1-last)
}

// leaves collects the boxes of the leaves.
func (f *forest) leaves(t *tree, b box, cuts [][]float64, out *[]box) {
	if t.left == nil {
		*out = append(*out, box{t.value, b.in})
		return
	}
	side := func(below bool) box {
		in := slices.Clone(b.in)
		cells := slices.Clone(in[t.dim])
		for c := range cells {
			under := float64(c) == t.at
			if f.dims[t.dim].Dist.Kind != search.Categorical {
				under = c < len(cuts[t.dim]) && cuts[t.dim][c] <= t.at
			}
			cells[c] = cells[c] && under == below
		}
		in[t.dim] = cells
		return box{in: in}
	}
	f.leaves(t.left, side(true), cuts, out)
	f.leaves(t.right, side(false), cuts, out)
}
