// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"fmt"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/block"
	"lathe/ir/op/column"
	"lathe/lower/plan"
)

// dataFormats and weightFormats name formats that work.
var (
	dataFormats   = working("fixed(8)", "ufixed(8)", "int(8)")
	weightFormats = working("fixed(8)", "int(8)", "int(8)*[0]")
)

// working is a hint: the given texts, for which calibration finds the rest, and the example of every family without a
// problem.
func working(texts ...string) string {
	for _, f := range format.All() {
		if p, err := format.Parse(f.Example); err == nil && dataProblem(p) == "" {
			texts = append(texts, f.Example)
		}
	}
	return "formats that work: " + strings.Join(texts, ", ") + ", of other widths too"
}

// maxSteps is the most bits of a value, in the smallest steps of its format.
const maxSteps = 63

// dataProblem says why a format cannot be that of a stream; empty if it can.
func dataProblem(f format.Format) string {
	if format.IsFloat(f) {
		return "values would stay float, which hardware cannot do; not in this version"
	}
	if b, isBlock := f.(format.Block); isBlock {
		if b.BlockRows() > 1 {
			return "tiles are for weights"
		}
		return block.BlockProblem(b)
	}
	if format.ScalesBeside(f) {
		return "scales per channel are for weights"
	}
	switch _, bits, ok := f.Lattice(); {
	case !ok && bits == 0:
		return "it has no step that all its values are multiples of"
	case !ok:
		return fmt.Sprintf("its values take %d bits, counted in its smallest step; at most %d are possible", bits, maxSteps)
	}
	return ""
}

// streamProblem says why a stream cannot be of type t; empty if it can.
func streamProblem(t ir.Type) string {
	if b, isBlock := t.Format.(format.Block); isBlock {
		switch last := len(t.Shape) - 1; {
		case last < 0:
			return column.ErrScalar.Error()
		case b.Axis() >= 0 && b.Axis() != last:
			return fmt.Sprintf("blocks of data lie along the last axis, %d", last)
		}
	}
	return dataProblem(t.Format)
}

// constantProblem says why constants of n cannot have a format. Codes that are decoded when the graph is quantized may
// take a step of their own values, where that of all codes is too fine: exactCodes.
func constantProblem(n *ir.Node, f format.Format) string {
	if format.Coded(f) && !format.ScalesBeside(f) && (n == nil || !column.TakesCodes(n)) {
		return ""
	}
	return dataProblem(f)
}

// refusal is a cause of L0406: a format, what it is for, and who asks for it.
type refusal struct{ format, use, from string }

// refused is the error for the first node of a cause, and the number of the others.
type refused struct {
	err  *diag.Error
	more int
}

// refuseFormat reports that format f cannot be that of use ("data", "weight"), once for all nodes.
func (q *quantizer) refuseFormat(n *ir.Node, f fmt.Stringer, use, why, from, hint string) {
	cause := refusal{f.String(), use, from}
	if r := q.refused[cause]; r != nil {
		r.more++
		q.faults++
		return
	}
	msg := "format %s cannot be that of a %s: %s"
	if use == "data" {
		msg = "format %s cannot carry %s: %s"
	}
	e := q.fail(n, diag.PlanFormat, msg, f, use, why).WithNote("set by %s", from)
	e.Hint = hint
	q.refused[cause] = &refused{err: e}
}

// countRefused says in each error of refuseFormat how many nodes it stands for.
func (q *quantizer) countRefused() {
	for _, r := range q.refused {
		switch {
		case r.more == 1:
			r.err.Notes = append(r.err.Notes, "the same holds for one more node")
		case r.more > 1:
			r.err.Notes = append(r.err.Notes, fmt.Sprintf("the same holds for %d more nodes", r.more))
		}
	}
}

// legal asks the operation whether it takes the formats that were chosen.
func (q *quantizer) legal(n *ir.Node, explicit *plan.Choice) {
	if n.Op.Legal == nil {
		return
	}
	err := n.Op.Legal(n)
	if err == nil {
		return
	}
	e := q.fail(n, diag.OpRefusesFormats, "%s", diag.Message(err))
	for _, s := range q.decided.Slots {
		if s.Node == n.Name {
			e = e.WithNote("%s%s %s by %s", s.Slot, read(n, s.Slot), s.Format, s.From)
		}
	}
	e.Hint = fmt.Sprintf("give it other formats: [[quantize.rule]] name = %q", n.Name)
	if q.given[n] != nil {
		e.Hint = "bring the steps of the channels closer together"
	} else if explicit != nil {
		e.Hint = "leave data_out of this node to Lathe"
	}
}

// read names the value that slot data_in of n is about, where there is one alone, and not a cast of it.
func read(n *ir.Node, slot string) string {
	from := n.Streams()
	if slot != "data_in" || len(from) != 1 {
		return ""
	}
	a := from[0]
	for a.Op.Traits.Casts {
		a = a.Args[0]
	}
	return fmt.Sprintf(" (%q)", a.Name)
}
