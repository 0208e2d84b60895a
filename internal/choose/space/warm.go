// SPDX-License-Identifier: Apache-2.0

package space

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"lathe/internal/choose"
	"lathe/internal/driver"
	"lathe/search"
)

// mostCandidates bounds the formats of a choice that are measured alone; of more, some between the ends are left out.
const mostCandidates = 16

// candidate is a format of a choice: the parameters that give it.
type candidate struct{ params []search.Param }

// candidates are the formats of a choice, those of each pattern from the least numbers to the greatest.
func (c *choice) candidates() (out []candidate) {
	space := c.parameters()
	for k, p := range c.patterns {
		numbers := [][]float64{nil}
		for _, r := range p.ranges {
			var longer [][]float64
			for _, list := range numbers {
				for v := r.from; v <= r.to; v += r.step {
					longer = append(longer, append(slices.Clone(list), float64(v)))
				}
			}
			numbers = longer
		}
		for _, list := range numbers {
			var one candidate
			if len(c.patterns) > 1 {
				one.add(space, c.formatName(), float64(k))
			}
			for i, v := range list {
				one.add(space, c.numberName(k, i), v)
			}
			out = append(out, one)
		}
	}
	if n := len(out); n > mostCandidates {
		thin := make([]candidate, mostCandidates)
		for i := range thin {
			thin[i] = out[i*(n-1)/(mostCandidates-1)]
		}
		return thin
	}
	return out
}

func (o *candidate) add(space search.Space, name string, v float64) {
	i := slices.IndexFunc(space, func(p search.Parameter) bool { return p.Name == name })
	o.params = append(o.params, search.Param{Name: name, Dist: space[i].Dist, Value: v})
}

// Foresight is how many plans Warm measures at most.
func (s *Space) Foresight() (n int) {
	for _, c := range s.choices {
		k := len(c.candidates())
		if n += k; len(c.patterns) > 1 {
			n += k
		}
	}
	return n
}

// Warm proposes at most so many configurations to begin with, as JSON values of parameters, from the cheapest to the
// best, and says how many plans it has measured. Each choice is measured alone, the others at their best, and a
// knapsack over budgets (choose.Knapsack) adds up the noise at the outputs and the cost. The cost is that of the first
// objective that hardware decides, or the bits of the constants. Nothing where weights are trained or pruned, which
// noise does not foresee.
func (s *Space) Warm(ctx context.Context, t *choose.Meter, most int, p driver.Progress) (
	out []map[string]json.RawMessage, measured int, err error) {
	if s.Trains() || most == 0 {
		return nil, 0, nil
	}
	w := warming{space: s, meter: t, cost: figureOf("bits"), known: map[string]choose.Option{}}
	for i := range s.Objectives {
		if s.Objectives[i].hardware {
			w.cost = s.Objectives[i].figure
			break
		}
	}
	total := 0
	for _, c := range s.choices {
		w.all = append(w.all, c.candidates())
		total += len(w.all[len(w.all)-1])
	}
	if err := w.best(ctx); err != nil {
		return nil, 0, err
	}
	items, done := make([][]choose.Option, len(w.all)), 0
	for i, list := range w.all {
		for k := range list {
			o, err := w.measure(ctx, i, k)
			if err != nil {
				return nil, 0, err
			}
			items[i] = append(items[i], o)
			done++
			if p != nil {
				p("warm start", done, total)
			}
		}
	}
	picks := choose.Knapsack(items)
	for n := range min(most, len(picks)) {
		at := n
		if most < len(picks) && most > 1 {
			at = n * (len(picks) - 1) / (most - 1)
		}
		values := map[string]json.RawMessage{}
		for _, q := range w.params(picks[at]) {
			values[q.Name] = json.RawMessage(q.Dist.JSON(q.Value))
		}
		out = append(out, values)
	}
	return out, len(w.known), nil
}

// warming measures candidates one choice at a time.
type warming struct {
	space *Space
	meter *choose.Meter
	cost  *figure
	all   [][]candidate
	base  []int                    // the candidate of each choice while another one is measured
	known map[string]choose.Option // by picks: the base is a candidate of each choice
}

// params are those of a configuration.
func (w *warming) params(picks []int) (out []search.Param) {
	for i, k := range picks {
		out = append(out, w.all[i][k].params...)
	}
	return out
}

// best begins with the last candidate of each choice, and then takes for each the one with the least noise.
func (w *warming) best(ctx context.Context) error {
	for _, list := range w.all {
		w.base = append(w.base, len(list)-1)
	}
	for i, list := range w.all {
		if len(w.space.choices[i].patterns) == 1 {
			continue // wider is better
		}
		least, at := math.Inf(1), w.base[i]
		for k := range list {
			o, err := w.measure(ctx, i, k)
			if err != nil {
				return err
			}
			if o.Loss < least {
				least, at = o.Loss, k
			}
		}
		w.base[i] = at
	}
	return nil
}

// measure is what candidate k of choice i costs and loses, the others being as the base has them; of infinite loss
// where it is refused.
func (w *warming) measure(ctx context.Context, i, k int) (o choose.Option, err error) {
	picks := slices.Clone(w.base)
	picks[i] = k
	key := fmt.Sprint(picks)
	o, known := w.known[key]
	if !known {
		if o, err = w.try(ctx, picks); err == nil {
			w.known[key] = o
		}
	}
	return o, err
}

// try measures a configuration.
func (w *warming) try(ctx context.Context, picks []int) (choose.Option, error) {
	refused := choose.Option{Loss: math.Inf(1)}
	p, err := w.space.Plan(w.meter, w.params(picks))
	if err != nil {
		return refused, err
	}
	r, err := w.meter.Try(ctx, p, func(*choose.Point) bool { return true })
	if err != nil || r.Refused != "" {
		return refused, err
	}
	cost, ok := w.cost.of(w.meter, &r.Point)
	switch {
	case !ok:
		return refused, nil
	case r.SQNR != nil:
		return choose.Option{Cost: cost, Loss: choose.Noise(*r.SQNR)}, nil
	case r.Accuracy != nil:
		return choose.Option{Cost: cost, Loss: 1 - *r.Accuracy}, nil
	}
	return refused, nil
}
