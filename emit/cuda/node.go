// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"strings"

	"lathe/emit/cuda/generic"
	"lathe/emit/cuda/kernel"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op"
)

func signed(t ir.Type) bool { return format.SignedCodes(t.Format) }

// scaleStore is the type of the scales of blocks.
func scaleStore(t ir.Type) (kernel.Type, bool) {
	b, ok := t.Format.(format.Block)
	if !ok {
		return "", false
	}
	return word(b.ScaleWidth(), false), true
}

// compiled is a node as kernels: values are its arguments that are no constants, each with the scales of blocks behind
// it, and its results.
type compiled struct {
	node    *ir.Node
	program *generic.Program
	kernels *generic.Node
	// alias is the input whose bytes are those of the result, -1 where there is none; for each result.
	alias []int
}

// record writes what node n computes, for one sample.
func record(n *ir.Node) (*generic.Program, error) {
	if n.Op.HLO == nil {
		return nil, n.Errorf("L0310", "%s has no StableHLO form in this version", n.Op.Name)
	}
	b := hlo.New(n.Name)
	b.Lead = 1
	p := &generic.Program{}
	args := make([]hlo.Value, len(n.Args))
	for i, a := range n.Args {
		if a.IsConst() {
			continue
		}
		args[i] = b.Arg(a.Name, op.Carry(a.Type, 1))
		p.Inputs = append(p.Inputs, generic.Buffer{Store: storeOf(a.Type), Doc: describe(a)})
		if s, ok := scaleStore(a.Type); ok {
			args[i] = args[i].WithScale(b.Arg(a.Name+" scales", op.ScaleCarry(a.Type, 1)))
			p.Inputs = append(p.Inputs, generic.Buffer{Store: s, Doc: "scales of " + a.Name})
		}
	}
	b.At(n.Name)
	v, err := n.Op.HLO(b, n, args)
	if err != nil {
		return nil, err
	}
	p.Results = append(p.Results, generic.Result{Op: v.Number(),
		Buffer: generic.Buffer{Store: storeOf(n.Type), Doc: describe(n)}})
	if s, ok := scaleStore(n.Type); ok {
		p.Results = append(p.Results, generic.Result{Op: v.Scale().Number(),
			Buffer: generic.Buffer{Store: s, Doc: "scales of " + n.Name}})
	}
	p.Ops, p.Weights = b.Operations(), b.Weights()
	return p, b.Err()
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

// compile makes the kernels of a node. Where a result is an argument as it is, there is none.
func compile(n *ir.Node, name string) (*compiled, error) {
	p, err := record(n)
	if err != nil {
		return nil, asDiag(n, err)
	}
	c := &compiled{node: n, program: p}
	own := *p
	own.Results = nil
	for _, r := range p.Results {
		a := alias(p, r)
		c.alias = append(c.alias, a)
		if a < 0 {
			own.Results = append(own.Results, r)
		}
	}
	doc := []string{fmt.Sprintf("%s = %s", describe(n), n.Op.Name)}
	if n.Pos != "" {
		doc = append(doc, printable(n.Pos))
	}
	c.kernels, err = generic.Compile(name, doc, &own)
	var unknown *generic.UnknownError
	if errors.As(err, &unknown) {
		return nil, n.Errorf("L0945", "%s (%s) has no kernels in this version: it is made of %s", n.Name, n.Op.Name,
			strings.Join(unknown.Kinds, ", ")).WithHint("the engines ref and pjrt run it")
	}
	return c, err
}

// alias is the input that a result is, element by element, or -1.
func alias(p *generic.Program, r generic.Result) int {
	o := p.Ops[r.Op]
	for o.Kind == "reshape" {
		o = p.Ops[o.Operands[0]]
	}
	if o.Kind == hlo.KindInput && p.Inputs[o.Attrs.Index].Store == r.Store {
		return o.Attrs.Index
	}
	return -1
}

func asDiag(n *ir.Node, err error) *diag.Error {
	if d, ok := err.(*diag.Error); ok {
		return d
	}
	return n.Errorf("L0310", "%v", err)
}
