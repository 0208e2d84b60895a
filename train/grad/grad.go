// SPDX-License-Identifier: Apache-2.0

// Package grad derives StableHLO programs: it appends to a program what computes the gradients of one of its values, by
// one rule for each kind of operation.
package grad

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// rule gives, for each operand of an operation, what the gradient of the result adds to that of the operand; the zero
// Value adds nothing.
type rule func(s *sweep, o *step) []hlo.Value

// step is an operation on the way back.
type step struct {
	hlo.Operation
	number int
	grad   hlo.Value // of its result
}

// sweep walks a program backwards.
type sweep struct {
	*hlo.Builder
	ops    []hlo.Operation // of the program as it was
	needed []bool          // by operation: whether a gradient is wanted of it
	grads  []hlo.Value     // by operation: the sum so far
	failed error           // of a rule
}

// Of appends to b the gradients of loss, a float scalar, with respect to floats of the program, which may be arguments
// or computed values; one that loss does not depend on has the gradient 0. Error L1001 for an operation on the way that
// has no rule, L1002 for a loss that is no float scalar.
func Of(b *hlo.Builder, loss hlo.Value, wrt ...hlo.Value) ([]hlo.Value, error) {
	if b.Err() != nil {
		return nil, b.Err()
	}
	if t := loss.Type(); t.Rank() != 0 || !t.DType.IsFloat() {
		return nil, diag.New(diag.LossNotScalar, b.Place(loss.Number()), "the loss is %s, not one float", t)
	}
	s := &sweep{Builder: b, ops: slices.Clone(b.Ops()[:loss.Number()+1])}
	s.needed, s.grads = make([]bool, len(s.ops)), make([]hlo.Value, len(s.ops))
	for _, w := range wrt {
		if w.Number() < len(s.ops) {
			s.needed[w.Number()] = true
		}
	}
	for n, o := range s.ops {
		s.needed[n] = s.needed[n] || o.Type.DType.IsFloat() && slices.ContainsFunc(carries(&o), s.reaches)
	}
	s.grads[loss.Number()] = b.Float(loss.Type().DType, 1)
	for n := len(s.ops) - 1; n >= 0; n-- {
		if err := s.back(n); err != nil {
			return nil, err
		}
	}
	out := make([]hlo.Value, len(wrt))
	for i, w := range wrt {
		if n := w.Number(); n < len(s.ops) {
			out[i] = s.grads[n]
		}
		if out[i].Number() < 0 {
			out[i] = b.Splat(w, 0)
		}
	}
	return out, b.Err()
}

// carries are the operands through which a gradient may go.
func carries(o *hlo.Operation) []int {
	switch o.Kind {
	case hlo.KindThrough:
		return o.Operands[1:]
	case hlo.KindSelect:
		return o.Operands[1:]
	}
	return o.Operands
}

// back adds what operation n passes on to the gradients of its operands.
func (s *sweep) back(n int) error {
	o := &step{Operation: s.ops[n], number: n, grad: s.grads[n]}
	if !s.needed[n] || o.grad.Number() < 0 || len(o.Operands) == 0 || !slices.ContainsFunc(o.Operands, s.reaches) {
		return nil
	}
	r, known := rules[o.Kind]
	if !known {
		return diag.New(diag.NoGradient, s.Place(n), "%s has no gradient here: a parameter that is trained reaches the loss"+
			" through it", o.Kind)
	}
	if r == nil {
		return nil // its gradient is 0
	}
	for i, g := range r(s, o) {
		if at := o.Operands[i]; g.Number() >= 0 && s.needed[at] {
			if before := s.grads[at]; before.Number() >= 0 {
				g = s.Add(before, g)
			}
			s.grads[at] = g
		}
	}
	if s.failed != nil {
		return s.failed
	}
	return s.Err()
}

func (s *sweep) reaches(n int) bool { return s.needed[n] }

// arg is the value of operand i.
func (s *sweep) arg(o *step, i int) hlo.Value { return s.Made(o.Operands[i]) }

// out is the value of the operation.
func (s *sweep) out(o *step) hlo.Value { return s.Made(o.number) }

// wants says that operand i has a gradient.
func (s *sweep) wants(o *step, i int) bool { return s.needed[o.Operands[i]] }

// num is a number of the type of the elements of v.
func (s *sweep) num(v hlo.Value, x float64) hlo.Value { return s.Float(v.Type().DType, x) }
