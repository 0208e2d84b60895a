// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"fmt"
	"reflect"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/format"
)

// Check verifies every rule that holds between passes and reports all that are broken: unique names, arguments before
// users, attribute types, arity, inferred shapes, constant sizes, and what the graph's stage demands.
func (g *Graph) Check() error {
	var errs diag.List
	seen := make(map[*Node]bool, len(g.Nodes))
	names := make(map[string]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		e := g.checkLinks(n, seen, names)
		if e == nil {
			e = checkNode(n) // which looks at the arguments
		}
		if e != nil {
			errs = append(errs, e)
		}
		seen[n], names[n.Name] = true, true
	}
	if err := errs.Err(); err != nil {
		return err // formats and outputs mean something in sound nodes only
	}
	for _, n := range g.Nodes {
		if e := checkStage(n, g.Stage); e != nil {
			errs = append(errs, e)
		}
	}
	if g.Stage >= StageScheduled {
		if err := g.CheckReaders(); err != nil {
			errs = errs.Add(err, diag.StreamReaders, g.Name)
		}
	}
	for _, n := range g.In {
		if !seen[n] || !n.IsInput() {
			errs = append(errs, n.Errorf(diag.UnknownNode, "input %q is not an input node of the graph", n.Name))
		}
	}
	for _, n := range g.In {
		if a, ok := n.Attrs.(*Input); ok && !permutes(a.Perm, len(n.Type.Shape)) {
			errs = append(errs, n.Errorf(diag.ArgumentShapes, "perm %v is not a permutation of the %d axes of %s", a.Perm,
				len(n.Type.Shape), ShapeString(n.Type.Shape)))
		} else if rank := len(n.Type.Shape); ok && a.Exponents != nil &&
			(rank == 0 || len(a.Exponents) != n.Type.Shape[rank-1]) {
			errs = append(errs, n.Errorf(diag.ArgumentShapes, "%d exponents for the channels of %s", len(a.Exponents),
				ShapeString(n.Type.Shape)))
		}
	}
	for _, o := range g.Out {
		if o.Node != nil && !permutes(o.Perm, len(o.Node.Type.Shape)) {
			errs = append(errs, o.Node.Errorf(diag.ArgumentShapes,
				"perm %v of output %q is not a permutation of the %d axes of %s",
				o.Perm, o.Name, len(o.Node.Type.Shape), ShapeString(o.Node.Type.Shape)))
		}
		if o.Node == nil || !seen[o.Node] {
			errs = append(errs, diag.New(diag.UnknownNode, g.Name, "output %q is computed by no node", o.Name))
		}
	}
	return errs.Err()
}

// CheckReaders demands one reader of each stream, of forks as many readers as branches (L0430), and that both ends of a
// stream have the same lanes (L0431).
func (g *Graph) CheckReaders() error {
	var errs diag.List
	readers := g.Readers()
	for _, n := range g.Nodes {
		branches := 1
		if n.Op.Traits.Forks {
			branches = max(n.HW.Branches, 1)
		}
		switch count := readers[n]; {
		case n.IsConst() || count == branches || count == 0 && branches == 1:
		case branches == 1:
			errs = append(errs, n.Errorf(diag.StreamReaders, "%q has %d readers and is not a fork", n.Name, count).
				WithHint("put a fork node after it, which its readers read"))
		default:
			errs = append(errs, n.Errorf(diag.StreamReaders, "fork %q has %d branches and %d readers", n.Name, branches, count).
				WithHint("set branches = %d", count))
		}
		for i, a := range n.Args {
			if have, want := a.HW.OutLanes, n.Takes(i); !a.IsConst() && have != want {
				errs = append(errs, n.Errorf(diag.StreamLanes, "%q gives beats of %d lanes, %q takes %d", a.Name, have, n.Name,
					want).
					WithHint("put a widen or narrow node between them"))
			}
			if have, want := a.HW.RowOut, n.TakesRow(i); !a.IsConst() && have != want {
				errs = append(errs, n.Errorf(diag.StreamLanes, "%q gives rows padded to %d elements, %q takes %d (0: not padded)",
					a.Name,
					have, n.Name, want).WithHint("give both the same row_out and row_in"))
			}
		}
	}
	return errs.Err()
}

// permutes says that perm is nil or a permutation of 0..rank-1.
func permutes(perm []int, rank int) bool {
	if perm == nil {
		return true
	}
	sorted := slices.Sorted(slices.Values(perm))
	for i, p := range sorted {
		if p != i {
			return false
		}
	}
	return len(sorted) == rank
}

func (g *Graph) checkLinks(n *Node, seen map[*Node]bool, names map[string]bool) *diag.Error {
	if n.Name == "" || names[n.Name] {
		return n.Errorf(diag.NodeName, "the name %q is empty or used twice", n.Name)
	}
	for _, a := range n.Args {
		if a == nil {
			return n.Errorf(diag.UnknownNode, "an argument is missing")
		}
		if !seen[a] {
			return n.Errorf(diag.NodeOrder, "reads %q, which is defined later or not at all", a.Name)
		}
	}
	if len(n.Args) < n.Op.Arity[0] || len(n.Args) > n.Op.Arity[1] {
		return n.Errorf(diag.ArgumentCount, "%s takes %s, not %d", n.Op.Name, n.Op.takes(), len(n.Args))
	}
	return nil
}

// takes is the number of arguments in words.
func (o *Op) takes() string {
	if o.Arity[0] == o.Arity[1] {
		return fmt.Sprintf("%d arguments", o.Arity[0])
	}
	return fmt.Sprintf("%d to %d arguments", o.Arity[0], o.Arity[1])
}

func checkNode(n *Node) *diag.Error {
	if n.Op.Attrs == nil && n.Attrs != nil ||
		n.Op.Attrs != nil && (n.Attrs == nil || reflect.TypeOf(n.Attrs).Elem() != reflect.TypeOf(n.Op.Attrs)) {
		return n.Errorf(diag.WrongAttributes, "attributes are a %T, %s needs a pointer to %T", n.Attrs, n.Op.Name, n.Op.Attrs)
	}
	if n.Type.Format == nil {
		return n.Errorf(diag.ValueFormat, "the number format is not set")
	}
	if err := CheckShape(n.Type.Shape); err != nil {
		return n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if n.Type.Elems() == 0 {
		return n.Errorf(diag.ArgumentShapes, "has shape %s and so no elements", ShapeString(n.Type.Shape))
	}
	if n.Type.Elems() > MaxValue && !n.IsConst() {
		return n.Errorf(diag.ValueTooLarge, "has shape %s, more than the 2^28 elements that a computed value may have",
			ShapeString(n.Type.Shape)).WithHint(
			"give the model smaller inputs: --shape, of a Hugging Face folder --seq or --max-seq")
	}
	if c, ok := n.Attrs.(*Const); ok && c.Data.Len() != n.Type.Elems() {
		return n.Errorf(diag.ConstantData, "constant has %d elements, its shape %s needs %d", c.Data.Len(),
			ShapeString(n.Type.Shape), n.Type.Elems())
	}
	if c, ok := n.Attrs.(*Const); ok {
		if _, half := n.Type.Half(); half && c.Data.DType != StoredAs(n.Type.Format) {
			return n.Errorf(diag.ConstantData, "constant in %s is stored as %s", n.Type.Format, c.Data.DType)
		}
	}
	shape, err := n.Op.Infer(n)
	if err != nil {
		return n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if !slices.Equal(shape, n.Type.Shape) {
		return n.Errorf(diag.ArgumentShapes, "has shape %s, its arguments give %s", ShapeString(n.Type.Shape),
			ShapeString(shape))
	}
	if axis, ok := format.ScaleAxis(n.Type.Format); ok && (axis >= len(shape) || len(n.Type.Scales) != shape[axis]) {
		return n.Errorf(diag.ValueFormat, "%d scales for axis %d of %s", len(n.Type.Scales), axis, ShapeString(shape))
	}
	return checkBlocks(n)
}

func checkStage(n *Node, s Stage) *diag.Error {
	if s >= StageQuantized && n.Type.IsFloat() {
		return n.Errorf(diag.StillFloat, "is still float in a quantized graph")
	}
	if s == StageFloat {
		if err := checkFloats(n); err != nil {
			return err
		}
		f, err := n.FloatFormat()
		if err != nil {
			return n.Errorf(diag.WholeNumbersOp, "%v", err)
		}
		if f != n.Type.Format && !(format.IsFloat(f) && n.Type.IsFloat()) {
			return n.Errorf(diag.WholeNumbersOp, "has the format %s, its arguments give %s", n.Type.Format, f)
		}
	}
	if s >= StageQuantized && n.Op.Legal != nil {
		if err := n.Op.Legal(n); err != nil {
			return n.Errorf(diag.OpFormats, "%v", err)
		}
	}
	if s >= StageScheduled && !n.IsConst() && (n.HW.InLanes < 1 || n.HW.OutLanes < 1) {
		return n.Errorf(diag.NoLanes, "lanes are not decided")
	}
	return nil
}

// checkFloats demands floats and whole numbers, but of inputs and of operations on floats alone that take blocks.
func checkFloats(n *Node) *diag.Error {
	blocks := n.TakesBlocks()
	for _, a := range n.Args {
		if a.Type.InBlocks() && !blocks {
			return n.Errorf(diag.FloatValueType, "reads %s, which is %s, in a float graph", a.Name, a.Type.Format)
		}
	}
	if n.Type.IsFloat() || IsWhole(n.Type.Format) || n.Type.InBlocks() && (blocks || n.IsInput()) {
		return nil
	}
	return n.Errorf(diag.FloatValueType, "has the format %s in a float graph", n.Type.Format)
}

// TakesBlocks says that n computes in floats, on blocks.
func (n *Node) TakesBlocks() bool {
	t := &n.Op.Traits
	return t.FloatOnly && t.Blocks != nil && t.Blocks(n)
}
