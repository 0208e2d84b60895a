// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"cmp"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/custom"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// resolve completes the format of a choice by values of calibration, and counts it as loose.
func (q *quantizer) resolve(c plan.Choice, v *calib.Values) format.Format {
	if c.Pattern.Incomplete() {
		q.loose++
	}
	return q.complete(c, v)
}

// complete completes the format of a choice by the values that it must hold.
func (q *quantizer) complete(c plan.Choice, v *calib.Values) format.Format {
	if f, fit := c.Pattern.Biased(); fit {
		return f.Finer(calib.Finer(f, v, q.plan.Quantize.Calibrate))
	}
	f, open := c.Pattern.Open()
	if !open {
		return c.Pattern.Format
	}
	return c.Pattern.With(calib.Frac(f, v, q.plan.Quantize.Calibrate))
}

// settled is a choice for the result of n that leaves no bias open: that of what n cuts off, else one for its values.
func (q *quantizer) settled(n *ir.Node, c plan.Choice) plan.Choice {
	if c.Pattern.Fit == "" {
		return c
	}
	v := q.values[n]
	if behind := q.judge(n); behind != nil {
		v = behind
	}
	if pointwise.Cuts(n.Op) && c.Pattern.Fits(n.Args[0].Type.Format) {
		c.Pattern = format.PatternOf(n.Args[0].Type.Format)
	} else {
		c.Pattern = format.PatternOf(q.complete(c, v))
	}
	c.Calibrated = true
	return c
}

// judge returns the values behind relu and clip where nothing else reads n, not even through operations that keep
// formats: what they cut off needs no code. nil where something else reads n, as a layer with a state itself does.
func (q *quantizer) judge(n *ir.Node) *calib.Values {
	if q.g.IsOutput(n) || len(q.users[n]) == 0 || recur.Recurs(n.Op) {
		return nil
	}
	var all *calib.Values
	for _, u := range q.users[n] {
		var v *calib.Values
		switch {
		case pointwise.Cuts(u.Op):
			v = q.values[u]
		case u.Op.Traits.KeepsCodes:
			v = q.judge(u)
		}
		if v == nil {
			return nil
		}
		all = join(all, v)
	}
	return all
}

func join(a, b *calib.Values) *calib.Values {
	if a == nil {
		return b
	}
	sample := append(slices.Clone(a.Sample), b.Sample...)
	return &calib.Values{Min: min(a.Min, b.Min), Max: max(a.Max, b.Max), Sample: sample, Finer: cmp.Or(a.Finer, b.Finer),
		Tail: append(slices.Clone(a.Tail), b.Tail...), Share: max(a.Share, b.Share)}
}

// pin reports the format of a slot of n that values of calibration completed, where a rule that gives it in full has
// the same effect. In a model of its own formats a rule has more effects: it stands above what the model says.
func (q *quantizer) pin(n *ir.Node, slot string, c plan.Choice) {
	_, open := c.Pattern.Open()
	switch {
	case !open && !c.Calibrated:
		return
	case q.own.Quantized:
		if c.Calibrated {
			q.loose++
		}
		return
	case open:
		q.loose--
	}
	q.decided.Chosen = append(q.decided.Chosen, Slot{n.Name, n.Op.Name, slot, n.Type.Format.String(), c.From})
}

// argumentsAs casts the arguments of n to the choice of its rule for data_in, masks apart, which go with the first.
func (q *quantizer) argumentsAs(n *ir.Node, c plan.Choice) {
	was, same := q.loose, true
	var first *ir.Node
	for i, a := range n.Args {
		mask := i > 0 && !n.Args[0].IsConst() && n.Op.Traits.Index != nil && n.Op.Traits.Index(n, i) > 0
		if _, blocks := c.Blocks(); a.IsConst() || mask || blocks && i > 0 && encodes(n, a) {
			continue
		}
		same = same && !a.Type.InBlocks()
		n.Args[i] = q.cast(a, c, n, q.values[a])
		if first == nil {
			first = n.Args[i]
		}
		same = same && n.Args[i].Type.SameFormat(first.Type)
	}
	if c.Pattern.Incomplete() && same && first != nil && !q.own.Quantized {
		q.loose = was
		q.decided.Chosen = append(q.decided.Chosen, Slot{n.Name, n.Op.Name, "data_in", first.Type.Format.String(), c.From})
	}
}

// wantPorts gives the formats of the ports of a unit that takes no others to the nodes that compute what it reads,
// where those have no other reader and no rule of their own: then nothing is rounded twice.
func (q *quantizer) wantPorts() {
	for _, n := range q.g.Nodes {
		ports, _, _ := custom.Ports(n)
		for i, f := range ports {
			from := q.computes(n.Args[i], 1)
			if from != nil && !q.g.IsOutput(n.Args[i]) && q.wanted[from] == nil {
				q.wanted[from] = &plan.Choice{Pattern: format.PatternOf(f), From: "the ports of " + n.Name}
			}
		}
	}
}

// intoPorts casts the arguments of n to the formats of its ports, where it takes no others.
func (q *quantizer) intoPorts(n *ir.Node) {
	ports, _, _ := custom.Ports(n)
	for i, f := range ports {
		if a := n.Args[i]; !a.IsConst() {
			c := plan.Choice{Pattern: format.PatternOf(f), From: "the ports of " + n.Name}
			n.Args[i] = q.cast(a, c, n, q.values[a])
		}
	}
}
