// SPDX-License-Identifier: Apache-2.0

package train

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// Loss is what training makes small.
type Loss uint8

// The losses, each the mean over samples, and over the positions of a sample that have a target.
const (
	// CrossEntropy is -log softmax of the output, along its last axis, at the class of the label; labels below 0 are left
	// out.
	CrossEntropy Loss = iota
	// Squares is the mean of (output - target)^2.
	Squares
	// Binary is the cross-entropy of sigmoid(output) with targets from 0 to 1.
	Binary
)

// goal is what the loss is computed from: labels or targets of a batch, logits of a teacher.
type goal struct {
	loss        Loss
	smoothing   float64
	teacher     hlo.Value // logits; the zero Value without one
	temperature float64
	weight      float64 // of the teacher
}

// print prints the loss of outputs y [B, ...], f32, against labels [B, ...] in i32 without the last axis of y, or
// targets of the type of y.
func (g *goal) print(b *hlo.Builder, y, target hlo.Value) hlo.Value {
	var v hlo.Value
	switch g.loss {
	case CrossEntropy:
		v = g.crossEntropy(b, y, target)
	case Squares:
		d := b.Sub(y, target)
		v = mean(b, b.Mul(d, d))
	case Binary:
		// max(y, 0) - y t + log(1 + exp(-|y|)) has no large intermediate values.
		zero := b.Float(hlo.F32, 0)
		v = mean(b, b.Add(b.Sub(b.Max(y, zero), b.Mul(y, target)), b.Log1p(b.Exp(b.Neg(b.Abs(y))))))
	}
	if g.teacher.Number() < 0 {
		return v
	}
	w := b.Float(hlo.F32, g.weight)
	return b.Add(b.Mul(b.Sub(b.Float(hlo.F32, 1), w), v), b.Mul(w, g.distance(b, y)))
}

// mean is the mean of all elements.
func mean(b *hlo.Builder, v hlo.Value) hlo.Value {
	n := v.Type().Len()
	return b.Mul(b.Reduce(hlo.ReduceAdd, b.Reshape(v, n), 0), b.Float(hlo.F32, 1/float64(max(n, 1))))
}

// logSoftmax is that of rows [N, C].
func logSoftmax(b *hlo.Builder, z hlo.Value) hlo.Value {
	dims := z.Type().Dims
	top := b.ReduceKeep(hlo.ReduceMax, z, 1)
	top = b.Through(top, b.Splat(top, 0)) // what is subtracted from all has no gradient
	z = b.Sub(z, b.BroadcastTo(top, dims...))
	sum := b.Log(b.ReduceKeep(hlo.ReduceAdd, b.Exp(z), 1))
	return b.Sub(z, b.BroadcastTo(sum, dims...))
}

// rows are the vectors along the last axis.
func rows(b *hlo.Builder, y hlo.Value) hlo.Value {
	dims := y.Type().Dims
	c := dims[len(dims)-1]
	return b.Reshape(y, y.Type().Len()/max(c, 1), c)
}

func (g *goal) crossEntropy(b *hlo.Builder, y, labels hlo.Value) hlo.Value {
	log := logSoftmax(b, rows(b, y))
	n, c := log.Type().Dims[0], log.Type().Dims[1]
	labels = b.Reshape(labels, n)
	index := b.Iota(hlo.TypeOf(hlo.I32, n, c), 1)
	right := b.Compare(hlo.EQ, index, b.Along(labels, []int{n, c}, 0))
	share := b.Float(hlo.F32, g.smoothing/float64(c))
	want := b.Select(right, b.Add(share, b.Float(hlo.F32, 1-g.smoothing)), share)
	each := b.Neg(b.Reduce(hlo.ReduceAdd, b.Mul(log, want), 1))
	counts := b.Compare(hlo.GE, labels, b.Splat(labels, 0))
	sum := b.Reduce(hlo.ReduceAdd, b.Select(counts, each, b.Float(hlo.F32, 0)), 0)
	some := b.Reduce(hlo.ReduceAdd, b.Convert(counts, hlo.F32), 0)
	return b.Div(sum, b.Max(some, b.Float(hlo.F32, 1)))
}

// distance is T^2 KL(teacher/T, student/T) (Hinton et al. 2015), without the entropy of the teacher, which is constant.
func (g *goal) distance(b *hlo.Builder, y hlo.Value) hlo.Value {
	cool := b.Float(hlo.F32, 1/g.temperature)
	student := logSoftmax(b, b.Mul(rows(b, y), cool))
	teacher := logSoftmax(b, b.Mul(rows(b, g.teacher), cool))
	each := b.Mul(b.Exp(teacher), b.Sub(teacher, student))
	n := float64(student.Type().Dims[0])
	sum := b.Reduce(hlo.ReduceAdd, each, 0, 1)
	return b.Mul(sum, b.Float(hlo.F32, g.temperature*g.temperature/n))
}

// checkTarget says what is wrong with labels or targets for outputs of a shape, of one sample.
func (l Loss) checkTarget(labels hlo.Array, n int, out []int, file string) error {
	if len(out) == 0 {
		return diag.New(diag.LossNotScalar, file, "the output is one number; cross_entropy needs a score for each class")
	}
	want := append([]int{n}, out...)
	if l == CrossEntropy {
		want = want[:len(want)-1]
	}
	if labels.Type.Len() != (hlo.Type{Dims: want}).Len() {
		return diag.New(diag.TrainLabels, file, "labels have shape %v, the loss takes %v", labels.Type.Dims, want)
	}
	if l != CrossEntropy {
		return nil
	}
	classes := int64(out[len(out)-1])
	list := labels.Int64s()
	if len(list) > 0 && slices.Max(list) < 0 {
		return diag.New(diag.TrainLabels, file, "all %d labels are below 0, which leaves their samples out of the loss",
			len(list)).WithHint("classes are counted from 0")
	}
	for i, v := range list {
		if v >= classes {
			return diag.New(diag.TrainLabels, file, "a label of sample %d is %d, and the output has %d classes",
				i*n/labels.Type.Len(), v, classes).
				WithHint("classes are counted from 0; labels below 0 are left out of the loss")
		}
	}
	return nil
}
