// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens"
)

// DecodeTokens is how many tokens a sequence of a decoder has at most: those of the input of g. Error L0435 where g has
// several inputs, or ends in a value that does not have as many.
func DecodeTokens(g *ir.Graph) (int, error) {
	if len(g.In) > 1 {
		return 0, g.In[1].Errorf(diag.NoDecoder, "a decoder has one input, the tokens, and %q is another", g.In[1].Name).
			WithHint("caches stand on the chip, and sequences of any length need no padding that a mask would hide: "+
				"--model-inputs %s, without --past", g.In[0].Name)
	}
	n := g.In[0].Type.Tokens()
	if n < 2 {
		return 0, g.In[0].Errorf(diag.NoDecoder, "input %q is %s: a sequence has at least 2 tokens", g.In[0].Name,
			ir.ShapeString(g.In[0].Type.Shape)).WithHint("choose the most tokens of a sequence: --max-seq 64")
	}
	for _, o := range append([]ir.Output{{Name: g.In[0].Name, Node: g.In[0]}}, g.Out...) {
		beats := o.Node.Type.Elems() / max(o.Node.HW.OutLanes, 1)
		if got := o.Node.Type.Tokens(); got != n || beats%n != 0 {
			return 0, o.Node.Errorf(diag.NoDecoder, "%q is %s in %d beats, which are not those of %d tokens", o.Name,
				ir.ShapeString(o.Node.Type.Shape), beats, n).
				WithHint("a decoder gives something for each token: end the model before what joins them (--outputs), or " +
					"leave decode out where nothing has tokens")
		}
	}
	for _, o := range g.Out {
		x := o.Node
		for len(x.Args) == 1 && (x.Op.Traits.Wire || x.HW.Branches > 0) {
			x = x.Args[0]
		}
		if x.Op.Traits.Source {
			return 0, o.Node.Errorf(diag.NoDecoder, "output %q is the input itself, which no unit takes in", o.Name).
				WithHint("leave this output out: --outputs")
		}
	}
	return n, nil
}

// markDecoder marks the units of a decoder. Error L0435 for plans under which none is.
func markDecoder(s *stage, g *ir.Graph) error {
	if !s.plan.Decode {
		return nil
	}
	if s.plan.Fold.FPS > 0 {
		return diag.New(diag.NoDecoder, g.Name, "fps counts whole samples, and the tokens of a decoder come when they come").
			WithHint("choose lanes by max_lut, max_ff, max_dsp and max_bram, or by [[fold.rule]]")
	}
	for _, n := range g.Nodes {
		n.HW.Decode = !n.IsConst()
	}
	return nil
}

// Decode is what a run without values says of a decoder.
type Decode struct {
	// Tokens is the most of a sequence.
	Tokens int `json:"tokens"`
	// Prefill is how many of them were sent without waiting, First the cycles from the first token in to the last output
	// of these, and Token the most cycles from one of the others in to its last output.
	Prefill int `json:"prefill"`
	First   int `json:"prefill_cycles"`
	Token   int `json:"token_cycles"`
	// Cycles is from the first token of a sequence of all tokens at once to that of the next sequence.
	Cycles float64 `json:"sequence_cycles"`
	// AtLeast says that all cycles are lower bounds: a memory outside decides how much longer it takes.
	AtLeast bool `json:"at_least,omitempty"`
}

// CheckDecode demands of a scheduled graph that it gives the outputs of each token before it takes the next one: then
// a sequence may end after any token, and may come token by token. Error L0435 names what holds tokens back.
func CheckDecode(ctx context.Context, g *ir.Graph, units *unit.Cache, prefill int) (*Decode, error) {
	g = ring.Units(g)
	n, err := DecodeTokens(g)
	if err != nil {
		return nil, err
	}
	d := &Decode{Tokens: n, Prefill: min(max(prefill, 1), n)}
	steps, err := tokens.Lockstep(ctx, g, units, n, d.Prefill)
	if err == nil && d.Prefill > 1 {
		_, err = tokens.Lockstep(ctx, g, units, n, 1)
	}
	if err != nil {
		return nil, err
	}
	whole, err := tokens.Lockstep(ctx, g, units, n, n)
	if err != nil {
		return nil, err
	}
	for i := range g.Out {
		d.First = max(d.First, steps.Last[i][d.Prefill-1]-steps.In[0][0])
		for t := d.Prefill; t < n; t++ {
			d.Token = max(d.Token, steps.Last[i][t]-steps.In[0][t])
		}
		d.Cycles = max(d.Cycles, float64(whole.Last[i][n-1]-whole.In[0][0]+resetCycles))
	}
	return d, d.outside(g, units)
}

// resetCycles pass from the last output of a sequence to the first token of the next: see stream_session.
const resetCycles = 3

// cacheOutside refuses plans under which keys and values cannot lie outside of the chip. Error L0436.
func cacheOutside(s *stage, g *ir.Graph) error {
	m := &s.plan.Fold.Memory
	if m.Cache != "external" || s.plan.Decode {
		return nil
	}
	return diag.New(diag.CacheOutside, g.Name,
		"cache = \"external\": only decoders have a cache, and this design takes samples").
		WithNote("set by %s", m.CacheFrom).WithHint("make a decoder of the model: --decode, or decode = true in [sequence]")
}

// outside holds what is promised of a decoder to what crosses its memory port, a beat a cycle: keys and values for the
// last token and for all, and weights that come each time.
func (d *Decode) outside(g *ir.Graph, units *unit.Cache) error {
	token, all, turns := 0, 0, ring.Turns(g)
	for _, n := range g.Nodes {
		if n.HW.Cache == "" && n.HW.Weights == "" {
			continue
		}
		u, err := units.Of(n)
		if err != nil {
			return err
		}
		d.AtLeast = d.AtLeast || u.Cache != nil || u.Weights != nil && !u.Weights.Checked()
		if u.Cache != nil {
			token, all = token+u.Cache.Reads(d.Tokens), all+u.Cache.Sequence()
		}
		weights := unit.Traffic(n, u, turns[n])
		token, all = token+weights/d.Tokens, all+weights
	}
	if d.Prefill < d.Tokens {
		d.Token = max(d.Token, token)
	}
	d.Cycles = max(d.Cycles, float64(all))
	return nil
}
