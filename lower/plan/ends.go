// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
)

// CheckEnds finds inputs and outputs of the plan that the model does not have. Error L0403.
func (p *Plan) CheckEnds(g *ir.Graph) error {
	var errs diag.List
	var ins, outs []string
	for _, n := range g.In {
		ins = append(ins, n.Name)
	}
	for _, o := range g.Out {
		outs = append(outs, o.Name)
	}
	check := func(kind, name, from string, known []string) {
		for _, k := range known {
			if k == name {
				return
			}
		}
		e := diag.New(diag.UnknownEndpoint, g.Name, "the model has no %s %q", kind, name).WithNote("set by %s", from)
		errs = append(errs, Nearest(e, name, known))
	}
	for _, in := range p.Inputs {
		check("input", in.Name, in.From, ins)
	}
	for _, out := range p.Outputs {
		check("output", out.Name, out.From, outs)
	}
	return errs.Err()
}

// Nearest adds the closest of the known names as a hint, or all of them.
func Nearest(e *diag.Error, name string, known []string) *diag.Error {
	if near := diag.Nearest(name, known); near != "" {
		return e.WithHint("did you mean %q?", near)
	}
	return e.WithHint("it has %s", strings.Trim(fmt.Sprintf("%q", known), "[]"))
}

// MaxExponent bounds the powers of two by which channels of inputs are multiplied, so that float32 holds them.
const MaxExponent = 60

// Input is what the plan says of one graph input.
type Input struct {
	Name   string
	Format *Choice
	// Range bounds the values of the input; nil: not declared.
	Range *[2]float64
	// Shape binds the dimensions that the model leaves open; nil: not given.
	Shape []int
	// Exponents are those of ir.Input; nil: not given.
	Exponents []int
	// Saturate takes NaN in samples as 0, and infinities as the greatest or least value.
	Saturate bool
	From     string
}

// Output is what the plan says of one graph output.
type Output struct {
	Name   string
	Format *Choice
	From   string
}

// Shapes lists the input shapes that the plan declares, by input name, for the frontend.
func (p *Plan) Shapes() map[string][]int {
	shapes := make(map[string][]int)
	for _, in := range p.Inputs {
		if in.Shape != nil {
			shapes[in.Name] = in.Shape
		}
	}
	return shapes
}

// Input returns what the plan says of an input, or nil.
func (p *Plan) Input(name string) *Input {
	for i := range p.Inputs {
		if p.Inputs[i].Name == name {
			return &p.Inputs[i]
		}
	}
	return nil
}

// Output returns what the plan says of an output, or nil.
func (p *Plan) Output(name string) *Output {
	for i := range p.Outputs {
		if p.Outputs[i].Name == name {
			return &p.Outputs[i]
		}
	}
	return nil
}

// ends reads what the plan says of graph inputs and outputs.
func (p *parser) ends(f *file, plan *Plan) {
	for i := range f.Input {
		in := &f.Input[i]
		path := fmt.Sprintf("input[%d]", i)
		name := p.endName(path, in.Name)
		if plan.Input(name) != nil {
			p.fail(path, "input %q is described twice", name)
		}
		from := p.at.Pos(path) + fmt.Sprintf(" [[input]] name = %q", name)
		entry := Input{Name: name, From: from, Shape: in.Shape, Exponents: in.Exponents}
		entry.Format = p.choice(path+".format", in.Format, fmt.Sprintf("[[input]] name = %q", name))
		if slices.ContainsFunc(in.Shape, func(d int) bool { return d < 1 }) {
			p.fail(path+".shape", "shape %v has a dimension that is not positive", in.Shape)
		}
		if slices.ContainsFunc(in.Exponents, func(e int) bool { return e < -MaxExponent || e > MaxExponent }) {
			p.fail(path+".exponents", "exponents %v lie beyond -%d to %[2]d", in.Exponents, MaxExponent)
		}
		if in.Range != nil {
			entry.Range = p.bounds(path+".range", in.Range)
		}
		entry.Saturate = p.word(path+".nonfinite", in.Nonfinite, []string{"error", "saturate"}) == 1
		plan.Inputs = append(plan.Inputs, entry)
	}
	for i := range f.Output {
		out := &f.Output[i]
		path := fmt.Sprintf("output[%d]", i)
		name := p.endName(path, out.Name)
		if plan.Output(name) != nil {
			p.fail(path, "output %q is described twice", name)
		}
		what := fmt.Sprintf("[[output]] name = %q", name)
		plan.Outputs = append(plan.Outputs, Output{Name: name, From: p.at.Pos(path) + " " + what,
			Format: p.choice(path+".format", out.Format, what)})
	}
}

func (p *parser) endName(path string, name *string) string {
	if name == nil {
		p.fail(path, "the name is missing")
		return ""
	}
	return *name
}

func (p *parser) bounds(path string, r []float64) *[2]float64 {
	finite := !slices.ContainsFunc(r, func(v float64) bool { return math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 })
	if len(r) != 2 || !finite || !(r[0] < r[1]) {
		p.fail(path, "range = %v is not [low, high] with low < high", r)
		return nil
	}
	return &[2]float64{r[0], r[1]}
}

// RangeOf is the declared range of an input, or [-1, 1].
func (p *Plan) RangeOf(n *ir.Node) (lo, hi float64, declared bool) {
	if in := p.Input(n.Name); in != nil && in.Range != nil {
		return in.Range[0], in.Range[1], true
	}
	return -1, 1, false
}
