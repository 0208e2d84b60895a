// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math"

	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/dense"
)

// Attention computes a block of queries of one head at a time: at most queryBlock, and blockScores scores.
const (
	queryBlock  = 128
	blockScores = 1 << 20
)

func attentionEval(n *ir.Node) (ir.Kernel, error) {
	if err := inFloatGraph(n); err != nil {
		return nil, err
	}
	a := &attending{n: n, scoring: newScoring(n)}
	q, k := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	block := max(1, min(queryBlock, blockScores/max(1, k[2]), q[2]))
	blocks, fill := (q[2]+block-1)/block, fixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		y := ir.NewTensor(n.Type)
		few := 1 + unaryGrain/max(1, block*k[2])
		workers.Ranges(q[0]*q[1]*blocks, few, func(from, to int) {
			for i := from; i < to; i++ {
				first := i % blocks * block
				a.block(args, y, i/blocks, first, min(block, q[2]-first))
			}
		})
		return y, nil
	}, nil
}

// attending is the evaluation of attention.
type attending struct {
	scoring
	n *ir.Node
}

// block computes rows queries from first on of one head of one batch.
func (a *attending) block(args []*ir.Tensor, y *ir.Tensor, head, first, rows int) {
	q, k, wide := a.n.Args[0].Type.Shape, a.n.Args[1].Type.Shape, a.n.Type.Shape[3]
	b, h := head/q[1], head%q[1]
	at := (b*k[1] + h/(q[1]/k[1])) * k[2] // the first row of the keys and the values
	keys := a.seen(first+rows-1, k[2])
	scores := make([]float64, rows*keys)
	(&dense.Product{M: rows, N: keys, K: q[3], Wide: scores, Row: keys, Col: 1,
		Left:  dense.Left(args[0].Floats[(head*q[2]+first)*q[3]:], q[3]),
		Right: dense.Rows(args[1].Floats[at*q[3]:], q[3])}).Run()
	var mask *ir.Tensor
	if len(args) > 3 {
		mask = args[3]
	}
	totals := make([]float64, rows)
	for i := range rows {
		place := b*a.strides[0] + h*a.strides[1] + (first+i)*a.strides[2]
		totals[i] = a.weights(scores[i*keys:(i+1)*keys], a.seen(first+i, k[2]), mask, place)
	}
	sums := make([]float64, rows*wide)
	(&dense.Product{M: rows, N: wide, K: keys, Wide: sums, Row: wide, Col: 1,
		Left:  func(i int, row []float64) { copy(row, scores[i*keys:(i+1)*keys]) },
		Right: dense.Columns(args[2].Floats[at*wide:], wide)}).Run()
	out := y.Floats[(head*q[2]+first)*wide:]
	for i, s := range sums {
		out[i] = float32(s / totals[i/wide])
	}
}

// seen is how many of all keys query i sees.
func (s *scoring) seen(i, all int) int { return max(0, min(all, i+s.diagonal+1)) }

// weights turns dot products into exp(score - greatest score), zeros from place seen on, and returns their sum; where
// no score is more than -Inf all are zeros, and the sum is 1.
func (s *scoring) weights(dots []float64, seen int, mask *ir.Tensor, place int) (total float64) {
	top := math.Inf(-1)
	for j := range seen {
		dots[j] = s.of(dots[j], mask, place+j*s.strides[3])
		top = max(top, dots[j])
	}
	if math.IsInf(top, -1) {
		clear(dots)
		return 1
	}
	for j := range seen {
		dots[j] = math.Exp(dots[j] - top)
		total += dots[j]
	}
	clear(dots[seen:])
	return total
}
