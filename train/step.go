// SPDX-License-Identifier: Apache-2.0

package train

import (
	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/lower/plan"
	"lathe/train/grad"
	"lathe/train/model"
)

// stepper prints the program that takes a few steps of training.
type stepper struct {
	*leaves
	plan     *plan.Train
	distill  *plan.Distill
	fidelity model.Fidelity
	set      *Set
	drops    map[string]float64 // the shares of dropouts of the model file, by node
	steps    int                // of a call
}

// The arguments of the program: the state, masks, numbers of the steps, samples of the steps, inputs, labels, teacher.
// Its results: the state, losses and norms of the steps, norms of the gradients of the last one by leaf.
//
// The state is the leaves, their moments, statistics of batch normalizations where they follow batches, and how many
// steps in a row have had no finite loss.

// states is the number of arrays of the state.
func (s *stepper) states() int { return s.moving() + len(s.buffers()) + 1 }

// moving is the number of leaves and moments.
func (s *stepper) moving() int { return len(s.all) * (1 + moments(s.plan)) }

// followed is what a step moves the statistics of the model by towards those of the batch.
const followed = 0.1

// buffers are the statistics that follow those of batches.
func (s *stepper) buffers() []model.Param {
	if s.plan.BatchNorm != "train" {
		return nil
	}
	return s.model.Buffers
}

// initial is the state in the beginning.
func (s *stepper) initial() []hlo.Array {
	var out []hlo.Array
	for _, l := range s.all {
		out = append(out, hlo.FromFloat32s(l.Shape, l.Start))
	}
	for _, l := range s.all {
		for range moments(s.plan) {
			out = append(out, hlo.FromFloat32s(l.Shape, make([]float32, len(l.Start))))
		}
	}
	for _, p := range s.buffers() {
		out = append(out, hlo.FromFloat32s(p.Shape, p.Start))
	}
	return append(out, hlo.FromInt64s(hlo.I32, nil, []int64{0}))
}

// arguments are what the program reads beside the values of a step.
type arguments struct {
	masks            []hlo.Value // by leaf; the zero Value without
	numbers, samples hlo.Value
	inputs           []hlo.Value
	labels, teacher  hlo.Value
	base             map[int]hlo.Value
	forward          *model.Forward
}

// program prints the program for a state of the types of that in the beginning.
func (s *stepper) program(start []hlo.Array) (*hlo.Program, error) {
	b := hlo.New("main")
	var state []hlo.Value
	for _, a := range start {
		v := b.Arg("", a.Type)
		b.Donate(v, len(state))
		state = append(state, v)
	}
	a, err := s.arguments(b, s.steps, s.steps*s.plan.Accumulate)
	if err != nil {
		return nil, err
	}
	zeros := b.BroadcastInDim(b.Float(hlo.F32, 0), []int{s.steps}, nil)
	norms := b.BroadcastInDim(b.Float(hlo.F32, 0), []int{len(s.all)}, nil)
	now := append(state, zeros, zeros, norms)
	if s.steps == 1 {
		now, err = s.step(b, a, b.Int(hlo.I32, 0), now)
	} else {
		now = b.Times(s.steps, now, func(round hlo.Value, now []hlo.Value) []hlo.Value {
			next, e := s.step(b, a, round, now)
			if e != nil {
				err = e
				return now
			}
			return next
		})
	}
	if err != nil {
		return nil, err
	}
	b.Return(now...)
	return b.Program(), b.Err()
}

// arguments declares what a program of so many steps, of so many batches in all, reads beside its state.
func (s *stepper) arguments(b *hlo.Builder, steps, batches int) (*arguments, error) {
	a := &arguments{}
	for _, l := range s.all {
		var mask hlo.Value
		if l.mask != nil {
			mask = b.Arg("", hlo.TypeOf(hlo.I8, l.Shape...))
		}
		a.masks = append(a.masks, mask)
	}
	a.numbers = b.Arg("", hlo.TypeOf(hlo.F32, steps, columns))
	a.samples = b.Arg("", hlo.TypeOf(hlo.I32, batches, s.plan.Batch))
	b.Split(a.samples, 1)
	for _, x := range s.set.Inputs {
		a.inputs = append(a.inputs, b.Arg("", x.Type))
	}
	a.labels = b.Arg("", s.set.Labels.Type)
	if s.set.Teacher != nil {
		a.teacher = b.Arg("", s.set.Teacher.Type)
	}
	a.base = s.base(b)
	var err error
	if a.forward, err = s.model.Prepare(b, s.fidelity); err == nil {
		a.forward.Batch = len(s.buffers()) > 0
	}
	return a, err
}

// loss prints the loss of trained leaves for the samples of a batch, and the bits of their codes.
func (s *stepper) loss(b *hlo.Builder, a *arguments, batch hlo.Value, trained []hlo.Value,
	drop dropout) (loss, bits hlo.Value, err error) {
	samples := b.Row(a.samples, 0, batch)
	var in []hlo.Value
	for _, x := range a.inputs {
		in = append(in, b.TakeI(x, samples))
	}
	params, bits := s.params(b, a.base, trained, a.masks)
	a.forward.Places, a.forward.Drop, a.forward.Behind = s.dataPlaces(b, trained), drop.layers, drop.behind
	a.forward.Scales = scaleValues(s.leaves, trained)
	out, err := a.forward.Run(params, in)
	if err != nil {
		return loss, bits, err
	}
	g := goal{loss: lossOf(s.plan), smoothing: s.plan.Smoothing}
	if a.teacher.Number() >= 0 {
		g.teacher, g.temperature, g.weight = b.TakeI(a.teacher, samples), s.distill.Temperature, s.distill.Weight
	}
	return g.print(b, out[0], b.TakeI(a.labels, samples)), bits, nil
}

// gradients prints the mean loss over the batches of a round, its gradients with the price of bits, and behind them the
// statistics of batch normalizations.
func (s *stepper) gradients(b *hlo.Builder, a *arguments, round hlo.Value, column func(int) hlo.Value,
	trained []hlo.Value) (loss hlo.Value, grads []hlo.Value, err error) {
	price, seed := column(priceColumn), b.Convert(column(dropColumn), hlo.I32)
	of := func(batch, ofStep hlo.Value) (loss hlo.Value, grads []hlo.Value, err error) {
		loss, bits, err := s.loss(b, a, batch, trained, s.dropping(b, seed, ofStep))
		if err == nil {
			grads, err = grad.Of(b, b.Add(loss, b.Mul(price, bits)), trained...)
		}
		if len(s.buffers()) > 0 {
			grads = append(grads, a.forward.Stats...)
		}
		return loss, grads, err
	}
	n := s.plan.Accumulate
	if n == 1 {
		return of(round, b.Int(hlo.I32, 0))
	}
	sums := []hlo.Value{b.Float(hlo.F32, 0)}
	for _, l := range s.all {
		sums = append(sums, b.BroadcastInDim(sums[0], l.Shape, nil))
	}
	for _, p := range s.buffers() {
		sums = append(sums, b.BroadcastInDim(sums[0], p.Shape, nil))
	}
	first := b.Mul(round, b.Int(hlo.I32, int64(n)))
	sums = b.Times(n, sums, func(i hlo.Value, sums []hlo.Value) []hlo.Value {
		loss, grads, e := of(b.Add(first, i), i)
		if e != nil {
			err = e
			return sums
		}
		next := []hlo.Value{b.Add(sums[0], loss)}
		for k, d := range grads {
			next = append(next, b.Add(sums[k+1], d))
		}
		return next
	})
	if err != nil {
		return loss, nil, err
	}
	share := b.Float(hlo.F32, 1/float64(n))
	for k, v := range sums {
		sums[k] = b.Mul(v, share)
	}
	return sums[0], sums[1:], b.Err()
}

// step prints one step.
func (s *stepper) step(b *hlo.Builder, a *arguments, round hlo.Value, now []hlo.Value) ([]hlo.Value, error) {
	trained, kept, follow := now[:len(s.all)], now[len(s.all):s.moving()], now[s.moving():s.states()-1]
	bad, losses, lengths := now[s.states()-1], now[s.states()], now[s.states()+1]
	numbers := b.Row(a.numbers, 0, round)
	column := func(i int) hlo.Value { return b.Reshape(b.SliceAxis(numbers, 0, i, i+1)) }
	loss, grads, err := s.gradients(b, a, round, column, trained)
	if err != nil {
		return nil, err
	}
	grads, stats := grads[:len(s.all)], grads[len(s.all):]
	length, squares := s.clip(b, grads)
	counts := b.Compare(hlo.NE, column(countColumn), b.Float(hlo.F32, 0))
	sound := b.And(isFinite(b, loss), isFinite(b, length))
	finite := b.And(sound, counts)
	next := make([]hlo.Value, 0, len(now))
	var states []hlo.Value
	each := moments(s.plan)
	for i, p := range trained {
		was := append([]hlo.Value{p}, kept[i*each:(i+1)*each]...)
		made := update(b, s.plan, &s.all[i], p, grads[i], was[1:], numbers)
		for k, v := range made {
			made[k] = masked(b, b.Select(finite, v, was[k]), a.masks[i])
		}
		next, states = append(next, made[0]), append(states, made[1:]...)
	}
	next = append(next, states...)
	for i, was := range follow {
		moved := b.Add(was, b.Mul(b.Sub(stats[i], was), b.Float(hlo.F32, followed)))
		next = append(next, b.Select(finite, moved, was))
	}
	worse := b.Select(sound, b.Int(hlo.I32, 0), b.Add(bad, b.Int(hlo.I32, 1)))
	next = append(next, b.Select(counts, worse, bad))
	return append(next, b.PutRow(losses, loss, 0, round), b.PutRow(lengths, length, 0, round),
		b.Sqrt(b.Concat(0, squares...))), nil
}

// clip bounds gradients, in place, to the norm of the plan, and gives the norm and the squared norm of each leaf.
func (s *stepper) clip(b *hlo.Builder, grads []hlo.Value) (length hlo.Value, squares []hlo.Value) {
	total := b.Float(hlo.F32, 0)
	for i, d := range grads {
		sum := b.Reduce(hlo.ReduceAdd, b.Reshape(b.Mul(d, d), d.Type().Len()), 0)
		if !s.all[i].isWidth() { // the price of bits must not slow down the weights
			total = b.Add(total, sum)
		}
		squares = append(squares, b.Reshape(sum, 1))
	}
	length = b.Sqrt(total)
	if s.plan.Clip == 0 {
		return length, squares
	}
	most := b.Float(hlo.F32, s.plan.Clip)
	shrink := b.Min(b.Div(most, b.Max(length, b.Float(hlo.F32, 1e-12))), b.Float(hlo.F32, 1))
	for i, d := range grads {
		if !s.all[i].isWidth() {
			grads[i] = b.Mul(d, shrink)
		}
	}
	return length, squares
}

// isFinite is false for NaN and infinities.
func isFinite(b *hlo.Builder, v hlo.Value) hlo.Value {
	return b.Compare(hlo.EQ, b.Sub(v, v), b.Float(hlo.F32, 0))
}

// lossOf is the loss of a plan.
func lossOf(t *plan.Train) Loss {
	for i, w := range plan.TrainLosses {
		if w == t.Loss {
			return Loss(i)
		}
	}
	return CrossEntropy
}

// diverged names the step and the largest gradient.
func (t *Trainer) diverged(norms []float64) error {
	worst := 0
	for i, v := range norms {
		if !(v <= norms[worst]) {
			worst = i
		}
	}
	l := t.all[worst]
	const moderate = 0.01 // rates beyond this one are rare
	return diag.New(diag.TrainDiverges, t.set.Name, "the loss is not finite in %d steps in a row up to step %d; the "+
		"largest gradient, %s, is that of %q in %s", patience, t.done, diag.Number(norms[worst], 3), l.Name, l.Node).
		WithHint("train with a smaller rate, such as --lr %s, or with clip = 1.0 in [train]",
			diag.Number(min(t.plan.LR/10, moderate), 3))
}
