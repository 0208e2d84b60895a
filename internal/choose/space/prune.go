// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"lathe/internal/diag"
	"lathe/lower/plan"
	"lathe/search"
)

// Names of the parameters of pruning.
const (
	sparsityName = "prune.sparsity"
	methodName   = "prune.method"
)

// trained reads whether trials are trained or pruned, for which there must be labels.
func (r *reader) trained(f *file) {
	if f.Train != nil {
		switch {
		case f.Train.Epochs == nil:
			r.fail("train", fmt.Errorf("[train] has no epochs: write epochs = 3"))
		case *f.Train.Epochs < 0:
			r.fail("train.epochs", fmt.Errorf("epochs = %d: 0 or more", *f.Train.Epochs))
		default:
			r.space.epochs = *f.Train.Epochs
		}
	}
	r.space.pruned = f.Prune != nil
	if r.space.Trains() && r.meter.Train == nil {
		path := "train"
		if r.space.epochs == 0 {
			path = "prune"
		}
		r.fail(path, diag.New(diag.SpaceText, "", "trials that are pruned or trained need labels of the samples of --data").
			WithHint("add --labels Y.npy"))
	}
}

var shares = regexp.MustCompile(`^\s*([0-9.]+?)\s*(?:\.\.\s*([0-9.]+?)\s*(?::\s*([0-9.]+))?)?\s*$`)

// pruning are the parameters of pruning: how much, and where there are several, by what.
func (r *reader) pruning(t *pruneTable) (out search.Space) {
	wrong := func() {
		r.fail("prune.sparsity", fmt.Errorf("sparsity = %q: write a share of zeros or a range of shares, \"0.5\" or "+
			"\"0..0.9:0.1\"", t.Sparsity))
	}
	m := shares.FindStringSubmatch(t.Sparsity)
	if m == nil {
		wrong()
		return nil
	}
	var n [3]float64
	for i, text := range m[1:] {
		v, err := strconv.ParseFloat(text, 64)
		if text != "" && err != nil {
			wrong()
			return nil
		}
		n[i] = v
	}
	if m[2] == "" {
		n[1] = n[0]
	}
	if n[0] > n[1] || n[1] >= 1 {
		wrong()
		return nil
	}
	out = search.Space{{Name: sparsityName, Dist: search.NewFloat(n[0], n[1], n[2], false)}}
	for i, word := range t.Method {
		if !slices.Contains(plan.PruneWords, word) {
			r.fail("prune.method", unknown("method", word, plan.PruneWords))
		} else if slices.Contains(t.Method[:i], word) {
			r.fail("prune.method", fmt.Errorf("method %q stands twice", word))
		}
	}
	if len(t.Method) > 0 {
		out = append(out, search.Parameter{Name: methodName, Dist: search.NewWords(t.Method...)})
	}
	return out
}

// prune has a plan prune as a configuration says; what that leaves open is as the plan has it.
func (s *Space) prune(p *plan.Plan, params []search.Param) {
	if !p.Prune.Given {
		p.Prune = plan.Prune{Given: true, Method: plan.PruneWords[0], Scope: plan.ScopeWords[0],
			Schedule: plan.PruneSchedules[0], Activation: p.Prune.Activation}
	}
	p.Prune.N, p.Prune.M = 0, 0
	for _, q := range params {
		switch q.Name {
		case sparsityName:
			p.Prune.Sparsity = q.Value
		case methodName:
			p.Prune.Method, _ = strconv.Unquote(q.Dist.Choices[int(q.Value)]) // written by NewWords
		}
	}
}
