// SPDX-License-Identifier: Apache-2.0

// Package formats chooses the number format of every value of a graph by the rules of a plan and the values that nodes
// take, encodes constants, and puts casts where a format changes. The result is the graph and the decisions, as data.
package formats

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/own"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// Slot is one decided format: slot is data_in, weight, bias, data_out, gate or cell; or, as slot factor, what a real
// ratio of scales became, with the answer whether that ever matters.
type Slot struct {
	Node   string `json:"node"`
	Op     string `json:"op"`
	Slot   string `json:"slot"`
	Format string `json:"format"`
	From   string `json:"from"` // the rule, or calibration
}

// Decisions are what the choice of formats decided, beside the graph.
type Decisions struct {
	// Slots says which rule decided each format, in graph order.
	Slots []Slot
	// Chosen are the slots whose fraction bits calibration chose and a rule for the node can give; Loose counts what
	// calibration decided beyond that.
	Chosen []Slot
	Loose  int

	// wanting are bounds of what matters of nodes of the float graph, by name: see quantizer.
	Wanting map[string]calib.Range
	// rounded are the names of nodes whose channels nodes of other names round.
	Rounded map[string]string
	// grids are what weights are encoded in, which may be part of what they are kept in.
	Grids map[*ir.Node]format.Format
}

// From is what formats are chosen from: the plan, the values of nodes, what is possible of those where samples
// showed them, whether values are those of samples, and whether powers of two have moved between layers.
type From struct {
	Plan           *plan.Plan
	Values, Bounds map[*ir.Node]*calib.Values
	Sampled, Moved bool
}

// Choose gives every node a format: rules first, then defaults; constants become codes, and casts stand where a
// format changes. Errors: L0406 for formats that no operation takes, L0407 where an operation does not take them, L0408
// for constants that have no code, L0409 for nodes that the plan wants to keep float.
func Choose(g *ir.Graph, from *From, report *pass.Report) (*Decisions, error) {
	loose := 0
	if from.Moved && from.Sampled {
		loose++ // no rule of a plan can state what has moved
	}
	if from.Plan.Quantize.Data.Given {
		if slices.ContainsFunc(g.Nodes, own.Quantizes) {
			loose++ // the values of inputs decide which clips stay
		}
		seen := func(n *ir.Node) (lo, hi float64) { return from.Values[n].Min, from.Values[n].Max }
		if err := own.Clips(g, seen); err != nil {
			return nil, err
		}
	}
	q := &quantizer{g: g, plan: from.Plan, report: report, decided: &Decisions{}, values: from.Values,
		given: make(map[*ir.Node]*given), widened: make(map[*ir.Node]bool),
		behind: make(map[*ir.Node]bool), wanted: make(map[*ir.Node]*plan.Choice),
		open:   make(map[*ir.Node]format.Block),
		loose:  loose,
		grids:  make(map[*ir.Node]format.Format),
		ruled:  make(map[*ir.Node]bool),
		bounds: from.Bounds, sampled: from.Sampled, cut: make(map[*ir.Node]bool),
		wanting: make(map[string]calib.Range), refused: make(map[refusal]*refused),
	}
	model, err := own.Of(g)
	if err != nil {
		return nil, err
	}
	q.giveChannels(g)
	q.users, q.always = g.Users(), calib.Always(g)
	if q.own, err = own.Of(g); err != nil {
		return nil, err
	}
	q.own.Quantized = model.Quantized
	q.tie()
	q.checkRules()
	q.wantOutputs()
	q.wantJoined()
	q.wantPorts()
	for _, n := range slices.Clone(g.Nodes) {
		if !n.IsConst() {
			q.node(n)
		}
	}
	q.castOutputs()
	q.noteCut()
	q.noteWidened()
	q.countRefused()
	if err := q.errs.Err(); err != nil {
		return nil, err
	}
	g.DropDead()
	g.Stage = ir.StageQuantized
	d := q.decided
	d.Loose, d.Wanting, d.Grids, d.Rounded = q.loose, q.wanting, q.grids, make(map[string]string)
	for n, c := range q.given {
		d.Rounded[n.Name] = c.of.Name
	}
	return d, nil
}
