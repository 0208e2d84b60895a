// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"slices"

	"lathe/ir/hlo"
	"lathe/train/grad"
)

// worthBatches is over how many batches gradients are looked at to tell what weights are worth.
const worthBatches = 64

// worthProgram prints the program that gives, for each leaf, the sum over batches of |gradient * weight|: what the loss
// changes by without the weight, to first order (Molchanov et al. 2019). It reads the leaves, and what a step reads.
func (s *stepper) worthProgram() (*hlo.Program, error) {
	b := hlo.New("main")
	var leaves, sums []hlo.Value
	for _, l := range s.all {
		leaves = append(leaves, b.Arg("", hlo.TypeOf(hlo.F32, l.Shape...)))
		sums = append(sums, b.BroadcastInDim(b.Float(hlo.F32, 0), l.Shape, nil))
	}
	a, err := s.arguments(b, worthBatches, worthBatches)
	if err != nil {
		return nil, err
	}
	sums = b.Times(worthBatches, sums, func(round hlo.Value, sums []hlo.Value) []hlo.Value {
		next := slices.Clone(sums)
		loss, _, e := s.loss(b, a, round, leaves, dropout{})
		if e != nil {
			err = e
			return next
		}
		grads, e := grad.Of(b, loss, leaves...)
		if e != nil {
			err = e
			return next
		}
		for i, d := range grads {
			next[i] = b.Add(sums[i], b.Abs(b.Mul(d, leaves[i])))
		}
		return next
	})
	if err != nil {
		return nil, err
	}
	b.Return(sums...)
	return b.Program(), b.Err()
}

// worths runs it on the weights as they are.
func (t *Trainer) worths(ctx context.Context) ([][]float32, error) {
	if t.worth == nil {
		p, err := t.stepper.worthProgram()
		if err != nil {
			return nil, err
		}
		if t.worth, err = t.engine.Compile(ctx, p); err != nil {
			return nil, err
		}
	}
	samples := batches(t.plan.Seed, t.done, worthBatches, t.plan.Batch, t.set.N)
	given, err := t.give(ctx, hlo.FromFloat32s([]int{worthBatches, columns}, make([]float32, worthBatches*columns)),
		hlo.FromInt64s(hlo.I32, []int{worthBatches, t.plan.Batch}, samples))
	if err != nil {
		return nil, err
	}
	out, err := t.worth.Step(ctx, slices.Concat(t.state[:len(t.all)], t.masks, given, t.held))
	if err != nil {
		return nil, err
	}
	return values(ctx, out, append(given, out...))
}

// values downloads floats, and drops what is not needed then.
func values(ctx context.Context, held, used []Buffer) ([][]float32, error) {
	arrays, err := download(ctx, held)
	for _, b := range used {
		b.Drop(ctx)
	}
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(arrays))
	for i, a := range arrays {
		for _, v := range a.Float64s() {
			out[i] = append(out[i], float32(v))
		}
	}
	return out, nil
}
