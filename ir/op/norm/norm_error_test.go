// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/draw"
)

// errorCase is a configuration whose results are at most layer or rms steps of the result from the real number. Half a
// step is what the last rounding costs alone.
type errorCase struct {
	in, out    format.Fixed
	affine     bool
	layer, rms float64
}

// errorCases are the table of docs/decisions/operations.md. No result can be further away than 0.5 + 2^(Fo-17), for
// the rounding of z, + max*2^-19.96, for that of the root: 0.5004 with 8 bits, 0.564 with fixed(16,12).
var errorCases = []errorCase{
	{fixed(8, 4), fixed(8, 4), false, 0.5002, 0.5002}, {fixed(8, 4), fixed(8, 5), false, 0.5004, 0.5004},
	{fixed(16, 8), fixed(8, 5), false, 0.5004, 0.5004}, {fixed(16, 12), fixed(16, 12), false, 0.549, 0.555},
	{fixed(8, 4), fixed(16, 12), false, 0.549, 0.549}, {fixed(16, 8), fixed(16, 10), false, 0.515, 0.515},
	{fixed(8, 4), fixed(8, 4), true, 0.5002, 0.5002}, {fixed(16, 8), fixed(16, 12), true, 0.562, 0.562},
}

func fixed(w, f int) format.Fixed { return format.Fixed{W: w, F: f, Signed: true} }

// rowKinds fill a row with codes: normal, normal around an offset, equal, all but one equal, of two values, extreme.
var rowKinds = []func(r *rand.Rand, x []float64, top float64){
	func(r *rand.Rand, x []float64, top float64) {
		for size, i := math.Exp2(r.Float64()*math.Log2(top/3)), 0; i < len(x); i++ {
			x[i] = r.NormFloat64() * size
		}
	},
	func(r *rand.Rand, x []float64, top float64) {
		at, size := top*(2*r.Float64()-1)/2, 1+r.Float64()*top/16
		for i := range x {
			x[i] = at + r.NormFloat64()*size
		}
	},
	func(r *rand.Rand, x []float64, top float64) {
		fill(x, func(int) float64 { return top/2 - 3 })
	},
	func(r *rand.Rand, x []float64, top float64) {
		hot, v := r.IntN(len(x)), math.Exp2(r.Float64()*math.Log2(top))
		fill(x, func(i int) float64 {
			if i == hot {
				return v
			}
			return 0
		})
	},
	func(r *rand.Rand, x []float64, top float64) {
		a, b, p := top*(2*r.Float64()-1), top*(2*r.Float64()-1), r.Float64()
		fill(x, func(int) float64 {
			if r.Float64() < p {
				return a
			}
			return b
		})
	},
	func(r *rand.Rand, x []float64, top float64) {
		fill(x, func(i int) float64 { return top * float64(1-2*(i%2)) })
	},
}

func fill(x []float64, f func(i int) float64) {
	for i := range x {
		x[i] = f(i)
	}
}

// TestErrors measures how far codes are from the real numbers, and prints the largest distances.
func TestErrors(t *testing.T) {
	lengths := []int{2, 3, 7, 16, 63, 192, 768, 1024, 4096, 46340}
	for i, c := range errorCases {
		for _, o := range []*ir.Op{LayerNorm, RMSNorm} {
			r, worst, outputs := rand.New(rand.NewPCG(5, uint64(i))), 0.0, 0
			for round := 0; outputs < errorOutputs; round++ {
				n := lengths[round%len(lengths)]
				if n*4 > errorOutputs { // the longest rows are for many outputs
					continue
				}
				worst = max(worst, worstError(t, r, o, c, n))
				outputs += n * errorRows(n)
			}
			name := fmt.Sprintf("%s %s to %s, gain and bias: %v", o.Name, c.in, c.out, c.affine)
			t.Logf("%s: %.4f steps in %d outputs", name, worst, outputs)
			bound := c.layer
			if o == RMSNorm {
				bound = c.rms
			}
			if worst > bound || worst < 0.49 {
				t.Errorf("%s: %.4f steps, want up to %.4f", name, worst, bound)
			}
		}
	}
}

// errorRows is the number of rows of n elements in a tensor: fewer of long rows.
func errorRows(n int) int { return max(len(rowKinds), 1024/n) }

// worstError evaluates rows of n elements of all kinds.
func worstError(t *testing.T, r *rand.Rand, o *ir.Op, c errorCase, n int) float64 {
	t.Helper()
	x := draw.Input("x", ir.Type{Shape: []int{errorRows(n), n}, Format: c.in})
	args, gain, bias := []*ir.Node{x}, make([]float64, n), make([]float64, n)
	fill(gain, func(int) float64 { return 1 })
	if c.affine {
		for i, to := range [][]float64{gain, bias}[:o.Arity[1]-1] {
			f := fixed(16, 14-i)
			codes := make([]int64, n)
			for k := range codes {
				codes[k] = f.Encode(format.FromFloat64(r.NormFloat64() / 2))
				to[k] = math.Ldexp(float64(codes[k]), -f.F)
			}
			args = append(args, draw.Const([]string{"scale", "bias"}[i], ir.Type{Shape: []int{n}, Format: f}, codes))
		}
	}
	a := &Attrs{Axis: -1, Eps: 1e-5}
	in := ir.NewTensor(x.Type)
	row := make([]float64, n)
	for at := 0; at < len(in.Codes); at += n {
		rowKinds[at/n%len(rowKinds)](r, row, float64(c.in.Max()))
		for i, v := range row {
			in.Codes[at+i] = c.in.Requant(int64(math.RoundToEven(v)), -c.in.F)
		}
	}
	y, err := draw.Run(draw.Graph(o, a, ir.Type{Format: c.out}, args...).Out[0].Node,
		append([]*ir.Tensor{in}, make([]*ir.Tensor, len(args)-1)...))
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for at := 0; at < len(in.Codes); at += n {
		mean, factor := realMoments(in.Codes[at:at+n], c.in, o == RMSNorm, float64(a.Eps))
		for i, q := range in.Codes[at : at+n] {
			v := (math.Ldexp(float64(q), -c.in.F)-mean)*factor*gain[i] + bias[i]
			v = min(max(math.Ldexp(v, c.out.F), float64(c.out.Min())), float64(c.out.Max()))
			worst = max(worst, math.Abs(v-float64(y.Codes[at+i])))
		}
	}
	return worst
}

// realMoments are the mean (0 for rms) and what a row is multiplied by, in float64 of exact sums.
func realMoments(codes []int64, in format.Fixed, rms bool, eps float64) (mean, factor float64) {
	n, sum, squares := int64(len(codes)), int64(0), int64(0)
	for _, q := range codes {
		sum, squares = sum+q, squares+q*q
	}
	if rms {
		sum = 0
	}
	variance := math.Ldexp(float64(n*squares-sum*sum)/float64(n)/float64(n), -2*in.F)
	return math.Ldexp(float64(sum)/float64(n), -in.F), 1 / math.Sqrt(variance+eps)
}
