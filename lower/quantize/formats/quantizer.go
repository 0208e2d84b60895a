// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/custom"
	"lathe/ir/op/dot"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/lower/float"
	"lathe/lower/own"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// quantizer decides the formats of one graph.
type quantizer struct {
	g      *ir.Graph
	plan   *plan.Plan
	report *pass.Report
	// decided is what stands in the report in the end.
	decided *Decisions
	values  map[*ir.Node]*calib.Values
	users   map[*ir.Node][]*ir.Node
	// always bounds values whatever the inputs are.
	always map[*ir.Node]calib.Range
	// wanting are the bounds of what readers want of nodes that cut off the rest for them, by name.
	wanting map[string]calib.Range
	// behind says that a node was judged by the values behind the relu or clip that reads it.
	behind map[*ir.Node]bool
	// wanted is the format that [[output]] asks of the node that computes the output.
	wanted map[*ir.Node]*plan.Choice
	// open lists values that the plan wants in blocks and that nobody reads as such: they stay fixed.
	open map[*ir.Node]format.Block
	// own is the model's own quantization, and ruled says that the plan decided a value in spite of it.
	own   *own.Model
	ruled map[*ir.Node]bool
	// bounds are the values that are possible where those of values were seen in samples (sampled), and cut lists values
	// that the model leaves open and that are rounded.
	bounds  map[*ir.Node]*calib.Values
	sampled bool
	cut     map[*ir.Node]bool
	// widened lists values that got more bits than the default for what they hold.
	widened map[*ir.Node]bool
	// given are the nodes of channels that rules of the plan ask for.
	given map[*ir.Node]*given
	// ties are the layers that will share units.
	ties ties
	// grids are what constant weights are encoded in, which may be part of the codes that they are kept in.
	grids map[*ir.Node]format.Format
	// loose counts formats that calibration completed and no rule of a plan can stand for.
	loose int
	errs  diag.List
	// faults counts what is wrong; refused holds the errors L0406, each of which stands for all nodes of one cause.
	faults  int
	refused map[refusal]*refused
}

// checkRules warns of rules that match no node, and refuses rules that keep nodes float.
func (q *quantizer) checkRules() {
	hit := make(map[*plan.Rule]bool)
	for _, n := range q.g.Nodes {
		var skip *plan.Rule // the rule that decides
		for _, r := range q.plan.Quantize.Rules {
			if n.IsConst() || !q.covers(r, n) {
				continue
			}
			hit[r] = true
			if skip == nil && r.Skip != nil {
				skip = r
			}
		}
		if skip != nil && *skip.Skip {
			q.fail(n, diag.FloatNode, "stays float, which hardware cannot do; not in this version").WithNote("set by %s",
				skip.From).
				WithHint("take skip = true out of the plan, or stay in float: run and emit-cuda do, without --plan")
		}
	}
	for _, r := range q.plan.Quantize.Rules {
		if !hit[r] {
			q.report.Warn("%s", r.Unmatched(q.g))
		}
	}
}

func (q *quantizer) fail(n *ir.Node, code diag.Code, msg string, args ...any) *diag.Error {
	e := n.Errorf(code, msg, args...)
	q.errs = append(q.errs, e)
	q.faults++
	return e
}

// slot names a format that rules decide.
type slot func(*plan.Rule) *plan.Choice

func dataIn(r *plan.Rule) *plan.Choice { return r.DataIn }

func weight(r *plan.Rule) *plan.Choice { return r.Weight }

func bias(r *plan.Rule) *plan.Choice { return r.Bias }

func dataOut(r *plan.Rule) *plan.Choice { return r.DataOut }

// rule returns the choice of the first rule that matches n and sets the slot, or nil.
func (q *quantizer) rule(n *ir.Node, s slot) *plan.Choice {
	for _, r := range q.plan.Quantize.Rules {
		if c := s(r); c != nil && q.covers(r, n) {
			return c
		}
	}
	return nil
}

// computes finds the node behind operations that keep formats which computes n for so many readers and nobody else; nil
// if others read it.
func (q *quantizer) computes(n *ir.Node, readers int) *ir.Node {
	if len(q.users[n]) > readers {
		return nil
	}
	for n.Op.Traits.KeepsCodes && q.rule(n, dataOut) == nil {
		a := n.Args[0]
		if len(q.users[a]) > 1 || q.g.IsOutput(a) {
			return nil
		}
		n = a
	}
	return n
}

// node decides the formats of one node; its arguments are decided already.
func (q *quantizer) node(n *ir.Node) {
	mistakes := q.faults
	if c := q.rule(n, dataIn); c != nil {
		q.argumentsAs(n, *c)
	}
	if own.Encodes(n) && !q.quant(n) {
		return
	}
	q.intoPorts(n)
	was := q.decode(n)
	q.narrowed(n)
	explicit := q.rule(n, dataOut)
	_, port, ported := custom.Ports(n)
	if c, ok := q.tied(n); ok && explicit == nil && n == q.ties.entry {
		explicit = &c
	}
	switch {
	case n.IsInput():
		c := q.settled(n, q.inputChoice(n, explicit))
		q.result(n, c)
		q.pin(n, "data_out", c)
		return
	case n.Op.Traits.KeepsCodes:
		q.kept(n, explicit, was)
	case n.Op.Traits.Positions != nil && explicit == nil:
		n.Type.Format = format.Fixed{W: float.PositionBits(n.Op.Traits.Positions(n))}
		q.explain(n, "data_out", n.Type, "the range of the index")
	case ported:
		n.Type.Format, n.Type.Scales = port, nil
		q.explain(n, "data_out", n.Type, "the ports of "+n.Name)
		if explicit != nil {
			q.castBehind(n, *explicit)
		}
	case own.Channels(n):
		q.channels(n, explicit)
	case n.Op.Traits.Joins:
		q.joined(n, explicit)
	default:
		if !sequence.ReadsTable(n.Op) {
			q.constants(n)
		}
		c := q.settled(n, q.noteTwice(n, q.resultChoice(n, explicit)))
		if !q.cellRows(n, c) && !q.blockResult(n, c) && !q.codedResult(n, c) {
			q.result(n, c)
			q.pin(n, "data_out", c)
			c.Pattern = format.PatternOf(n.Type.Format)
		}
		q.follow(n, c)
		q.derived(n)
	}
	if q.absorbed(n) {
		return
	}
	if q.faults == mistakes { // else the formats of n are not those of the plan
		q.legal(n, explicit)
		if risk, ok := dot.FactorRisk(n); ok {
			q.decided.Slots = append(q.decided.Slots, Slot{n.Name, n.Op.Name, "factor", risk.Factors, risk.String()})
		}
	}
}

// kept decides the result of n, which keeps codes; was is the format that its argument had before it was decoded.
func (q *quantizer) kept(n *ir.Node, explicit *plan.Choice, was format.Format) {
	n.Type.Format, n.Type.Scales = n.Args[0].Type.Format, nil
	q.ruled[n] = q.ruled[n.Args[0]] || explicit != nil
	q.explain(n, "data_out", n.Type, "the format of "+n.Args[0].Name+", which "+n.Op.Name+" keeps")
	switch {
	case explicit != nil:
		q.castBehind(n, *explicit)
	case was != nil:
		q.encodeBehind(n, plan.Choice{Pattern: format.PatternOf(was), From: "the format of its argument"})
	}
}

// inputChoice is what decides the format of an input, of which it notes what the plan says of its samples.
func (q *quantizer) inputChoice(n *ir.Node, explicit *plan.Choice) plan.Choice {
	c, in := q.plan.Quantize.Data, q.plan.Input(n.Name)
	n.Attrs.(*ir.Input).Saturates = in != nil && in.Saturate
	if in != nil && in.Format != nil {
		return *in.Format
	} else if explicit != nil {
		return *explicit
	} else if own, ok := q.modelChoice(n); ok {
		return own
	} else if size := float.PositionsOf(q.g, n); size > 0 {
		id := format.Fixed{W: float.PositionBits(size)}
		return plan.Choice{Pattern: format.PatternOf(id), From: "the positions that are looked up"}
	} else if q.staysExact() {
		return q.openInput(n)
	} else if q.forChannels(n) {
		if c, ok := q.roundedInput(n); ok {
			return c
		}
	}
	return q.scaledInput(n, c)
}

// resultChoice is what decides the result format of a computing node.
func (q *quantizer) resultChoice(n *ir.Node, explicit *plan.Choice) plan.Choice {
	if explicit != nil {
		q.ruled[n] = true
		return *explicit
	}
	if c, ok := q.tied(n); ok {
		return c
	}
	if q.wanted[n] != nil {
		return *q.wanted[n]
	}
	if c, ok := q.modelChoice(n); ok {
		return c
	}
	if q.staysExact() {
		return q.openChoice(n)
	}
	if c, ok := q.beforeChannels(n); ok {
		return c
	}
	c := q.fitted(n, q.unsigned(n, q.plan.Quantize.Data))
	if pointwise.Cuts(n.Op) {
		arg := n.Args[0]
		for arg.Op.Traits.KeepsCodes {
			arg = arg.Args[0]
		}
		if _, open := c.Pattern.Open(); open && q.behind[arg] && c.Pattern.Fits(arg.Type.Format) {
			have, _ := format.AsFixed(arg.Type.Format)
			c.Pattern = format.PatternOf(c.Pattern.With(have.F))
			c.From += ", fraction bits of " + arg.Name
		}
	}
	return c
}

// result sets the format of node n by choice c.
func (q *quantizer) result(n *ir.Node, c plan.Choice) {
	v := q.values[n]
	if clipped := q.judge(n); clipped != nil {
		q.behind[n] = true
		if f, open := c.Pattern.Open(); open && f.Over != format.Wrap {
			v = clipped
		}
	}
	n.Type.Format = q.resolve(c, v)
	n.Type.Scales = nil
	if why := streamProblem(n.Type); why != "" {
		q.refuseFormat(n, n.Type.Format, "data", why, c.From, dataFormats)
		n.Type.Format = format.Fixed{W: 8, Signed: true} // so that later nodes can be checked too
	}
	q.explain(n, "data_out", n.Type, c.From)
}

// cast returns a in the format of choice c for reader n, or where a is n itself for all that read it: a itself where it
// has that format already.
func (q *quantizer) cast(a *ir.Node, c plan.Choice, n *ir.Node, v *calib.Values) *ir.Node {
	slot := "data_in"
	if a == n || a.Op.Traits.Casts && a.Args[0] == n {
		slot = "cast"
	}
	if c.Pattern.Fits(a.Type.Format) {
		q.explain(n, slot, a.Type, c.From)
		return a
	}
	if c.Pattern.Fit != "" {
		c.Pattern = format.PatternOf(q.resolve(c, v))
	}
	for via, ok := q.between(a, c, v); ok; via, ok = q.between(a, c, v) {
		a = q.cast(a, via, n, v)
	}
	t := &ir.Node{Name: q.g.FreshName(a.Name + ".cast"), Op: pointwise.Cast, Args: []*ir.Node{a}, Pos: a.Pos,
		Type: ir.Type{Shape: a.Type.Shape, Format: q.resolve(c, v)}, Stats: a.Stats}
	if why := streamProblem(t.Type); why != "" {
		q.refuseFormat(n, t.Type.Format, "data", why, c.From, dataFormats)
		return a
	}
	q.values[t] = v
	q.g.InsertAfter(a, t)
	if untabled(a.Type, t.Type.Format) {
		q.rescale(t)
	}
	q.explain(n, slot, t.Type, c.From)
	return t
}

// castOutputs casts outputs whose format is not the one that [[output]] asks for.
func (q *quantizer) castOutputs() {
	for i, o := range q.g.Out {
		if o.Node.IsConst() {
			q.fail(o.Node, diag.ConstantOutput, "output %q is a constant; hardware computes outputs from inputs", o.Name)
			continue
		}
		p := q.plan.Output(o.Name)
		if p == nil || p.Format == nil || p.Format.Pattern.Fits(o.Node.Type.Format) {
			continue
		}
		said, was := len(q.decided.Slots), q.loose
		t := q.cast(o.Node, *p.Format, o.Node, q.values[o.Node])
		q.g.Out[i].Node = t
		for k := range q.decided.Slots[said:] {
			q.decided.Slots[said+k].Slot = "output" // no rule of a node can say it
		}
		if p.Format.Pattern.Incomplete() && !q.own.Quantized && t.Op.Traits.Casts && t.Args[0] == o.Node {
			q.loose = was
			q.decided.Chosen = append(q.decided.Chosen, Slot{o.Name, "output", "output", t.Type.Format.String(), p.Format.From})
		}
	}
}

func (q *quantizer) explain(n *ir.Node, slot string, t ir.Type, from string) {
	q.decided.Slots = append(q.decided.Slots, Slot{n.Name, n.Op.Name, slot, t.Format.String(), from})
}
