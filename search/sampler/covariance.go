// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"

	"lathe/search/mt"
)

// covariance is the normal distribution that CMAES draws from, with the paths along which it moved.
type covariance struct {
	mean, alongStep, alongMatrix []float64
	matrix                       [][]float64
	step                         float64
	generation                   int

	vectors [][]float64 // of the matrix, in columns
	lengths []float64   // the roots of its eigenvalues
}

// newCovariance is that of the first generation of n numbers from 0 to 1.
func newCovariance(n int) *covariance {
	c := &covariance{mean: make([]float64, n), alongStep: make([]float64, n), alongMatrix: make([]float64, n),
		step: firstStep}
	for i := range n {
		c.mean[i] = 0.5
		c.matrix = append(c.matrix, make([]float64, n))
		c.matrix[i][i] = 1
	}
	c.decompose()
	return c
}

// rates are the constants of the strategy for n numbers and a population (Hansen, table 1).
type rates struct {
	weights                                       []float64
	effective, step, damp, path, one, rank, scale float64
}

func ratesOf(n, population int) rates {
	d := float64(n)
	r := rates{weights: make([]float64, population)}
	positive, squares, below, belowSquares := 0.0, 0.0, 0.0, 0.0
	for i := range r.weights {
		w := math.Log((float64(population)+1)/2) - math.Log(float64(i+1))
		if r.weights[i] = w; w > 0 {
			positive, squares = positive+w, squares+w*w
		} else {
			below, belowSquares = below-w, belowSquares+w*w
		}
	}
	r.effective = positive * positive / squares
	r.step = (r.effective + 2) / (d + r.effective + 5)
	r.damp = 1 + 2*max(0, math.Sqrt((r.effective-1)/(d+1))-1) + r.step
	r.path = (4 + r.effective/d) / (d + 4 + 2*r.effective/d)
	r.one = 2 / ((d+1.3)*(d+1.3) + r.effective)
	r.rank = min(1-r.one, 2*(r.effective-2+1/r.effective)/((d+2)*(d+2)+r.effective))
	r.scale = math.Sqrt(d) * (1 - 1/(4*d) + 1/(21*d*d))
	least := min(1+r.one/r.rank, 1+2*(below*below/belowSquares)/(r.effective+2), (1-r.one-r.rank)/(d*r.rank))
	for i, w := range r.weights {
		if w > 0 {
			r.weights[i] = w / positive
		} else {
			r.weights[i] = w * least / below
		}
	}
	return r
}

// update moves the distribution to a generation, the best of it first.
func (c *covariance) update(points [][]float64) {
	n := len(c.mean)
	r := ratesOf(n, len(points))
	moves := make([][]float64, len(points)) // from the mean, in steps
	mean := make([]float64, n)
	for k, x := range points {
		moves[k] = make([]float64, n)
		for i := range n {
			moves[k][i] = (x[i] - c.mean[i]) / c.step
			mean[i] += max(r.weights[k], 0) * moves[k][i]
		}
	}
	for i := range n {
		c.mean[i] += c.step * mean[i]
	}
	white := c.whiten(mean)
	length := 0.0
	for i := range n {
		c.alongStep[i] = (1-r.step)*c.alongStep[i] + math.Sqrt(r.step*(2-r.step)*r.effective)*white[i]
		length += c.alongStep[i] * c.alongStep[i]
	}
	c.generation++
	length = math.Sqrt(length)
	long := length/math.Sqrt(1-math.Pow(1-r.step, 2*float64(c.generation+1))) >= (1.4+2/float64(n+1))*r.scale
	kept := 1 - r.one - r.rank*sum(r.weights)
	if long { // the step is about to grow: the path waits
		kept += r.one * r.path * (2 - r.path)
	}
	for i := range n {
		c.alongMatrix[i] *= 1 - r.path
		if !long {
			c.alongMatrix[i] += math.Sqrt(r.path*(2-r.path)*r.effective) * mean[i]
		}
	}
	for i := range n {
		for j := range n {
			c.matrix[i][j] = kept*c.matrix[i][j] + r.one*c.alongMatrix[i]*c.alongMatrix[j]
		}
	}
	for k, y := range moves {
		w := r.rank * r.weights[k]
		if w < 0 {
			w *= float64(n) / (square(c.whiten(y)) + 1e-8)
		}
		for i := range n {
			for j := range n {
				c.matrix[i][j] += w * y[i] * y[j]
			}
		}
	}
	c.step = min(c.step*math.Exp(r.step/r.damp*(length/r.scale-1)), 1)
	c.decompose()
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

func square(v []float64) (s float64) {
	for _, x := range v {
		s += x * x
	}
	return s
}

// whiten divides a move by the root of the matrix.
func (c *covariance) whiten(v []float64) []float64 {
	n := len(v)
	out := make([]float64, n)
	for k := range n {
		along := 0.0
		for i := range n {
			along += c.vectors[i][k] * v[i]
		}
		for i := range n {
			out[i] += c.vectors[i][k] * along / c.lengths[k]
		}
	}
	return out
}

// tries is how often a point out of bounds is drawn again before it is moved to the bounds.
const tries = 100

// draw draws a point from 0 to 1.
func (c *covariance) draw(r *mt.Generator) []float64 {
	n := len(c.mean)
	x := make([]float64, n)
	for try := range tries {
		copy(x, c.mean)
		inside := true
		for k := range n {
			u, v := 1-r.Float64(), r.Float64() // Box and Muller
			z := math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
			for i := range n {
				x[i] += c.step * c.vectors[i][k] * c.lengths[k] * z
			}
		}
		for i := range n {
			inside = inside && x[i] >= 0 && x[i] <= 1
		}
		if inside || try == tries-1 {
			break
		}
	}
	for i := range n {
		x[i] = min(max(x[i], 0), 1)
	}
	return x
}

// decompose finds the eigenvectors of the matrix by Jacobi's rotations.
func (c *covariance) decompose() {
	n := len(c.mean)
	a, v := make([][]float64, n), make([][]float64, n)
	for i := range n {
		a[i], v[i] = append([]float64(nil), c.matrix[i]...), make([]float64, n)
		v[i][i] = 1
	}
	const sweeps = 50
	for range sweeps {
		off := 0.0
		for i := range n {
			for j := range i {
				off += a[i][j] * a[i][j]
				rotate(a, v, j, i)
			}
		}
		if off < 1e-30 {
			break
		}
	}
	c.vectors, c.lengths = v, make([]float64, n)
	for i := range n {
		c.lengths[i] = math.Sqrt(max(a[i][i], 1e-16))
	}
}

// rotate makes element p, q of a symmetric matrix 0, and turns the vectors with it.
func rotate(a, v [][]float64, p, q int) {
	if a[p][q] == 0 {
		return
	}
	theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
	t := 1 / (math.Abs(theta) + math.Hypot(theta, 1))
	if theta < 0 {
		t = -t
	}
	cos := 1 / math.Hypot(t, 1)
	sin := t * cos
	for k := range a {
		a[k][p], a[k][q] = cos*a[k][p]-sin*a[k][q], sin*a[k][p]+cos*a[k][q]
	}
	for k := range a {
		a[p][k], a[q][k] = cos*a[p][k]-sin*a[q][k], sin*a[p][k]+cos*a[q][k]
		v[k][p], v[k][q] = cos*v[k][p]-sin*v[k][q], sin*v[k][p]+cos*v[k][q]
	}
}
