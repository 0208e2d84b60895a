// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"cmp"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/calib"
)

// resolve completes the format of a choice by values of calibration, and counts it as loose.
func (q *quantizer) resolve(c Choice, v *calib.Values) format.Format {
	if c.Pattern.Incomplete() {
		q.loose++
	}
	return q.complete(c, v)
}

// complete completes the format of a choice by the values that it must hold.
func (q *quantizer) complete(c Choice, v *calib.Values) format.Format {
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
func (q *quantizer) settled(n *ir.Node, c Choice) Choice {
	if c.Pattern.Fit == "" {
		return c
	}
	v := q.values[n]
	if behind := q.judge(n); behind != nil {
		v = behind
	}
	if n.Op.Traits.Cuts && c.Pattern.Fits(n.Args[0].Type.Format) {
		c.Pattern = format.PatternOf(n.Args[0].Type.Format)
	} else {
		c.Pattern = format.PatternOf(q.complete(c, v))
	}
	c.calibrated = true
	return c
}

// judge returns the values behind relu and clip where nothing else reads n, not even through operations that keep
// formats: what they cut off needs no code. nil where something else reads n, as a layer with a state itself does.
func (q *quantizer) judge(n *ir.Node) *calib.Values {
	if q.g.IsOutput(n) || len(q.users[n]) == 0 || n.Op.Traits.Recurs {
		return nil
	}
	var all *calib.Values
	for _, u := range q.users[n] {
		var v *calib.Values
		switch {
		case u.Op.Traits.Cuts:
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
	return &calib.Values{Min: min(a.Min, b.Min), Max: max(a.Max, b.Max), Sample: sample, Finer: cmp.Or(a.Finer, b.Finer)}
}
