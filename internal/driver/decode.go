// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"lathe/emit"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/plan"
	"lathe/lower/schedule"
	"lathe/sim"
)

// Decoding is what verify found of a decoder.
type Decoding struct {
	// Tokens is the most of a sequence, Prefill how many came at once in the first one; the others came each when the
	// outputs of those before had been seen.
	Tokens  int `json:"tokens"`
	Prefill int `json:"prefill"`
	// PrefillCycles are from the first token in to the last output of these; TokenCycles from one of the others in to its
	// last output, MostCycles those of the slowest.
	PrefillCycles int     `json:"prefill_cycles"`
	TokenCycles   float64 `json:"token_cycles"`
	MostCycles    int     `json:"token_cycles_most"`
	// Sequences counts those of all runs, Short those that ended early, Surplus the tokens for which there was no room.
	Sequences int `json:"sequences"`
	Short     int `json:"short"`
	Surplus   int `json:"surplus"`
	// Cache is what crosses the port to a memory outside for keys and values; nil: they are on the chip.
	Cache *emit.Cache `json:"cache,omitempty"`
}

// transformer is s.Transformer; of a decoder, whose caches are on the chip and no part of the graph, with as many
// tokens as they have room for. Error L0435.
func (s Source) transformer(p *plan.Plan) (source.Transformer, error) {
	t := s.Transformer
	switch {
	case !p.Decode:
	case t.Cache || t.Past > 0:
		return t, diag.New(diag.NoDecoder, s.Model, "caches outside of the chip (--past) have no hardware in this version").
			WithHint("leave --past out: a decoder keeps keys and values of --max-seq tokens on the chip")
	case t.Room > 0 && t.Seq > 0 && t.Seq != t.Room:
		return t, diag.New(diag.NoDecoder, s.Model, "a decoder takes up to %d tokens (--max-seq), and not just %d (--seq)",
			t.Room,
			t.Seq).WithHint("leave --seq out")
	case t.Room > 0:
		t.Seq, t.Room = t.Room, 0
	}
	return t, nil
}

// DefaultPrefill is how many tokens of a decoder are measured as its prompt unless something else is asked for.
func DefaultPrefill(tokens int) int { return max(tokens/5, 1) }

// decoder checks that the scheduled graph is one, and holds promises to sequences: they do not overlap.
func (h *Hardware) decoder(ctx context.Context) (err error) {
	n, err := schedule.DecodeTokens(h.Scheduled)
	if err != nil {
		return err
	}
	if h.decode, err = schedule.CheckDecode(ctx, h.Scheduled, &h.units, DefaultPrefill(n)); err != nil {
		return err
	}
	if h.Schedule != nil {
		h.Schedule.Measured = h.decode.Cycles
		if b := h.Schedule.Balance; b != nil {
			b.Cycles, b.Reached = h.decode.Cycles, b.ClockMHz*1e6/h.decode.Cycles
		}
	}
	return nil
}

// Decoder is what a run without values says of a decoder; nil of other designs.
func (h *Hardware) Decoder() *schedule.Decode { return h.decode }

// kinds are a sequence of each kind, for samples 0 to 2: a prompt and then tokens one by one, one that ends early, and
// one that is too long. Decoders have at least two tokens.
func kinds(tokens, prefill int) []sim.Sequence {
	return []sim.Sequence{{Sample: 0, Tokens: tokens, Prefill: prefill},
		{Sample: 1, Tokens: tokens / 2, Prefill: max(tokens/4, 1)},
		{Sample: 2, Tokens: tokens, Prefill: tokens + 2, Surplus: 2}}
}

// measured are the sequences of the run without stalls: one of each kind, of which the first is measured token by
// token, one of a single token, and two whole ones at once, which show how far apart sequences are.
func (j *Job) measured(prefill int) []sim.Sequence {
	n := j.HW.Design.Tokens
	list := append(kinds(n, prefill), sim.Sequence{Sample: 3, Tokens: 1, Prefill: 1},
		sim.Sequence{Sample: 0, Tokens: n, Prefill: n}, sim.Sequence{Sample: 1, Tokens: n, Prefill: n})
	for i := range list {
		list[i].Sample %= len(j.Samples)
	}
	return list
}

// drawn are sequences of random lengths, at least one for each sample.
func (j *Job) drawn(prefill int, seed uint64) []sim.Sequence {
	n, r := j.HW.Design.Tokens, rand.New(rand.NewPCG(seed, 7))
	list := []sim.Sequence{{Sample: 0, Tokens: n, Prefill: prefill}}
	for i := 1; i < max(len(j.Samples), 4); i++ {
		s := sim.Sequence{Sample: i % len(j.Samples), Tokens: 1 + r.IntN(n)}
		if s.Prefill = 1 + r.IntN(s.Tokens); r.IntN(4) == 0 {
			s.Tokens, s.Surplus, s.Prefill = n, 1+r.IntN(3), n+3
		}
		list = append(list, s)
	}
	return list
}

// sequences measures a decoder and compares it, without stalls and with them, with the whole causal model.
func (c *Check) sequences(ctx context.Context, j Job, model *sim.Model, want []ref.Sample, nodes []*ir.Node) error {
	prefill := j.Prefill
	if prefill == 0 {
		prefill = DefaultPrefill(j.HW.Design.Tokens)
	}
	c.Decode = &Decoding{Tokens: j.HW.Design.Tokens, Prefill: prefill}
	if m := j.HW.Design.Memory; m != nil {
		c.Decode.Cache = m.Cache
	}
	list := j.measured(prefill)
	in := sim.Input{Occupancy: len(c.Fifos) > 0, MaxIdle: j.patience(), Warm: loading(j.HW.Design)}
	run, err := c.sequence(ctx, j, model, want, nodes, list, in)
	if err != nil {
		return err
	}
	watch(c.Fifos, run.Result, true)
	if err := c.Overflows(j.HW); err != nil {
		return err
	}
	c.timeTokens(run.Result, list)
	c.heldTo(j.HW.decode)
	c.pace(j.HW.Plan, j.promised())
	for i, seed := range j.Seeds {
		in := j.stalled(seed)
		if i == 0 {
			in.FSTFile = j.FST
		}
		run, err := c.sequence(ctx, j, model, want, nodes, j.drawn(prefill, seed), in)
		if err != nil {
			return err
		}
		c.stalls(run.Result)
	}
	c.unstalled(j)
	return nil
}

// heldTo compares what was measured without stalls with what a run without values says; where that is a lower bound,
// a memory that never stalls may add a tenth.
func (c *Check) heldTo(d *schedule.Decode) {
	took, predicted := fmt.Sprintf("a sequence takes %s cycles", diag.Number(c.II, -1)), diag.Number(d.Cycles, -1)
	switch {
	case !d.AtLeast && c.II != d.Cycles || c.II < d.Cycles:
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s, %s were predicted", took, predicted))
	case c.II > d.Cycles*(1+portSlack):
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s, at least %s were predicted: units wait for the memory port", took,
			predicted))
	}
}

// sequence runs sequences and compares the outputs of their tokens, and the status outputs.
func (c *Check) sequence(ctx context.Context, j Job, model *sim.Model, want []ref.Sample, nodes []*ir.Node,
	list []sim.Sequence, in sim.Input) (*sim.TokenRun, error) {
	run, err := sim.RunSequences(ctx, model, j.HW.Design, j.Samples, want, list, in)
	if err != nil {
		return nil, err
	}
	if err := status(j, run, list); err != nil {
		return nil, err
	}
	for _, s := range list {
		c.Decode.Sequences++
		if c.Decode.Surplus += s.Surplus; s.Tokens < j.HW.Design.Tokens {
			c.Decode.Short++
		}
	}
	return run, c.compareTokens("rtl", j, nodes, list, run)
}

// compareTokens is compare of the tokens of sequences.
func (c *Check) compareTokens(engine string, j Job, nodes []*ir.Node, list []sim.Sequence, run *sim.TokenRun) error {
	before := c.Compared[engine]
	if err := c.compare(engine, nodes, run.Want, run.Outputs); err != nil {
		return err
	}
	tokens := 0
	for _, s := range list {
		tokens += s.Tokens
	}
	c.Compared[engine] = before + outputs(j.HW.Scheduled, 1)/j.HW.Design.Tokens*tokens
	return nil
}

// timeTokens takes the times of the first sequence, and the distance of the last two, which are whole.
func (c *Check) timeTokens(r *sim.Result, list []sim.Sequence) {
	d, frame, sum := c.Decode, 0, 0
	in, last := r.FirstIn, r.LastOut
	d.PrefillCycles = last[d.Prefill-1] - in[0]
	for t := d.Prefill; t < d.Tokens; t++ {
		cycles := last[t] - in[t]
		sum, d.MostCycles = sum+cycles, max(d.MostCycles, cycles)
	}
	if d.Tokens > d.Prefill {
		d.TokenCycles = float64(sum) / float64(d.Tokens-d.Prefill)
	}
	for _, s := range list[:len(list)-2] {
		frame += s.Tokens + s.Surplus
	}
	c.Latency, c.II = r.LatencyCycles, float64(in[frame+d.Tokens]-in[frame])
}

// status compares position and error, at each beat that was taken, with what the sequences make of them.
func status(j Job, run *sim.TokenRun, list []sim.Sequence) error {
	if run.Position == nil {
		return nil
	}
	n, beats, at, wrong := j.HW.Design.Tokens, j.HW.Design.Ports[0].Beats/j.HW.Design.Tokens, 0, int64(0)
	for i, s := range list {
		for k := range s.Tokens + s.Surplus {
			for b := range beats {
				if at >= len(run.Position) || run.Position[at] != int64(min(k, n)) || run.Error[at] != wrong {
					return diag.New(diag.StreamRules, j.HW.Design.Top,
						"sequence %d: at token %d position and error are not %d and %d", i, k,
						min(k, n), wrong)
				}
				if at++; k >= n {
					wrong = 1
				} else if k == 0 && b == 0 {
					wrong = 0
				}
			}
		}
	}
	return nil
}

// Filled is f with sequences as long as those of a decoder: of an array with fewer tokens they are repeated. tokens is
// how many it had, 0 where f stays as it is. The outputs of a causal model for these do not depend on what follows.
func Filled(g *ir.Graph, plan *plan.Plan, f *npz.File) (filled *npz.File, tokens int) {
	if !plan.Decode || len(g.In) != 1 || g.In[0].Attrs.(*ir.Input).Perm != nil {
		return f, 0
	}
	shape, a := g.In[0].Type.Shape, arrayOf(g, g.In[0], f)
	axis := slices.IndexFunc(shape, func(size int) bool { return size > 1 })
	if a == nil || axis < 0 {
		return f, 0
	}
	for _, at := range []int{axis, axis + 1} { // with a leading axis that counts samples
		if at >= len(a.Shape) || a.Shape[at] == 0 || a.Shape[at] >= shape[axis] {
			continue
		}
		long := a.Along(at, shape[axis])
		if _, ok := batchOf(long.Shape, shape); ok {
			return &npz.File{Path: f.Path, Arrays: []npz.Array{long}}, a.Shape[at]
		}
	}
	return f, 0
}

// FilledNote says what Filled did.
func FilledNote(f *npz.File, tokens int, g *ir.Graph) string {
	return fmt.Sprintf("%s has sequences of %d tokens, which are repeated to the %d of the decoder", filepath.Base(f.Path),
		tokens, g.In[0].Type.Tokens())
}

// FirstTokens cuts what a decoder gave for the tokens that Filled added off the arrays of its outputs.
func FirstTokens(g *ir.Graph, arrays []npz.Array, tokens int) {
	for _, o := range g.Out {
		axis := slices.IndexFunc(o.Node.Type.Shape, func(size int) bool { return size > 1 })
		for i := range arrays {
			a := &arrays[i]
			of := a.Name == o.Name || a.Name == o.Name+"_scale"
			if at := axis + len(a.Shape) - len(o.Node.Type.Shape); of && o.Perm == nil && axis >= 0 {
				*a = a.Along(at, tokens)
			}
		}
	}
}
