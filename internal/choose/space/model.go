// SPDX-License-Identifier: Apache-2.0

package space

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/lower/plan"
	"lathe/search"
)

// models are new models of one architecture.
type models struct {
	epochs   int
	sizes    []size
	identity []string // layers that may be left out
}

// size is one that models may have in several values.
type size struct {
	name   string
	values []int
	set    func(*source.NewModel, int)
}

// name is that of the parameter.
func (s *size) parameter() string { return "model." + s.name }

// sizes are those of a table.
func (t *modelTable) sizes() []size {
	return []size{
		{"layers", t.Layers, func(m *source.NewModel, n int) { m.Layers = n }},
		{"heads", t.Heads, func(m *source.NewModel, n int) { m.Heads = n }},
		{"hidden", t.Hidden, func(m *source.NewModel, n int) { m.Hidden = n }},
		{"intermediate", t.Intermediate, func(m *source.NewModel, n int) { m.Intermediate = n }},
	}
}

// Largest is the model by whose layers a space is read: new, with as many as the space allows; nil for a space without
// [model]. Errors are those of Read, which finds them all.
func Largest(file string, data []byte) (*source.NewModel, error) {
	f, _, err := decode(file, data)
	if err != nil || f.Model == nil {
		return nil, err
	}
	m := &source.NewModel{}
	if len(f.Model.Layers) > 0 {
		m.Layers = slices.Max(f.Model.Layers)
	}
	return m, nil
}

// identities are what a layer that may be left out is.
var identities = []string{"linear", "identity"}

// identityName is the parameter that says whether a layer is there.
func identityName(layer string) string { return layer + ".kind" }

// sizes reads the table [model], and returns its parameters.
func (r *reader) sizes(t *modelTable) (out search.Space) {
	s := &models{sizes: slices.DeleteFunc(t.sizes(), func(s size) bool { return len(s.values) == 0 })}
	r.space.model = s
	switch {
	case r.meter.New == nil:
		r.fail("model", diag.New(diag.SpaceText, "", "new models need a folder of Hugging Face, and labels to train them").
			WithHint("pass the folder with config.json as MODEL, and --labels Y.npy"))
	case t.Epochs == nil || *t.Epochs < 1:
		r.fail("model.epochs", fmt.Errorf("new models are trained in floats: write epochs = 5"))
	default:
		s.epochs = *t.Epochs
	}
	for _, size := range s.sizes {
		var choices []string
		for i, n := range size.values {
			if n < 1 || slices.Contains(size.values[:i], n) {
				r.fail("model."+size.name, fmt.Errorf("%s = %v: different numbers of at least 1", size.name, size.values))
				break
			}
			choices = append(choices, strconv.Itoa(n))
		}
		out = append(out, search.Parameter{Name: size.parameter(), Dist: search.NewChoice(choices...)})
	}
	for _, pattern := range t.Identity {
		found := false
		for _, l := range r.meter.Layers {
			if !plan.Glob(pattern, l.Node) || !l.Square || slices.Contains(s.identity, l.Node) {
				continue
			}
			found = true
			s.identity = append(s.identity, l.Node)
			out = append(out, search.Parameter{Name: identityName(l.Node), Dist: search.NewWords(identities...)})
		}
		if !found {
			var names []string
			for _, l := range r.meter.Layers {
				if l.Square {
					names = append(names, l.Node)
				}
			}
			r.fail("model.identity", unknown("linear layer of as many outputs as inputs", pattern, names))
		}
	}
	return out
}

// depth is the place of a layer in the list of those that are alike, by the number in its name; -1 for one of no list.
func depth(layer string) int {
	for _, word := range strings.Split(layer, ".") {
		if n, err := strconv.Atoi(word); err == nil {
			return n
		}
	}
	return -1
}

// made is the meter of the model of a configuration, new and trained, or the one that there is.
func (s *Space) made(ctx context.Context, t *choose.Meter, params []search.Param) (*choose.Meter, error) {
	if s.model == nil {
		return t, nil
	}
	m := source.NewModel{Seed: t.Plan.Train.Seed}
	for _, p := range params {
		for _, size := range s.model.sizes {
			if p.Name == size.parameter() {
				size.set(&m, size.values[int(p.Value)])
			}
		}
	}
	deep := 0 // the layers of this one are among those of the largest
	for _, size := range s.model.sizes {
		if size.name == "layers" {
			deep = m.Layers
		}
	}
	for _, p := range params {
		i := slices.IndexFunc(s.model.identity, func(l string) bool { return p.Name == identityName(l) })
		if i >= 0 && p.Value == 1 && (deep == 0 || depth(s.model.identity[i]) < deep) {
			m.Identity = append(m.Identity, s.model.identity[i])
		}
	}
	return t.New(ctx, m, s.model.epochs)
}
