// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"maps"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/channel"
	"lathe/ir/op/lane"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// Pads says how many channels layers compute, dead ones included, by the names of the layers.
type Pads map[string]int

// Pad gives layers the dead channels that rules ask for, or that were chosen where rules say nothing, and returns
// those that it has padded. Errors: L0445 for layers whose channels stay, L0412 for fewer channels than there are.
func Pad(g *ir.Graph, fold *plan.Fold, chosen Pads, report *pass.Report) (Pads, error) {
	wanted, from := maps.Clone(chosen), map[string]string{}
	for _, n := range g.Nodes {
		for _, r := range slices.Backward(fold.Rules) {
			if r.Channels > 0 && !n.IsConst() && r.Covers(n) {
				if wanted == nil {
					wanted = Pads{}
				}
				wanted[n.Name], from[n.Name] = r.Channels, r.From
			}
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	if fold.Layers == "loop" {
		for name := range from {
			e := g.Find(name).Errorf(diag.PadChannels, "pad_channels: layers that share units have no dead channels")
			return nil, note(e, from[name]).WithHint("leave it out, or set layers = \"spatial\"")
		}
	}
	groups := channel.Of(g, true)
	extra, by, padded := make([]int, len(groups.All)), map[int]string{}, Pads{}
	for _, l := range groups.Layers() {
		to, asked := wanted[l.Node.Name]
		if !asked {
			continue
		}
		delete(wanted, l.Node.Name)
		if e := refusePad(&l, to); e != nil {
			return nil, note(e, from[l.Node.Name])
		}
		more := to - l.Channels
		if was, known := by[l.Last]; known && extra[l.Last] != more {
			e := l.Node.Errorf(diag.PadChannels, "pad_channels = %d: its channels are those of %s, which gets %d dead ones",
				to, was, extra[l.Last]).WithHint("use %d, or leave it out: one rule is enough", l.Channels+extra[l.Last])
			return nil, note(e, from[l.Node.Name])
		}
		if extra[l.Last], by[l.Last] = more, l.Node.Name; more > 0 {
			padded[l.Node.Name] = to
			report.Note("%s computes %d channels, of which %d are dead", l.Node.Name, to, more)
		}
	}
	for _, n := range g.Nodes {
		if _, left := wanted[n.Name]; left {
			e := n.Errorf(diag.PadChannels, "pad_channels: %s computes no channels of its own", n.Op.Name)
			return nil, note(e, from[n.Name]).WithHint("name the linear layer or convolution in front of it")
		}
	}
	if err := groups.Insert(g, extra); err != nil {
		return nil, diag.New(diag.PadChannels, g.Name, "pad_channels: %v", err).WithHint(
			"leave pad_channels out, or give the weights a format that has 0")
	}
	return padded, nil
}

func note(e *diag.Error, from string) *diag.Error {
	if from == "" {
		return e
	}
	return e.WithNote("set by %s", from)
}

// refusePad says why a layer cannot have so many channels.
func refusePad(l *channel.Layer, to int) *diag.Error {
	switch {
	case l.Last < 0:
		return l.Node.Errorf(diag.PadChannels, "pad_channels = %d: its %d channels stay: %s", to, l.Channels, l.Why).
			WithHint("leave pad_channels out for this layer, or use out_lanes that divide %d", l.Channels)
	case to < l.Channels:
		return l.Node.Errorf(diag.LanesDivide, "pad_channels = %d: it computes %d channels already", to, l.Channels).
			WithHint("use %d, or leave it out", smoother(l.Channels, 2*l.Channels)[0])
	case to > 2*l.Channels:
		return l.Node.Errorf(diag.PadChannels, "pad_channels = %d: words of memories would hold more dead weights than "+
			"those of its %d channels", to, l.Channels).WithHint("use %d; %d is the most", smoother(l.Channels,
			2*l.Channels)[0], 2*l.Channels)
	}
	return nil
}

// Padding is a layer whose channels may be padded, with those numbers of them that may pay.
type Padding struct {
	Layer string
	To    []int
}

// Paddings are those of g that no rule decides, where the divisors of a number of channels leave gaps: one of each
// layers whose channels are tied.
func Paddings(g *ir.Graph, fold *plan.Fold) (list []Padding) {
	if fold.Layers == "loop" {
		return nil
	}
	groups, seen := channel.Of(g, true), map[int]bool{}
	for _, l := range groups.Layers() {
		if l.Last < 0 || seen[l.Last] {
			continue
		}
		seen[l.Last] = true
		ruled := slices.ContainsFunc(fold.Rules, func(r *plan.FoldRule) bool { return r.Channels > 0 && r.Covers(l.Node) })
		if to := smoother(l.Channels, l.Channels+max(l.Channels/4, 1)); !ruled && gapped(l.Channels) && len(to) > 0 {
			list = append(list, Padding{l.Node.Name, to})
		}
	}
	return list
}

// gapped says that some divisor of n is more than twice the next lower one.
func gapped(n int) bool {
	d := lane.Divisors(n)
	for i := range d[1:] {
		if d[i+1] > 2*d[i] {
			return true
		}
	}
	return false
}

// smoother lists the numbers above n, up to most, with more divisors than any from n on below them.
func smoother(n, most int) (list []int) {
	best := len(lane.Divisors(n))
	for to := n + 1; to <= most; to++ {
		if d := len(lane.Divisors(to)); d > best {
			best, list = d, append(list, to)
		}
	}
	return list
}
