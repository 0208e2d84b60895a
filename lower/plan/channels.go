// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
)

// Channels are the formats that a rule gives the channels of a result, which lie along its last axis.
type Channels struct {
	// List is the formats as the plan has them.
	List []string
	// Each is their codes within one format.
	Each format.Each
	// From is the place of the rule in the plan.
	From string
}

// noCodes stands for the format of a channel that is always 0.
const noCodes = "none"

// channels reads a list of formats, one for each channel; nil where the key is not given.
func (p *parser) channels(path string, list []string, what string) *Channels {
	if list == nil {
		return nil
	}
	c := &Channels{List: list, From: p.at.Pos(path) + " " + what}
	formats := make([]format.Fixed, len(list)) // of no width: always 0
	var all *format.Fixed
	for i, text := range list {
		if text == noCodes {
			continue
		}
		choice := p.choice(path, &text, what)
		if choice == nil {
			return nil
		}
		f, fixed := format.AsFixed(choice.Pattern.Format)
		if _, open := choice.Pattern.Open(); !fixed || open || choice.Pattern.Incomplete() {
			p.fail(path, "%q for channel %d: channels have fixed formats with fraction bits", text, i).Hint =
				fmt.Sprintf(`such as "fixed(6,4)", "ufixed(5,3)", or %q for a channel that is always 0`, noCodes)
			return nil
		}
		if all == nil {
			all = &format.Fixed{F: f.F, Signed: f.Signed, Round: f.Round, Over: f.Over}
		}
		if f.Signed != all.Signed || f.Round != all.Round || f.Over != all.Over {
			p.fail(path, "%q for channel %d: all channels have a sign or none has, and they round and overflow alike", text, i)
			return nil
		}
		formats[i], all.F = f, max(all.F, f.F)
	}
	if all == nil {
		p.fail(path, "no channel has codes").Hint = fmt.Sprintf("give those formats that are not %q", noCodes)
		return nil
	}
	for _, f := range formats {
		drop := 0
		if f.W > 0 {
			drop = all.F - f.F
		}
		all.W = max(all.W, f.W+drop)
		c.Each.Bits, c.Each.Drop = append(c.Each.Bits, f.W), append(c.Each.Drop, drop)
	}
	c.Each.All = *all
	if _, err := format.Parse(all.String()); err != nil {
		p.fail(path, "%s holds all channels: %v", all, err).Hint = "bring their steps closer together"
		return nil
	}
	if err := c.Each.Check(); err != nil {
		p.fail(path, "%v", err).Hint = `say "over=sat" in each, as in "fixed(6,4,over=sat)"`
		return nil
	}
	return c
}

// ChannelsOf is what the first rule says that covers n and has channels; nil without one.
func (p *Plan) ChannelsOf(n *ir.Node) *Channels {
	for _, r := range p.Quantize.Rules {
		if r.Channels != nil && r.Covers(n) && !n.IsConst() {
			return r.Channels
		}
	}
	return nil
}

// WithChannels is p with codes of their own for the channels of a node: as many bits as the list says, in steps of all.
func (p *Plan) WithChannels(node string, all format.Fixed, bits []int, from string) *Plan {
	c := &Channels{Each: format.Each{All: all, Bits: bits, Drop: make([]int, len(bits))}, From: from}
	for _, w := range bits {
		f := all
		f.W = w
		text := noCodes
		if w > 0 {
			text = f.String()
		}
		c.List = append(c.List, text)
	}
	out := *p
	out.Quantize.Rules = slices.Concat([]*Rule{{Match: one(node, from), Channels: c}}, p.Quantize.Rules)
	return &out
}

// WithInput is p with a format for an input of which it does not say one, and powers of two for its channels.
func (p *Plan) WithInput(name string, f format.Format, exponents []int, from string) *Plan {
	out := *p
	out.Inputs = slices.Clone(p.Inputs)
	in := out.Input(name)
	if in == nil {
		out.Inputs = append(out.Inputs, Input{Name: name, From: from})
		in = &out.Inputs[len(out.Inputs)-1]
	}
	if in.Format == nil {
		in.Format = &Choice{Pattern: format.PatternOf(f), From: from, Given: true}
	}
	if in.Exponents == nil {
		in.Exponents = exponents
	}
	return &out
}
