// SPDX-License-Identifier: Apache-2.0

package training

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
	"lathe/lower/plan"
	"lathe/train/model"
)

// narrowed is a value that a layer multiplies, whose channels get widths of their own.
type narrowed struct {
	name  string   // of the node whose result is rounded
	input *ir.Node // that it is made of, if it is
	codes format.Fixed
	at    int   // the node of the quantized graph whose codes these are
	bits  []int // by channel, signs apart
	minus bool  // some are negative
}

// fromBits says who asks for the formats of channels.
const fromBits = "data of [bits]"

// narrowing quantizes g anew, so that each value that a layer multiplies is rounded channel by channel: to the codes
// that it has in q, of as many bits as the values of a channel need in the samples that are trained on.
func narrowing(ctx context.Context, s driver.Source, p *prepared, g *ir.Graph, q *driver.Quantized) (*driver.Quantized,
	error) {
	values, err := narrowable(q, p.plan)
	if err != nil {
		return nil, err
	}
	samples, _, err := driver.Samples(q.Graph, p.data.File)
	if err != nil {
		return nil, err
	}
	if err := seen(ctx, q.Graph, samples, values); err != nil {
		return nil, err
	}
	under := p.plan
	for _, v := range values {
		if v.codes.Signed && !v.minus {
			v.codes.Signed, v.codes.W = false, v.codes.W-1
		}
		for c, w := range v.bits {
			if v.codes.Signed && w > 0 {
				v.bits[c] = min(w+1, v.codes.W)
			}
		}
		if v.input != nil {
			under = under.WithInput(v.input.Name, v.codes, v.input.Attrs.(*ir.Input).Exponents, fromBits)
			v.codes.Round = format.RoundFloor // which is wires; biases make up for it
		}
		under = under.WithChannels(v.name, v.codes, v.bits, fromBits)
	}
	return s.QuantizeUnder(ctx, g, under)
}

// narrowable are the values that layers with trained weights multiply, in the order of the graph. Those that are
// results of the graph keep their codes, and channels that the plan or the model have given widths keep them as the
// most they get. Error L1004 for a value that is not in a fixed format.
func narrowable(q *driver.Quantized, p *plan.Plan) ([]*narrowed, error) {
	var out []*narrowed
	lowered := q.Report.Lowered
	for _, n := range lowered.Nodes {
		if !n.Op.Traits.Weighted || n.IsConst() || n.Args[0].IsConst() || !n.Args[1].IsConst() {
			continue
		}
		v := n.Args[0]
		for model.KeepsChannels(v) {
			v = v.Args[0]
		}
		known := slices.ContainsFunc(out, func(o *narrowed) bool { return o.name == v.Name })
		if known || v.Op.Each != nil || lowered.IsOutput(v) || p.ChannelsOf(v) != nil {
			continue
		}
		at := slices.IndexFunc(q.Graph.Nodes, func(m *ir.Node) bool { return m.Name == n.Name })
		if at < 0 {
			continue // it has become part of another layer
		}
		read := q.Graph.Nodes[at].Args[0]
		own := read.Type // of the value itself, which may be decoded for the layer
		if made := q.Graph.Find(v.Name); made != nil {
			own = made.Type
		}
		codes, fixed := format.AsFixed(read.Type.Format)
		if !fixed || !format.IsFixed(own.Format) || own.InBlocks() || len(v.Type.Shape) == 0 {
			return nil, n.Errorf(diag.UntrainedFormat, "widths are trained of data in fixed formats; %s reads %s", n.Name,
				own.Format).WithHint("set data = \"fixed(8)\" in [quantize], or data = \"none\" in [bits]")
		}
		w := &narrowed{name: v.Name, codes: saturating(codes), at: slices.Index(q.Graph.Nodes, read),
			bits: make([]int, v.Type.Shape[len(v.Type.Shape)-1])}
		for v.Op.Traits.KeepsCodes && len(v.Args) == 1 { // a layout is turned in front of layers
			v = v.Args[0]
		}
		if v.IsInput() {
			w.input = q.Graph.Find(v.Name)
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		return nil, diag.New(diag.NothingToTrain, q.Graph.Name, "no layer multiplies a value whose width could be trained").
			WithHint("set data = \"none\" in [bits]")
	}
	return out, nil
}

// saturating is the format of the codes of f that saturates, without a sign where no code has one.
func saturating(f format.Fixed) format.Fixed {
	out := format.Fixed{W: f.W, F: f.F, Signed: f.Signed, Round: f.Round}
	if f.Over == format.Sym {
		out.Over = format.Sym
	}
	if lo, hi, limited := f.Over.Limits(); limited {
		if out.W = bits.Len64(uint64(hi)); lo < 0 {
			out.W++
		} else {
			out.Signed = false
		}
	}
	return out
}

// seen finds how many bits the codes of each channel take in samples.
func seen(ctx context.Context, g *ir.Graph, samples []ref.Sample, values []*narrowed) error {
	r, err := ref.New(g)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	return r.Each(ctx, samples, func(_, node int, t *ir.Tensor) error {
		for _, v := range values {
			if v.at != node {
				continue
			}
			most, minus := make([]int, len(v.bits)), false
			for i, c := range t.Codes {
				minus = minus || c < 0
				most[i%len(most)] = max(most[i%len(most)], bits.Len64(uint64(max(c, -c))))
			}
			mu.Lock()
			v.minus = v.minus || minus
			for c, w := range most {
				v.bits[c] = max(v.bits[c], w)
			}
			mu.Unlock()
		}
		return nil
	})
}
