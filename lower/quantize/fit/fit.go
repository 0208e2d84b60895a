// SPDX-License-Identifier: Apache-2.0

// Package fit chooses codes for the weights of linear layers such that what the layers compute keeps close to what
// they should, which the nearest code of each weight by itself does not: rounding errors of one weight make up for
// those of others.
package fit

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"lathe/internal/workers"
	"lathe/ir/format"
)

// Layer is the weights of output channels that read the same inputs, of a linear layer, or of a group of a convolution.
// All matrices are row-major.
type Layer struct {
	// Rows are output channels, Cols what each reads.
	Rows, Cols int
	// Weights are real, Rows x Cols, and so are their scales: element k takes the values of Grid times Scales[k].
	Weights, Scales []float64
	Grid            format.Grid
	// Square is the sum of x x^T over the inputs x that the layer reads once all in front of it is quantized, Cols x Cols,
	// and Target the sum of y x^T over the same, Rows x Cols, where y is what the layer should compute.
	Square, Target []float64

	// places counts the pairs of x and y; read and made are their sums, and power is that of the squares of y, by row.
	places            int
	read, made, power []float64
}

// New is a layer of rows x cols, whose sums are empty; weights and grid are the caller's to set.
func New(rows, cols int) *Layer {
	return &Layer{Rows: rows, Cols: cols, Square: make([]float64, cols*cols), Target: make([]float64, rows*cols),
		read: make([]float64, cols), made: make([]float64, rows), power: make([]float64, rows)}
}

// damping is how much of the mean of the diagonal of Square is added to it, as if weights were wanted near to their own
// values: samples do not tell everything.
const damping = 0.01

// multiply is c = a*b, or c += where beta is 1, of row-major matrices.
func multiply(m, n, k int, a, b []float64, beta float64, c []float64) {
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, blas64.General{Rows: m, Cols: k, Stride: k, Data: a},
		blas64.General{Rows: k, Cols: n, Stride: n, Data: b}, beta, blas64.General{Rows: m, Cols: n, Stride: n, Data: c})
}

// Add adds the outer products y x^T of some pairs of rows to Target, and those of x to Square.
func (l *Layer) Add(y, x []float64, rows int) {
	add := func(m int, a []float64, c []float64) {
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, blas64.General{Rows: rows, Cols: m, Stride: m, Data: a},
			blas64.General{Rows: rows, Cols: l.Cols, Stride: l.Cols, Data: x}, 1,
			blas64.General{Rows: m, Cols: l.Cols, Stride: l.Cols, Data: c})
	}
	add(l.Rows, y, l.Target)
	add(l.Cols, x, l.Square)
	l.places += rows
	for i, v := range x {
		l.read[i%l.Cols] += v
	}
	for i, v := range y {
		l.made[i%l.Rows] += v
		l.power[i%l.Rows] += v * v
	}
}

// Center takes the means of x and y out of the sums: the caller moves the bias of each row by Offsets.
func (l *Layer) Center() {
	n := float64(max(l.places, 1))
	for i := range l.Cols {
		for j := range l.Cols {
			l.Square[i*l.Cols+j] -= l.read[i] * l.read[j] / n
		}
		for r := range l.Rows {
			l.Target[r*l.Cols+i] -= l.made[r] * l.read[i] / n
		}
	}
}

// Offsets is what each row, with weights at indices into Grid, falls short of y on average.
func (l *Layer) Offsets(at []int) []float64 {
	n := float64(max(l.places, 1))
	out := make([]float64, l.Rows)
	for r := range out {
		out[r] = l.made[r] / n
		for i := range l.Cols {
			k := r*l.Cols + i
			out[r] -= l.value(k, at[k]) * l.read[i] / n
		}
	}
	return out
}

// spread is the sum over all places of the squared distance of y from its mean, averaged over the rows.
func (l *Layer) spread() (sum float64) {
	for r, p := range l.power {
		sum += (p - l.made[r]*l.made[r]/float64(max(l.places, 1))) / float64(l.Rows)
	}
	return sum
}

// damped adds to Square, and to Target what keeps weights in place. Inputs that are never but 0 count as one of 1.
func (l *Layer) damped() {
	mean := 0.0
	for i := range l.Cols {
		mean += l.Square[i*l.Cols+i] / float64(l.Cols)
	}
	if mean == 0 {
		mean = 1
	}
	for i := range l.Cols {
		more := damping * mean
		l.Square[i*l.Cols+i] += more
		for r := range l.Rows {
			l.Target[r*l.Cols+i] += more * l.Weights[r*l.Cols+i]
		}
	}
}

// Nearest is the index into Grid of the value next to each weight.
func (l *Layer) Nearest() []int {
	out := make([]int, len(l.Weights))
	for k, w := range l.Weights {
		out[k] = l.Grid.Nearest(w / l.Scales[k])
	}
	return out
}

// value is what element k is worth at an index into Grid.
func (l *Layer) value(k, at int) float64 { return l.Grid.Values[at] * l.Scales[k] }

// Loss is, for each row, the squared error of its outputs with weights at indices into Grid, but for what is the same
// for all.
func (l *Layer) Loss(at []int) []float64 {
	w := make([]float64, len(at))
	for k, i := range at {
		w[k] = l.value(k, i)
	}
	return l.lossOf(w)
}

// lossOf is the loss of any weights.
func (l *Layer) lossOf(w []float64) []float64 {
	product, out := make([]float64, len(w)), make([]float64, l.Rows)
	multiply(l.Rows, l.Cols, l.Cols, w, l.Square, 0, product)
	for k := range w {
		out[k/l.Cols] += w[k] * (product[k] - 2*l.Target[k])
	}
	return out
}

// better takes, row by row, the indices of less loss.
func (l *Layer) better(a, b []int) []int {
	x, y := l.Loss(a), l.Loss(b)
	for r := range x {
		if y[r] < x[r] {
			copy(a[r*l.Cols:(r+1)*l.Cols], b[r*l.Cols:(r+1)*l.Cols])
		}
	}
	return a
}

// inverse is that of Square.
func (l *Layer) inverse() (*mat.SymDense, bool) {
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(l.Cols, l.Square)) {
		return nil, false
	}
	var inv mat.SymDense
	return &inv, c.InverseTo(&inv) == nil && !math.IsNaN(inv.At(0, 0))
}

// eachRow calls f for every row, on all processors.
func (l *Layer) eachRow(f func(r int)) {
	workers.Ranges(l.Rows, 1, func(from, to int) {
		for r := from; r < to; r++ {
			f(r)
		}
	})
}
