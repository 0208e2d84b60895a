// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
)

// Fidelity is how close the forward pass is to the hardware.
type Fidelity uint8

const (
	// Exact has each operation compute the codes that hardware computes.
	Exact Fidelity = iota
	// Fast computes functions, softmax and norms in floats, and rounds their results.
	Fast
)

// Forward is a forward pass that is printed.
type Forward struct {
	*Model
	// Values are those of the nodes, by name, of samples that lead: floats, which are the values of codes in a quantized
	// graph.
	Values map[string]hlo.Value
	// Batch has batch normalizations take the statistics of the batch, which Stats then holds, in the order of Buffers.
	Batch bool
	Stats []hlo.Value
	// Places are how many places the channels of each of Model.Each lose on the right, f32; nil for those that stand.
	Places []hlo.Value
	// Scales is what is trained of the steps of each of Model.Scales, see Scale.Leaf.
	Scales []hlo.Value
	// Drop, if not nil, prints what is left of v, which node multiplies; sites number such values.
	Drop func(node string, site int, v hlo.Value) hlo.Value
	// Behind, if not nil, prints what all that reads node sees of its value v.
	Behind func(node string, site int, v hlo.Value) hlo.Value

	b        *hlo.Builder
	fidelity Fidelity
	rounders map[string]*format.Rounder
	steps    []hlo.Value           // of Scales
	dropped  map[string]bool       // nodes whose values are no codes, behind a dropout
	standing map[float64]hlo.Value // steps that stand beside them
}

// Prepare prints what forward passes need outside of loops.
func (m *Model) Prepare(b *hlo.Builder, f Fidelity) (*Forward, error) {
	b.Straight = true // gradients have no loops
	p := &Forward{Model: m, b: b, fidelity: f, rounders: map[string]*format.Rounder{}}
	if m.graph.Stage == ir.StageFloat {
		return p, nil
	}
	p.prepareSteps()
	var errs diag.List
	need := func(n *ir.Node, t ir.Type, grid format.Format) {
		if err := p.need(t, grid); err != nil {
			errs = append(errs, n.Errorf(diag.UntrainedFormat, "%v", err))
		}
	}
	for _, n := range m.run.Nodes {
		if _, whole := ir.WholeOf(n.Type.Format); !n.IsConst() && !whole && !n.Type.IsFloat() && n.Type.Format != ir.Bool {
			need(n, n.Type, n.Type.Format)
		}
	}
	for _, s := range m.slots {
		n := m.graph.Nodes[s.node]
		need(n, n.Args[s.arg].Type, s.grid)
	}
	return p, errs.Err()
}

func rounderKey(t ir.Type, grid format.Format) string {
	return ir.Type{Format: grid, Scales: t.Scales}.String()
}

func (p *Forward) need(t ir.Type, grid format.Format) error {
	key := rounderKey(t, grid)
	if p.rounders[key] != nil {
		return nil
	}
	scales := t.Scales
	if t.InBlocks() {
		scales = nil
	}
	r, err := format.NewRounder(p.b, grid, scales)
	p.rounders[key] = r
	return err
}

// Run prints the forward pass: the outputs of the graph, in its layout, for parameters and inputs, which are f32, or
// i32 for whole numbers, behind an axis of samples.
func (p *Forward) Run(params, in []hlo.Value) ([]hlo.Value, error) {
	p.Values, p.Stats = map[string]hlo.Value{}, make([]hlo.Value, len(p.Buffers))
	p.dropped = map[string]bool{}
	own := map[*ir.Node]hlo.Value{} // by nodes of float
	p.printSteps()
	for i, n := range p.float.In {
		v := in[i]
		if n.Type.IsFloat() {
			v = p.b.Convert(v, hlo.F32) // ids that have become values
		}
		a := n.Attrs.(*ir.Input)
		if a.Perm != nil {
			v = p.b.Transpose(v, behind(a.Perm)...)
		}
		if a.Exponents != nil {
			factors := slices.Repeat([]float32{1}, len(a.Exponents))
			a.Scale(factors)
			f := p.b.Const(hlo.FromFloat32s([]int{len(factors)}, factors))
			v = p.b.Mul(v, p.b.BroadcastTo(f, v.Type().Dims...))
		}
		own[n] = v
	}
	for i, n := range p.float.Nodes {
		q := p.run.Nodes[i]
		if n.IsConst() {
			continue
		}
		v, input := own[n]
		if !input {
			args, err := p.args(i, params, own)
			if p.Drop != nil && n.Op.Traits.Weighted && err == nil && !n.Args[0].IsInput() && !n.Args[0].IsConst() {
				args[0] = p.Drop(n.Name, i, args[0])
			}
			if err == nil {
				v, err = p.node(i, args)
			}
			if err != nil {
				return nil, n.Diag(diag.ReferenceOnly, err)
			}
		} else if !q.Type.IsFloat() && n.Type.IsFloat() {
			v = p.round(q.Type, q.Type.Format, v, 1)
		}
		own[n], p.Values[n.Name] = v, v
		if p.Behind != nil && !p.float.IsOutput(n) {
			own[n] = p.Behind(n.Name, i, v)
			p.dropped[n.Name] = own[n].Number() != v.Number()
		}
	}
	var out []hlo.Value
	for _, o := range p.float.Out {
		v := own[o.Node]
		if o.Perm != nil {
			v = p.b.Transpose(v, behind(o.Perm)...)
		}
		out = append(out, v)
	}
	return out, p.b.Err()
}

// behind is a permutation of axes behind that of samples.
func behind(perm []int) []int {
	out := []int{0}
	for _, a := range perm {
		out = append(out, a+1)
	}
	return out
}

// args are the arguments of node i: values, and parameters rounded to their formats.
func (p *Forward) args(i int, params []hlo.Value, own map[*ir.Node]hlo.Value) ([]hlo.Value, error) {
	n := p.float.Nodes[i]
	out := make([]hlo.Value, len(n.Args))
	for k, a := range n.Args {
		at, trained := p.places[a]
		switch {
		case trained && p.graph.Stage == ir.StageFloat:
			out[k] = params[at.param]
		case trained && at.scale >= 0:
			out[k] = p.roundWeights(at.scale, params[at.param])
		case trained && k == 2 && p.weighings[n.Name].factored:
			out[k] = p.learnedBias(p.weighings[n.Name], params[at.param])
		case trained:
			out[k] = p.round(at.typ, at.grid, params[at.param], 0)
		case a.IsConst():
		default:
			v, known := own[a]
			if !known {
				return nil, errors.New("reads a value that is not computed before it")
			}
			out[k] = v
		}
	}
	return out, nil
}

// node prints node i.
func (p *Forward) node(i int, args []hlo.Value) (hlo.Value, error) {
	n, q := p.float.Nodes[i], p.run.Nodes[i]
	p.b.At(n.Name)
	if _, norm := p.norms[n]; norm && p.Batch {
		return p.batchNorm(n, args), p.b.Err()
	}
	if p.Places != nil {
		if e := slices.IndexFunc(p.Each, func(e Each) bool { return e.Node == q.Name }); e >= 0 {
			return p.narrow(&p.Each[e], args[0], p.Places[e]), p.b.Err()
		}
	}
	rounds := !q.Type.IsFloat() && n.Type.IsFloat()
	if !rounds {
		return carrier.Print(p.b, n, args)
	}
	if t := q.Op.Traits; t.KeepsCodes && len(q.Args) > 0 && q.Args[0].Type.SameFormat(q.Type) && n.Args[0].Type.IsFloat() {
		return carrier.Print(p.b, n, args)
	}
	wide := args
	if p.sums[n] != single {
		wide = slices.Clone(args)
		for k, v := range wide {
			if v.Number() >= 0 {
				wide[k] = p.b.Convert(v, hlo.F64)
			}
		}
	}
	var v hlo.Value
	var err error
	if q.Op.Traits.Casts {
		v = args[0]
	} else if v, err = carrier.Print(p.b, n, wide); err != nil {
		return v, err
	}
	if rounded, ok := p.learnedResult(q, v); ok {
		return rounded, p.b.Err()
	}
	rounded := p.round(q.Type, q.Type.Format, v, 1)
	if p.inFloats(q) {
		return rounded, p.b.Err()
	}
	if p.fidelity == Exact && !q.Op.Traits.Weighted && !q.Op.Traits.Casts {
		if exact, ok := p.exact(q, args); ok {
			return p.b.Through(exact, rounded), p.b.Err()
		}
	}
	return rounded, p.b.Err()
}

// round rounds v to a format; where v lies beyond it, the gradient is 0, else that of v. lead is the number of axes
// before those of the type.
func (p *Forward) round(t ir.Type, grid format.Format, v hlo.Value, lead int) hlo.Value {
	r := p.rounders[rounderKey(t, grid)]
	axis, _ := format.ScaleAxis(grid)
	y := r.Round(p.b, v, axis+lead)
	source := p.b.Convert(v, hlo.F32)
	if !r.Follows() {
		lo, hi := r.Bounds(p.b, source, axis+lead)
		source = p.b.Clamp(lo, source, hi)
	}
	return p.b.Through(y, source)
}
