// SPDX-License-Identifier: Apache-2.0

// Package slow is an engine of training in Go, for machines without a PJRT plugin: an interpreter of step programs.
// Results in f32 are rounded after each operation; sums run in f64 and are rounded once, so that they may differ from
// those of a plugin by the rounding of the latter. Integers are the same.
package slow

import (
	"context"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/train"
)

// Engine is the interpreter.
func Engine() train.Engine { return engine{} }

type engine struct{}

// Compile checks the program, and decodes what never changes.
func (engine) Compile(_ context.Context, p *hlo.Program) (train.Program, error) { return Compile(p) }

// Upload decodes arrays.
func (engine) Upload(_ context.Context, arrays ...hlo.Array) ([]train.Buffer, error) {
	out := make([]train.Buffer, len(arrays))
	for i, a := range arrays {
		if msg := a.Check(); msg != "" {
			return nil, diag.New(diag.HLOBuild, "", "argument %d: %s", i, msg)
		}
		out[i] = buffer{decode(a.Type, a)}
	}
	return out, nil
}

// Spread is Upload: there is one device.
func (e engine) Spread(ctx context.Context, _ int, a hlo.Array) (train.Buffer, error) {
	out, err := e.Upload(ctx, a)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

type buffer struct{ value }

func (b buffer) Download(context.Context) (hlo.Array, error) { return b.encode(), nil }

func (b buffer) Drop(context.Context) error { return nil }

// Program is a program with its constants.
type Program struct {
	p     *hlo.Program
	fixed []value // by operation; x is nil where a run computes it
	spent [][]int // by operation: values of its scope that nothing reads behind it
}

// Compile prepares a program. A kind that the interpreter does not know is L0810.
func Compile(p *hlo.Program) (*Program, error) {
	p = p.Expand()
	if err := known(p); err != nil {
		return nil, err
	}
	if err := p.Verify(); err != nil {
		return nil, err
	}
	c := &Program{p: p, fixed: make([]value, len(p.Ops)), spent: spent(p)}
	for n, o := range p.Ops {
		switch o.Kind {
		case hlo.KindConstant:
			c.fixed[n] = decode(o.Type, o.Attrs.Value)
		case hlo.KindWeight:
			c.fixed[n] = decode(o.Type, p.Weights[o.Attrs.Index].Data)
		}
	}
	return c, nil
}

// known refuses kinds that are none of StableHLO's.
func known(p *hlo.Program) error {
	for n, o := range p.Ops {
		if o.Kind == hlo.KindInvalid || o.Kind >= hlo.NumKinds {
			return diag.New(diag.HLOBuild, p.Pos(n), "operation %d of kind %d (%s) is unknown to the engine in Go", n, o.Kind,
				o.Kind)
		}
	}
	return nil
}

// spent finds, for each operation, which values it is the last to read, where they are made in its own scope.
func spent(p *hlo.Program) [][]int {
	parent := make([]int, len(p.Ops))
	for n := range parent {
		parent[n] = -1
	}
	for n, o := range p.Ops { // inner loops follow outer ones, and have the last word
		for _, g := range o.Regions {
			for k := g.From; k < g.To; k++ {
				parent[k] = n
			}
		}
	}
	last := make([]int, len(p.Ops))
	read := func(v, by int) {
		for by >= 0 && by < len(p.Ops) && parent[by] != parent[v] {
			by = parent[by]
		}
		last[v] = max(last[v], by)
	}
	for n, o := range p.Ops {
		for _, v := range o.Operands {
			read(v, n)
		}
		for _, g := range o.Regions {
			for _, v := range g.Results {
				if v >= g.From {
					last[v] = len(p.Ops)
				} else {
					read(v, n)
				}
			}
		}
	}
	for _, v := range p.Results {
		last[v] = len(p.Ops)
	}
	out := make([][]int, len(p.Ops))
	for v, n := range last {
		if n > 0 && n < len(p.Ops) {
			out[n] = append(out[n], v)
		}
	}
	return out
}

// Step runs the program.
func (c *Program) Step(ctx context.Context, args []train.Buffer) ([]train.Buffer, error) {
	if len(args) != len(c.p.Inputs) {
		return nil, diag.New(diag.HLOBuild, c.p.Name, "%d arguments for a program of %d", len(args), len(c.p.Inputs))
	}
	r := run{Program: c, ctx: ctx, now: slices.Clone(c.fixed), results: map[int][]value{}}
	for i, a := range args {
		v := a.(buffer).value
		if want := c.p.Inputs[i].Type; !v.t.Equal(want) {
			return nil, diag.New(diag.HLOBuild, c.p.Name, "argument %d is %s, the program takes %s", i, v.t, want)
		}
		r.args = append(r.args, v)
	}
	if err := r.span(0, len(c.p.Ops)); err != nil {
		return nil, err
	}
	var out []train.Buffer
	for _, n := range c.p.Results {
		out = append(out, buffer{r.now[n]})
	}
	return out, nil
}

// run is one run of a program.
type run struct {
	*Program
	ctx     context.Context
	args    []value
	now     []value         // by operation
	results map[int][]value // of sorts and loops
}

// span runs operations from..to-1.
func (r *run) span(from, to int) error {
	for n := from; n < to; n++ {
		o := &r.p.Ops[n]
		at := n
		switch o.Kind {
		case hlo.KindConstant, hlo.KindWeight, hlo.KindParam:
		case hlo.KindInput:
			r.now[n] = r.args[o.Attrs.Index]
		case hlo.KindResult:
			r.now[n] = r.results[o.Operands[0]][o.Attrs.Index]
		case hlo.KindWhile:
			if err := r.loop(n); err != nil {
				return err
			}
			n = o.Regions[len(o.Regions)-1].To - 1
		case hlo.KindSort:
			r.results[n] = sorted(o, r.now[o.Operands[0]], r.now[o.Operands[1]])
			r.now[n] = r.results[n][0]
		default:
			v, ok := compute(o, r.of(o.Operands))
			if !ok {
				return diag.New(diag.HLOBuild, r.p.Pos(n), "the engine in Go does not compute %s of %s", o.Kind, o.Type)
			}
			r.now[n] = v
		}
		for _, v := range r.spent[at] {
			if r.fixed[v].x == nil {
				r.now[v] = value{}
			}
		}
	}
	return nil
}

func (r *run) of(numbers []int) []value {
	out := make([]value, len(numbers))
	for i, n := range numbers {
		out[i] = r.now[n]
	}
	return out
}

// loop runs a while: a test, and rounds.
func (r *run) loop(n int) error {
	o := &r.p.Ops[n]
	carried := r.of(o.Operands)
	region := func(g hlo.Region) ([]value, error) {
		copy(r.now[g.From:], carried)
		err := r.span(g.From+len(carried), g.To)
		return r.of(g.Results), err
	}
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		test, err := region(o.Regions[0])
		if err != nil {
			return err
		}
		if test[0].x[0] == 0 {
			r.results[n], r.now[n] = carried, carried[0]
			return nil
		}
		if carried, err = region(o.Regions[1]); err != nil {
			return err
		}
	}
}

// compute is what an operation gives that depends on its operands only.
func compute(o *hlo.Operation, args []value) (value, bool) {
	if v, ok := elementwise(o, args); ok {
		return v, true
	}
	if v, ok := moved(o, args); ok {
		return v, true
	}
	switch o.Kind {
	case hlo.KindDot:
		return dot(o, args[0], args[1]), true
	case hlo.KindConvolution:
		return convolution(o, args[0], args[1]), true
	case hlo.KindReduce:
		return reduce(o, args[0], args[1]), true
	case hlo.KindReduceWindow:
		return reduceWindow(o, args[0], args[1]), true
	case hlo.KindGather:
		return gather(o, args[0], args[1]), true
	case hlo.KindScatter:
		return scatter(o, args[0], args[1], args[2]), true
	case hlo.KindIota:
		v := blank(o.Type)
		steps := make([]int, o.Type.Rank())
		steps[o.Attrs.Axes[0]] = 1
		runs(o.Type.Dims, steps, 0, func(at, from, n, step int) {
			for i := range n {
				if v.x[at+i] = uint64(from + i*step); o.Type.DType.IsFloat() {
					v.x[at+i] = math.Float64bits(float64(from + i*step))
				}
			}
		})
		return v, true
	}
	return value{}, false
}
