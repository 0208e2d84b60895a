// SPDX-License-Identifier: Apache-2.0

package training

import (
	"context"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/ref"
	"lathe/train"
)

// set reads data and labels, and computes what the teacher says of them.
func (t *Task) set(ctx context.Context, p *prepared) (*train.Set, error) {
	samples, _, err := driver.Samples(p.float, p.data.File)
	if err != nil {
		return nil, err
	}
	s := &train.Set{Name: t.Data, N: len(samples)}
	for i, n := range p.float.In {
		s.Inputs = append(s.Inputs, stack(n, i, samples))
	}
	if s.Labels, err = t.labels(p, len(samples)); err != nil {
		return nil, err
	}
	if !p.plan.Distill.Given {
		return s, nil
	}
	if t.Progress != nil {
		t.Progress("teacher", 0, len(samples))
	}
	out, err := driver.Evaluate(ctx, p.float, samples)
	if err != nil {
		return nil, err
	}
	logits := stack(p.float.Out[0].Node, 0, out)
	s.Teacher = &logits
	return s, nil
}

// stack puts value i of all samples into one array.
func stack(n *ir.Node, i int, samples []ref.Sample) hlo.Array {
	dims := append([]int{len(samples)}, n.Type.Shape...)
	var floats []float32
	var codes []int64
	for _, s := range samples {
		floats, codes = append(floats, s[i].Floats...), append(codes, s[i].Codes...)
	}
	if n.Type.IsFloat() {
		return hlo.FromFloat32s(dims, floats)
	}
	return hlo.FromInt64s(carrier.DType(n.Type), dims, codes)
}

// labels reads classes, or targets of losses that compare values.
func (t *Task) labels(p *prepared, n int) (hlo.Array, error) {
	a, path, err := labelled(p.data, t.Data, t.Labels)
	if err != nil {
		return hlo.Array{}, err
	}
	if len(a.Shape) == 0 || a.Shape[0] != n {
		return hlo.Array{}, diag.New(diag.TrainLabels, path, "labels have shape %s, and there are %d samples",
			ir.ShapeString(a.Shape), n)
	}
	if p.plan.Train.Loss == "cross_entropy" {
		classes, err := a.Int64s()
		if err != nil {
			return hlo.Array{}, diag.At(err, diag.TrainLabels, path)
		}
		for i, c := range classes {
			if int64(int32(c)) != c {
				return hlo.Array{}, diag.New(diag.TrainLabels, path, "label %d of sample %d has more than 32 bits", c,
					i*n/len(classes))
			}
		}
		return hlo.FromInt64s(hlo.I32, a.Shape, classes), nil
	}
	x := a.Float32s()
	if i := slices.IndexFunc(x, func(v float32) bool { return v-v != 0 }); i >= 0 {
		return hlo.Array{}, diag.New(diag.TrainLabels, path, "target %d is %v", i, x[i])
	}
	if err := fitting(a, path, n, p); err != nil {
		return hlo.Array{}, err
	}
	return hlo.FromFloat32s(append([]int{n}, p.float.Out[0].Node.Type.Shape...), x), nil
}
