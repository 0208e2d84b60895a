// SPDX-License-Identifier: Apache-2.0

package space

import (
	"context"
	"slices"
	"strings"

	"lathe/internal/choose"
	"lathe/search"
)

// hopeless is after how many repairs in a row that bring the hardware no nearer to its limits there is none.
const hopeless = 4

// Repair makes a configuration whose hardware breaks a limit cheaper, at most so many times: one width after the other
// becomes a step less, the widest first, since a bit less costs least there; of equals that of the layer with the most
// weights. It is nil where the configuration keeps its limits, where they are kept by none that is found, and where
// hardware is not known before training.
func (s *Space) Repair(ctx context.Context, t *choose.Meter, params []search.Param, tries int) ([]search.Param, error) {
	if s.model != nil || s.pruned || !slices.ContainsFunc(s.limits, func(l *limit) bool { return l.hardware }) {
		return nil, nil
	}
	params = slices.Clone(params)
	idle, best := 0, 0.0
	for try := range tries + 1 {
		p, err := s.Plan(t, params)
		if err != nil {
			return nil, err
		}
		r, err := t.Try(ctx, p, hardware)
		if err != nil || r.Refused != "" {
			return nil, err
		}
		sum := 0.0
		for _, v := range s.violations(t, &r.Point, true) {
			sum += max(0, v)
		}
		switch {
		case sum == 0 && try == 0:
			return nil, nil
		case sum == 0:
			return params, nil
		case try == 0 || sum < best:
			idle, best = 0, sum
		default:
			idle++
		}
		i := s.widest(t, params)
		if i < 0 || idle == hopeless {
			return nil, nil
		}
		params[i].Value -= max(params[i].Dist.Step, 1)
	}
	return nil, nil
}

// widest is the place of the width that is lowered next; -1 where all are at their least.
func (s *Space) widest(t *choose.Meter, params []search.Param) int {
	at, weights := -1, 0
	for i, p := range params {
		if p.Dist.Kind != search.Int || p.Value-max(p.Dist.Step, 1) < p.Dist.Low || !width(p.Name) {
			continue
		}
		n := 0
		for _, l := range t.Layers {
			if strings.HasPrefix(p.Name, l.Node+".") {
				n = l.Weights
			}
		}
		if at < 0 || p.Value > params[at].Value || p.Value == params[at].Value && n > weights {
			at, weights = i, n
		}
	}
	return at
}

// width says that a number of a format is one of bits: not the place of the point, nor a bias.
func width(name string) bool {
	word := name[strings.LastIndex(name, ".")+1:]
	return word != "F" && !strings.HasPrefix(word, "bias") && !strings.HasPrefix(word, "k")
}
