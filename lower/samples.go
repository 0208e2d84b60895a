// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"math/rand/v2"
	"slices"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/own"
)

// Calibration is data that formats are chosen from.
type Calibration struct {
	// Samples lists float tensors by input name, one a sample, in the layout of the model; all inputs have equally many.
	// Empty: ranges come from interval analysis.
	Samples map[string][]*ir.Tensor
	// Labels are the classes of samples, one for each place of output 0; nil where they are not known.
	Labels [][]int64
}

// arrange checks calibration data against the inputs of the imported graph and turns it into samples: errors L0403 for
// unknown or missing inputs, L0404 for shapes and values that cannot be used.
func (c Calibration) arrange(g *ir.Graph) ([]ref.Sample, error) {
	if len(c.Samples) == 0 {
		return nil, nil
	}
	var names []string
	for _, n := range g.In {
		names = append(names, n.Name)
	}
	var errs diag.List
	for name := range c.Samples {
		if !slices.Contains(names, name) {
			e := diag.New("L0403", g.Name, "calibration data for %q, which is not an input of the model", name)
			errs = append(errs, nearest(e, name, names))
		}
	}
	slices.SortFunc(errs, func(a, b *diag.Error) int { return compare(a.Msg, b.Msg) })
	var samples []ref.Sample
	for k, n := range g.In {
		list := c.Samples[n.Name]
		if k == 0 {
			samples = make([]ref.Sample, len(list))
		}
		if len(list) == 0 || len(list) != len(samples) {
			errs = append(errs, n.Errorf("L0404", "%d calibration samples for input %q, %d for input %q", len(list), n.Name,
				len(samples), names[0]).WithHint("give every input as many samples"))
			continue
		}
		for i, t := range list {
			if ir.IsWhole(t.Type.Format) {
				t = asFloats(t)
			}
			if e := usable(n, i, t); e != nil {
				errs = append(errs, e)
				break
			}
			samples[i] = append(samples[i], t)
		}
	}
	if len(errs) == 0 && c.Labels != nil && len(c.Labels) != len(samples) {
		errs = append(errs, diag.New("L0404", g.Name, "%d labels for %d calibration samples", len(c.Labels), len(samples)).
			WithHint("give every sample its label"))
	}
	return samples, errs.Err()
}

// asFloats is a tensor of whole numbers as values.
func asFloats(t *ir.Tensor) *ir.Tensor {
	f := ir.NewTensor(ir.Float(t.Type.Shape...))
	for i, c := range t.Codes {
		f.Floats[i] = float32(c)
	}
	return f
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// usable checks sample i of input n.
func usable(n *ir.Node, i int, t *ir.Tensor) *diag.Error {
	if !t.Type.IsFloat() || !slices.Equal(t.Type.Shape, n.Type.Shape) {
		return n.Errorf("L0404", "calibration sample %d of input %q has shape %s, the model takes %s", i, n.Name,
			ir.ShapeString(t.Type.Shape), ir.ShapeString(n.Type.Shape)).
			WithHint("calibration arrays have the shape of the input, after one leading sample axis")
	}
	if k := infiniteAt(t.Floats); k >= 0 {
		return n.Errorf("L0404", "calibration sample %d of input %q holds %v at element %d", i, n.Name, t.Floats[k], k).
			WithHint("take the sample out of the calibration data, or repair it")
	}
	return nil
}

// random makes samples, uniform in the range of each input. The seed decides all.
func random(g *ir.Graph, plan *Plan, seed uint64, count int) []ref.Sample {
	r := rand.New(rand.NewPCG(seed, 0))
	samples := make([]ref.Sample, count)
	lo, hi := make([]float64, len(g.In)), make([]float64, len(g.In))
	model, err := own.Of(g)
	for i, n := range g.In {
		declared := false
		if lo[i], hi[i], declared = plan.rangeOf(n); declared {
			continue
		}
		if ir.IsWhole(n.Type.Format) || positionsOf(g, n) > 0 {
			lo[i], hi[i] = wholeRange(g, n)
		} else if f, ok := model.Format(n); err == nil && ok {
			lo[i], hi[i] = f.Limits()
		}
	}
	for i := range samples {
		for at, n := range g.In {
			t := ir.NewTensor(ir.Float(n.Type.Shape...))
			for k := range t.Floats {
				t.Floats[k] = float32(lo[at] + (hi[at]-lo[at])*r.Float64())
			}
			samples[i] = append(samples[i], t)
		}
	}
	return samples
}

// rangeOf is the declared range of an input, or [-1, 1].
func (p *Plan) rangeOf(n *ir.Node) (lo, hi float64, declared bool) {
	if in := p.input(n.Name); in != nil && in.Range != nil {
		return in.Range[0], in.Range[1], true
	}
	return -1, 1, false
}

// enter turns a sample in the caller's layout into values of the graph's inputs: permuted and encoded.
func enter(g *ir.Graph, s ref.Sample) ref.Sample {
	out := make(ref.Sample, len(s))
	for i, n := range g.In {
		t := permute(s[i], n.Attrs.(*ir.Input).Perm)
		if !n.Type.IsFloat() {
			t = ir.EncodeFloats(n.Type, t.Floats)
		}
		out[i] = t
	}
	return out
}

// leave turns graph outputs into the caller's layout.
func leave(g *ir.Graph, s ref.Sample) ref.Sample {
	out := make(ref.Sample, len(s))
	for i, o := range g.Out {
		out[i] = permute(s[i], o.Perm)
	}
	return out
}

// permute makes axis i of the result axis perm[i] of t; a nil perm returns t.
func permute(t *ir.Tensor, perm []int) *ir.Tensor {
	if perm == nil {
		return t
	}
	if _, blocks := t.Type.BlockFormat(); blocks {
		t = decoded(t) // blocks run along an axis that moves
	}
	out := ir.NewTensor(t.Type.WithShape(ir.TransposeShape(t.Type.Shape, perm)))
	for i, from := range ir.TransposeIndex(t.Type.Shape, perm) {
		if out.Codes != nil {
			out.Codes[i] = t.Codes[from]
		} else {
			out.Floats[i] = t.Floats[from]
		}
	}
	return out
}

// decoded is a value in a block format as floats, which hold those of 8 bits exactly.
func decoded(t *ir.Tensor) *ir.Tensor {
	out := ir.NewTensor(ir.Float(t.Type.Shape...))
	x, err := t.Decode()
	for i := range x {
		out.Floats[i] = float32(x[i])
	}
	if err != nil {
		return t
	}
	return out
}

// outputs evaluates the graph on samples in the caller's layout and returns its outputs in the caller's layout.
func outputs(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]ref.Sample, error) {
	p, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	in := make([]ref.Sample, len(samples))
	for i, s := range samples {
		in[i] = enter(g, s)
	}
	out, err := p.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = leave(g, out[i])
	}
	return out, nil
}

// callerLayout turns samples in the layout of the graph's inputs into the caller's.
func callerLayout(g *ir.Graph, samples []ref.Sample) []ref.Sample {
	for _, s := range samples {
		for k, n := range g.In {
			perm := n.Attrs.(*ir.Input).Perm
			if perm == nil {
				continue
			}
			inverse := make([]int, len(perm))
			for i, p := range perm {
				inverse[p] = i
			}
			s[k] = permute(s[k], inverse)
		}
	}
	return samples
}
