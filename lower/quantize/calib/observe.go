// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"cmp"
	"context"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/ref"
	"lathe/lower/pass"
)

// keep bounds the values of one node that are kept for the choice of its format.
const keep = 1 << 16

// mostChannels bounds the channels of an output whose spread is found.
const mostChannels = 1 << 12

// Observe runs the float graph g on all samples and collects the values of every node but constants. The selection of
// values depends on nothing but their positions. A value that is no finite number is an error L0404 at its node.
func Observe(ctx context.Context, g *ir.Graph, samples []ref.Sample) (map[*ir.Node]*Values, error) {
	p, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	spreads := spreadsOf(g, len(samples))
	parts := make([][]*Values, len(samples)) // by sample, then node: joined in order, whatever order they come in
	err = p.Trace(ctx, samples, func(i int, values []*ir.Tensor) error {
		parts[i] = make([]*Values, len(values))
		for k, t := range values {
			if t == nil || g.Nodes[k].IsConst() {
				continue
			}
			part := selection(t.Floats, i, len(samples))
			if !(part.Max-part.Min <= 2*math.MaxFloat32) {
				if err := NeverPadded(g.Nodes[k]); err != nil {
					return err
				}
				return endless(g, k, i, values)
			}
			parts[i][k] = part
			if of := spreads[g.Nodes[k]]; of != nil {
				values, err := t.Decode()
				if err != nil {
					return err
				}
				of[i].Add(values, values, pass.Channels(t.Type.Shape))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return joinedValues(g, parts, spreads), nil
}

// joinedValues joins what is known by sample, then node.
func joinedValues(g *ir.Graph, parts [][]*Values, spreads map[*ir.Node][]pass.Signal) map[*ir.Node]*Values {
	out := make(map[*ir.Node]*Values, len(g.Nodes))
	for k, n := range g.Nodes {
		for i := range parts {
			part := parts[i][k]
			if part == nil {
				continue
			}
			if out[n] == nil {
				out[n] = &Values{Min: part.Min, Max: part.Max}
			}
			v := out[n]
			v.Min, v.Max = min(v.Min, part.Min), max(v.Max, part.Max)
			v.Sample, v.Tail = append(v.Sample, part.Sample...), append(v.Tail, part.Tail...)
			v.Share = part.Share
		}
		if of := spreads[n]; of != nil && out[n] != nil {
			var all pass.Signal
			for i := range of {
				all.Join(&of[i])
			}
			out[n].Spread, out[n].Offset = all.Spread(), all.Offset()
		}
	}
	return out
}

// spreadsOf has room for what each output of g varies by, sample by sample: they are joined in order.
func spreadsOf(g *ir.Graph, samples int) map[*ir.Node][]pass.Signal {
	out := make(map[*ir.Node][]pass.Signal)
	for _, o := range g.Out {
		if pass.Channels(o.Node.Type.Shape) <= mostChannels {
			out[o.Node] = make([]pass.Signal, samples)
		}
	}
	return out
}

// selection takes the bounds of x and, of its values, a share such that all samples together keep about `keep`.
func selection(x []float32, sample, samples int) *Values {
	v := Of(x)
	for _, f := range x {
		if f != f {
			v.Min, v.Max = math.NaN(), math.NaN()
		}
	}
	stride := uint32(len(x)*samples/keep) + 1
	v.Sample, v.Share = nil, float64(stride)
	for i, f := range x {
		switch {
		case stride == 1 || format.Mix(uint32(sample*len(x)+i))%stride == 0:
			v.Sample = append(v.Sample, f)
		case len(v.Tail) < tailed:
			v.Tail = append(v.Tail, f)
			slices.SortFunc(v.Tail, smaller)
		case smaller(v.Tail[0], f) < 0:
			v.Tail[0] = f
			slices.SortFunc(v.Tail, smaller)
		}
	}
	return v
}

// endless is the error of node k, which makes what is no finite number of finite values of a sample.
func endless(g *ir.Graph, k, sample int, values []*ir.Tensor) *diag.Error {
	n := g.Nodes[k]
	e := n.Errorf(diag.CalibrationData, "calibration sample %d gives a value here that is not a finite number", sample).
		WithHint("the constants of the model are finite: the values of this sample overflow it; remove the sample")
	if !n.Op.Traits.Elementwise || len(n.Args) != 1 {
		return e
	}
	at := InfiniteAt(values[k].Floats)
	from := slices.Index(g.Nodes, n.Args[0])
	if at < 0 || values[from] == nil || at >= len(values[from].Floats) {
		return e
	}
	return e.WithNote("%s is %g at %g", n.Op.Name, values[k].Floats[at], values[from].Floats[at]).
		WithHint("clip what it reads to where it has values: torch.clamp, Clip, or in a formula of --ops max(x, least) or "+
			"where(condition, a, b); or remove the sample; of an infinity that the model writes itself: %s", diag.FiniteInstead)
}

// tailed is how many of the largest values of a sample are kept beside a selection.
const tailed = 32

// smaller orders values by magnitude.
func smaller(a, b float32) int { return cmp.Compare(math.Abs(float64(a)), math.Abs(float64(b))) }

// NeverPadded is error L0408 where n pads with what is no finite number, which no code stands for.
func NeverPadded(n *ir.Node) *diag.Error {
	v, pads := move.PadsWith(n)
	if !pads || finite(v) {
		return nil
	}
	return n.Errorf(diag.ConstantNotFinite, "pads with %g, which is no finite number", v).
		WithHint("before a max pool whose windows all see the image, -Inf is taken into the windows; " +
			"elsewhere pad with the least value that occurs")
}
