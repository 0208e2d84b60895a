// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/cuda/word"
	"lathe/emit/cuda/generic"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
)

// scaleStore is the type of the scales of blocks.
func scaleStore(t ir.Type) (word.Type, bool) {
	b, ok := t.Format.(format.Block)
	if !ok {
		return "", false
	}
	return word.For(b.ScaleWidth(), false), true
}

// compiled is a group as kernels: values are its inputs, each with the scales of blocks behind it, and its outputs
// likewise.
type compiled struct {
	program *generic.Program
	kernels *generic.Group
	// alias is the input whose bytes are those of the result, -1 where there is none; for each result.
	alias []int
}

// record writes what a group computes, for one sample.
func record(g *ir.Group) (*generic.Program, error) {
	b := hlo.New(g.Anchor.Name)
	b.Straight = true
	p := &generic.Program{}
	values := make(map[*ir.Node]hlo.Value, len(g.Inputs)+len(g.Members))
	for _, a := range g.Inputs {
		v := b.Arg(a.Name, carrier.Type(a.Type, 1))
		p.Inputs = append(p.Inputs, generic.Buffer{Store: storeOf(a.Type), Doc: describe(a)})
		if s, ok := scaleStore(a.Type); ok {
			v = v.WithScale(b.Arg(a.Name+" scales", carrier.ScaleType(a.Type, 1)))
			p.Inputs = append(p.Inputs, generic.Buffer{Store: s, Doc: "scales of " + a.Name})
		}
		values[a] = v
	}
	for _, n := range g.Members {
		args := make([]hlo.Value, len(n.Args)) // of constants none
		for i, a := range n.Args {
			args[i] = values[a]
		}
		b.At(n.Name)
		print := carrier.Print
		if !slices.ContainsFunc(g.Members, func(m *ir.Node) bool { return slices.Contains(m.Args, n) }) {
			print = carrier.Unrounded // the store rounds
		}
		v, err := print(b, n, args)
		if err != nil {
			return nil, n.Diag(diag.ReferenceOnly, err)
		}
		values[n] = v
	}
	var results []hlo.Value
	for _, n := range g.Outputs {
		results = append(results, values[n])
		p.Results = append(p.Results, generic.Result{Buffer: generic.Buffer{Store: storeOf(n.Type), Doc: describe(n)}})
		if s, ok := scaleStore(n.Type); ok {
			results = append(results, values[n].Scale())
			p.Results = append(p.Results, generic.Result{Buffer: generic.Buffer{Store: s, Doc: "scales of " + n.Name}})
		}
	}
	b.Return(results...)
	if err := b.Err(); err != nil {
		return nil, err
	}
	all := b.Program().Expand()
	for i, n := range all.Results {
		p.Results[i].Op = n
	}
	p.Ops, p.Weights = all.Ops, all.Data()
	return p, nil
}

// describe is a value in a comment: "conv1 1x8x8 fixed(8,4)".
func describe(n *ir.Node) string {
	t := n.Type
	t.Scales = nil // may be thousands
	return printable(n.Name + " " + t.String())
}

// printable keeps a comment on its line, in the characters that every compiler reads.
func printable(s string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s), "\\") // which would continue the comment
}

// compile makes the kernels of a group. Where all results are inputs as they are, there is none.
func compile(g *ir.Group, name string) (*compiled, error) {
	p, err := record(g)
	if err != nil {
		return nil, g.Anchor.Diag(diag.ReferenceOnly, err)
	}
	c := &compiled{program: p}
	own := *p
	own.Results = nil
	for _, r := range p.Results {
		a := alias(p, r)
		c.alias = append(c.alias, a)
		if a < 0 {
			own.Results = append(own.Results, r)
		}
	}
	var doc []string
	for _, n := range g.Members {
		doc = append(doc, fmt.Sprintf("%s = %s", describe(n), n.Op.Name))
		if n.Pos != "" {
			doc = append(doc, printable(n.Pos))
		}
	}
	c.kernels, err = generic.Compile(name, doc, &own)
	var unknown *generic.UnknownError
	if errors.As(err, &unknown) {
		return nil, g.Anchor.Errorf(diag.NoKernels, "%s (%s) has no kernels in this version: it is made of %s", g.Anchor.Name,
			opsOf(g), strings.Join(unknown.Kinds, ", ")).WithHint("the engines ref and pjrt run it")
	}
	return c, err
}

// opsOf names the operations of a group: "linear", "add + relu".
func opsOf(g *ir.Group) string {
	names := make([]string, len(g.Members))
	for i, n := range g.Members {
		names[i] = n.Op.Name
	}
	return strings.Join(names, " + ")
}

// alias is the input that a result is, element by element, or -1.
func alias(p *generic.Program, r generic.Result) int {
	o := p.Ops[r.Op]
	for o.Kind == hlo.KindReshape {
		o = p.Ops[o.Operands[0]]
	}
	if o.Kind == hlo.KindInput && p.Inputs[o.Attrs.Index].Store == r.Store {
		return o.Attrs.Index
	}
	return -1
}
