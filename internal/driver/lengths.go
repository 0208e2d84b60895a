// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/sim"
)

// Lengths is what verify found of a design whose frames change in length.
type Lengths struct {
	// Tokens is the most of a frame, Frames counts those of all runs, Short those that had fewer.
	Tokens int `json:"tokens"`
	Frames int `json:"frames"`
	Short  int `json:"short"`
	// Pace is how fast frames of one length follow each other without stalls.
	Pace []Pace `json:"pace"`
}

// Pace is that of frames of so many tokens.
type Pace struct {
	Tokens  int     `json:"tokens"`
	Cycles  float64 `json:"cycles"`
	Latency int     `json:"latency_cycles"`
}

// lengthsAt is the number of the input of g that says how long frames are; -1: they have one length.
func lengthsAt(g *ir.Graph) int {
	return slices.IndexFunc(g.In, func(n *ir.Node) bool { return n.HW.Ends })
}

// lengthsOf are the tokens of samples. Error L0917 where a mask is not ones and then zeros.
func lengthsOf(g *ir.Graph, samples []ref.Sample) ([]int, error) {
	at, list := lengthsAt(g), make([]int, len(samples))
	for i, s := range samples {
		if list[i] = float.LengthOf(s[at]); list[i] == 0 {
			return nil, g.In[at].Errorf(diag.KeyMask, "sample %d of %q is not ones and behind them zeros, and so no length", i,
				g.In[at].Name).WithHint("pad on the right, with 1 to %d tokens, or build it for frames of one length: leave "+
				"lengths = \"dynamic\" out", g.In[at].HW.Tokens)
		}
	}
	return list, nil
}

// sized are samples of the given lengths.
func sized(g *ir.Graph, samples []ref.Sample, length func(i int) int) []ref.Sample {
	at, list := lengthsAt(g), make([]ref.Sample, len(samples))
	for i, s := range samples {
		list[i] = slices.Clone(s)
		list[i][at] = prefix(g.In[at].Type, length(i))
	}
	return list
}

// prefix is a mask of n ones.
func prefix(t ir.Type, n int) *ir.Tensor {
	mask := ir.NewTensor(t)
	for i := range n {
		if mask.Codes != nil {
			mask.Codes[i] = 1
		} else {
			mask.Floats[i] = 1
		}
	}
	return mask
}

// vectorLengths are samples for a testbench with the tokens of each: as their masks say or, where one of these is no
// length, the most, one, and any number.
func vectorLengths(g *ir.Graph, samples []ref.Sample) ([]ref.Sample, []int) {
	lengths, err := lengthsOf(g, samples)
	if err == nil {
		return samples, lengths
	}
	n, r := g.In[lengthsAt(g)].HW.Tokens, rand.New(rand.NewPCG(1, 13))
	lengths = make([]int, len(samples))
	for i := range lengths {
		lengths[i] = 1 + r.IntN(n)
	}
	copy(lengths, []int{n, 1})
	return sized(g, samples, func(i int) int { return lengths[i] }), lengths
}

// present is v, of a frame of so many tokens, with zeros for the elements that hardware does not compute.
func present(n *ir.Node, v *ir.Tensor, length int) *ir.Tensor {
	if n.HW.Tokens == 0 || length == n.HW.Tokens {
		return v
	}
	c := &ir.Tensor{Type: v.Type, Codes: slices.Clone(v.Codes), BlockScales: slices.Clone(v.BlockScales)}
	clear(c.Codes[len(c.Codes)/n.HW.Tokens*length:])
	clear(c.BlockScales[len(c.BlockScales)/n.HW.Tokens*length:])
	if row := n.Type.Row(); scores(n) {
		for i := range c.Codes {
			if i%row >= length {
				c.Codes[i] = 0
			}
		}
	}
	return c
}

// scores says that n is rows of scores, of which hardware knows nothing behind the last key.
func scores(n *ir.Node) bool {
	for n.Op.Traits.KeepsCodes && n.Op.Traits.Elementwise && len(n.Args) == 1 {
		n = n.Args[0]
	}
	return n.Op.Traits.Meets > 0 && !n.MeetsAcross()
}

// presentAll is present of all values of all samples.
func presentAll(nodes []*ir.Node, samples []ref.Sample, lengths []int) []ref.Sample {
	list := make([]ref.Sample, len(samples))
	for s := range samples {
		for i, n := range nodes {
			list[s] = append(list[s], present(n, samples[s][i], lengths[s]))
		}
	}
	return list
}

// present is what hardware computes of values of samples.
func (j Job) present(nodes []*ir.Node, samples, values []ref.Sample) []ref.Sample {
	if lengthsAt(j.HW.Scheduled) < 0 {
		return values
	}
	lengths, err := lengthsOf(j.HW.Scheduled, samples)
	if err != nil {
		return values
	}
	return presentAll(nodes, values, lengths)
}

// runSamples drives the design with samples.
func (j Job) runSamples(ctx context.Context, m *sim.Model, samples []ref.Sample, in sim.Input) (*sim.DesignRun, error) {
	if lengthsAt(j.HW.Scheduled) < 0 {
		return sim.RunDesign(ctx, m, j.HW.Scheduled, j.HW.Design, samples, in)
	}
	lengths, err := lengthsOf(j.HW.Scheduled, samples)
	if err != nil {
		return nil, err
	}
	return sim.RunFrames(ctx, m, j.HW.Scheduled, j.HW.Design, samples, lengths, in)
}

// frames measures a design whose frames change in length, and compares it, without stalls and with them, with the
// reference of the tokens that are there.
func (c *Check) frames(ctx context.Context, j Job, model *sim.Model, want []ref.Sample, nodes []*ir.Node) error {
	g, d := j.HW.Scheduled, j.HW.Design
	c.Lengths = &Lengths{Tokens: d.Lengths}
	run := frameRun{c, j, model, nodes}
	quiet := sim.Input{Occupancy: len(c.Fifos) > 0, MaxIdle: j.patience()}
	for _, tokens := range []int{d.Lengths, max(d.Lengths/2, 1), max(d.Lengths/4, 1)} {
		frames := c.Quiet
		if tokens < d.Lengths {
			frames = quietSamples
		}
		list := sized(g, repeat(j.Samples, frames), func(int) int { return tokens })
		r, lengths, err := run.of(ctx, list, nil, quiet)
		if err != nil {
			return err
		}
		watch(c.Fifos, r, tokens == d.Lengths)
		c.Lengths.Pace = append(c.Lengths.Pace, Pace{tokens, interval(d, r, lengths), r.LatencyCycles})
	}
	if err := c.Overflows(j.HW); err != nil {
		return err
	}
	slices.Reverse(c.Lengths.Pace)
	longest := c.Lengths.Pace[len(c.Lengths.Pace)-1]
	if c.Latency, c.II = longest.Latency, longest.Cycles; c.II > 0 && c.II != c.predicted {
		c.Warnings = append(c.Warnings, fmt.Sprintf("a frame of %d tokens takes %s cycles, %s were predicted", d.Lengths,
			diag.Number(c.II, -1), diag.Number(c.predicted, -1)))
	}
	c.pace(j.HW.Plan, j.promised())
	for i, seed := range j.Seeds {
		in := j.stalled(seed)
		if i == 0 {
			in.FSTFile = j.FST
		}
		r, _, err := run.of(ctx, j.Samples, want, in)
		if err != nil {
			return err
		}
		c.stalls(r)
		in.FSTFile = ""
		if r, _, err = run.of(ctx, j.drawnLengths(seed), nil, in); err != nil {
			return err
		}
		c.stalls(r)
	}
	c.unstalled(j)
	return nil
}

// leastFrames is how many frames of random lengths a run has at least.
const leastFrames = 24

// drawnLengths are the samples in random lengths, the shortest and the longest among them.
func (j *Job) drawnLengths(seed uint64) []ref.Sample {
	n, r := j.HW.Design.Lengths, rand.New(rand.NewPCG(seed, 11))
	return sized(j.HW.Scheduled, repeat(j.Samples, max(min(len(j.Samples), 2*leastFrames), leastFrames)), func(int) int {
		return []int{1, n, 1 + r.IntN(n), 1 + r.IntN(n)}[r.IntN(4)]
	})
}

// frameRun runs frames and compares what comes out.
type frameRun struct {
	c     *Check
	j     Job
	model *sim.Model
	nodes []*ir.Node
}

// of runs samples; want is what the reference makes of them, nil where nobody knows yet.
func (f frameRun) of(ctx context.Context, samples, want []ref.Sample, in sim.Input) (*sim.Result, []int, error) {
	g, d := f.j.HW.Scheduled, f.j.HW.Design
	lengths, err := lengthsOf(g, samples)
	if err != nil {
		return nil, nil, err
	}
	if want == nil {
		if want, err = Evaluate(ctx, g, samples); err != nil {
			return nil, nil, err
		}
	}
	run, err := sim.RunFrames(ctx, f.model, g, d, samples, lengths, in)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range lengths {
		if f.c.Lengths.Frames++; n < d.Lengths {
			f.c.Lengths.Short++
		}
	}
	return run.Result, lengths, f.c.compareFrames("rtl", f.nodes, lengths, want, run.Outputs)
}

// compareFrames is compare of the tokens that are there.
func (c *Check) compareFrames(engine string, nodes []*ir.Node, lengths []int, want, got []ref.Sample) error {
	before := c.Compared[engine]
	err := c.compare(engine, nodes, presentAll(nodes, want, lengths), presentAll(nodes, got, lengths))
	c.Compared[engine] = before
	for _, length := range lengths {
		for _, n := range nodes {
			if n.HW.Tokens > 0 {
				c.Compared[engine] += n.Type.OfToken() * length
			} else {
				c.Compared[engine] += n.Type.Elems()
			}
		}
	}
	return err
}

// interval is the mean distance of frames in the second half of a run, where they begin to leave the slowest output.
func interval(d *emit.Design, r *sim.Result, lengths []int) (cycles float64) {
	port := 0
	for _, p := range d.Ports {
		if p.Input {
			continue
		}
		first, at := []int(nil), 0
		for i, n := range lengths {
			if p.Tokens == 0 {
				at = i
			}
			first, at = append(first, r.Out[port].First[at]), at+n
		}
		if end := len(first) - 1; end > 0 {
			cycles = max(cycles, float64(first[end]-first[end/2])/float64(end-end/2))
		}
		port++
	}
	return cycles
}

// lengthsArray is the array for the mask n that file f lacks: made of an array called lengths, or, for a mask that the
// model does not have itself, of ones. nil: there is none.
func lengthsArray(g *ir.Graph, n *ir.Node, f *npz.File) (*npz.Array, error) {
	list, err := f.Get("lengths")
	if n.Name != float.LengthsMask || err != nil && !n.Attrs.(*ir.Input).Lengths {
		return nil, nil
	}
	samples := 0
	for _, other := range g.In {
		a, missing := f.Get(other.Name)
		if missing != nil {
			continue
		}
		if b, ok := batchOf(a.Shape, callerShape(other.Type.Shape, other.Attrs.(*ir.Input).Perm)); ok {
			samples = b.Samples
		}
	}
	size := n.Type.Elems()
	lengths := slices.Repeat([]int64{int64(size)}, samples)
	if err == nil {
		if lengths, err = list.Int64s(); err != nil {
			return nil, diag.At(err, diag.KeyMask, f.Path)
		}
	}
	if len(lengths) != samples {
		return nil, diag.New(diag.SampleCounts, f.Path, "array \"lengths\" holds %d samples, the others %d", len(lengths),
			samples)
	}
	mask := make([]float32, samples*size)
	for i, length := range lengths {
		if length < 1 || int(length) > size {
			return nil, diag.New(diag.KeyMask, f.Path, "array \"lengths\" says of sample %d that it has %d tokens", i, length).
				WithHint("frames have 1 to %d", size)
		}
		for t := range int(length) {
			mask[i*size+t] = 1
		}
	}
	a := npz.Float32Array(n.Name, append([]int{samples}, n.Type.Shape...), mask)
	return &a, nil
}
