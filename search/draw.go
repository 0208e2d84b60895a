// SPDX-License-Identifier: Apache-2.0

package search

import (
	"encoding/json"
	"slices"

	"lathe/internal/diag"
	"lathe/search/mt"
)

// draw makes all parameters of a trial: those that it has, those that somebody wants, the only value, what the sampler
// draws together, and what it draws alone, in this order.
func (s *Study) draw(h *History, d *Draft, have []Param, fixed map[string]json.RawMessage) ([]Param, error) {
	for attempt := range attempts {
		seed := Mix(s.Seed, d.Number+attempt<<32)
		s.Sampler.Reseed(seed)
		move := mover(seed, attempt-moving, len(s.Space))
		d.Trial, d.Study = nil, nil
		var relative Values
		if len(have) == 0 && len(fixed) < len(s.Space) {
			relative = s.Sampler.Relative(h, d)
		}
		var params []Param
		err := s.Space.Walk(func(p *Parameter) (float64, error) {
			value, err := s.value(h, d, p, have, fixed, relative)
			value = move(p.Dist, value)
			params = append(params, Param{p.Name, p.Dist, value})
			return value, err
		})
		_, old := s.known[digest(params)]
		if err != nil || !s.Fresh || !old || len(have)+len(fixed) > 0 || attempt == attempts-1 {
			return params, err
		}
	}
	return nil, nil // the last attempt has returned
}

// attempts are how often parameters are drawn until they are new; behind moving of them, some are moved.
const attempts, moving = 20, 3

// mover moves about so many of a number of parameters: numbers by a step, or anywhere, and choices to any.
func mover(seed uint32, count, parameters int) func(*Distribution, float64) float64 {
	if count <= 0 {
		return func(_ *Distribution, v float64) float64 { return v }
	}
	g := mt.New(seed)
	return func(d *Distribution, v float64) float64 {
		if d.Single() || g.Float64()*float64(parameters) >= float64(count) {
			return v
		}
		if d.Kind == Categorical {
			return float64(g.Choice(len(d.Choices)))
		}
		low, high := d.Bounds()
		if step := d.Step; step > 0 && g.Choice(2) == 0 {
			if g.Choice(2) == 0 {
				step = -step
			}
			return clip(v+step, d.Low, d.High)
		}
		return d.Nearest(g.Uniform(low, high))
	}
}

func (s *Study) value(h *History, d *Draft, p *Parameter, have []Param, fixed map[string]json.RawMessage,
	relative Values) (float64, error) {
	if i := slices.IndexFunc(have, func(q Param) bool { return q.Name == p.Name }); i >= 0 {
		return have[i].Value, nil
	}
	if raw, ok := fixed[p.Name]; ok {
		v, ok := p.Dist.Value(string(raw))
		if !ok {
			return 0, diag.New(diag.TrialValues, "", "trial %d: %s cannot be %s", d.Number, p.Name, raw).
				WithHint("it has %s", p.Dist.Range())
		}
		return v, nil
	}
	if p.Dist.Single() {
		return p.Dist.Low, nil
	}
	if v, ok := relative[p.Name]; ok && p.Dist.Contains(v) {
		return v, nil
	}
	return s.Sampler.Independent(h, d, p.Name, p.Dist), nil
}
