// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// GPTQ rounds weights column after column, those that the largest inputs meet first, and moves what is left of each row
// such that its outputs keep close (Frantar et al., GPTQ, 2022): to the target, which what is quantized in front has
// moved too, and not only to what the same weights would make of the inputs. It returns indices into Grid; rows that
// gain nothing stay nearest.
func (l *Layer) GPTQ() []int {
	l.damped()
	near := l.Nearest()
	out, ok := l.feedback(func(k int, want, _ float64) int { return l.Grid.Nearest(want / l.Scales[k]) })
	if !ok {
		return near
	}
	return l.better(near, out)
}

// feedback chooses one weight after the other and carries errors on to the columns that follow. pick gives the index
// for element k, which should have the value want; a value v adds curve*(v-want)^2 to the loss. ok is false where
// Square has no inverse.
func (l *Layer) feedback(pick func(k int, want, curve float64) int) (out []int, ok bool) {
	inv, ok := l.inverse()
	if !ok {
		return nil, false
	}
	want := make([]float64, len(l.Weights)) // real weights of the least loss
	dense := mat.NewDense(l.Rows, l.Cols, want)
	dense.Mul(mat.NewDense(l.Rows, l.Cols, l.Target), inv)
	order := make([]int, l.Cols)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(l.Square[b*l.Cols+b], l.Square[a*l.Cols+a])
	})
	ordered := mat.NewSymDense(l.Cols, nil)
	for i, a := range order {
		for j, b := range order[i:] {
			ordered.SetSym(i, i+j, inv.At(a, b))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(ordered) {
		return nil, false
	}
	var upper mat.TriDense
	c.UTo(&upper)
	u := upper.RawTriangular()
	out = make([]int, len(l.Weights))
	l.eachRow(func(r int) {
		row := make([]float64, l.Cols)
		for i, a := range order {
			row[i] = want[r*l.Cols+a]
		}
		for i, a := range order {
			k := r*l.Cols + a
			diagonal := u.Data[i*u.Stride+i]
			out[k] = pick(k, row[i], 1/(diagonal*diagonal))
			err := (row[i] - l.value(k, out[k])) / diagonal
			for j := i + 1; j < l.Cols; j++ {
				row[j] -= err * u.Data[i*u.Stride+j]
			}
		}
	})
	return out, true
}
