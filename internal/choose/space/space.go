// SPDX-License-Identifier: Apache-2.0

// Package space reads what a search may choose for a model, and tries what it chose: formats and widths by layer and
// slot become parameters of a study, and a trial of the study becomes a plan that is quantized, scheduled and run.
package space

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/internal/keys"
	"lathe/lower/plan"
	"lathe/search"
)

// Space is what a search may choose for the layers of a model, and what it aims at.
type Space struct {
	Study      StudyTable
	Objectives []Objective
	// Parameters are those of the study, in the order in which they are drawn.
	Parameters search.Space

	limits  []*limit
	choices []*choice
	slots   []slot
	pruned  bool
	epochs  int     // of training
	model   *models // nil: there is one
	rungs   []rung
}

// Trains says that weights of a trial are others than those of the model: pruned, trained, or of a new model.
func (s *Space) Trains() bool { return s.compresses() || s.model != nil }

// compresses says that weights are pruned, or trained when they are quantized.
func (s *Space) compresses() bool {
	return s.pruned || s.epochs > 0 || slices.ContainsFunc(s.rungs, func(r rung) bool { return r.trains })
}

// Epochs are those for which each trial is trained.
func (s *Space) Epochs() int { return s.epochs }

// slot is a place of a layer that gets the format of a choice.
type slot struct {
	node   string
	word   string
	choice *choice
}

// slotWords are those of rules of a plan.
var slotWords = []string{"weight", "data_out", "data_in", "bias"}

// has says that a layer has a slot.
func has(l *choose.Layer, word string) bool {
	switch word {
	case "weight", "bias":
		return l.Weights > 0
	case "data_in":
		return !l.Input
	}
	return true
}

// Read reads the text of a space for the layers of a study; file stands in messages. All mistakes are reported at once:
// L1101 for keys, layers, formats, objectives and limits that are not there, L05xx for impossible formats, L1102 for a
// space of one configuration.
func Read(file string, data []byte, t *choose.Meter) (*Space, error) {
	f, at, err := decode(file, data)
	if err != nil {
		return nil, err
	}
	r := &reader{meter: t, at: at, space: &Space{Study: f.Study}}
	r.objectives(f)
	for i := range f.Quantize {
		r.quantize(i, &f.Quantize[i])
	}
	r.trained(f)
	if len(f.Quantize) == 0 && f.Prune == nil && f.Model == nil {
		r.fail("quantize", fmt.Errorf("nothing can be chosen: add a table [[quantize]] with a list format"))
	}
	r.climbs(f)
	if f.Model != nil {
		r.space.Parameters = r.sizes(f.Model)
	}
	if err := r.errs.Err(); err != nil {
		return nil, err
	}
	s := r.space
	for _, c := range s.choices {
		s.Parameters = append(s.Parameters, c.parameters()...)
	}
	if f.Prune != nil {
		s.Parameters = append(s.Parameters, r.pruning(f.Prune)...)
		if err := r.errs.Err(); err != nil {
			return nil, err
		}
	}
	if s.Parameters.Size() == 0 {
		return nil, diag.New(diag.SpaceSize, file, "the space has one configuration: there is nothing to search").
			WithHint("give a slot several formats, or a range of widths: format = [\"fixed(4..8)\"]")
	}
	return s, nil
}

// reader collects what is wrong with a text.
type reader struct {
	meter *choose.Meter
	at    *keys.Lines
	space *Space
	errs  diag.List
}

// fail notes an error at a key; errors of the catalogue keep their codes.
func (r *reader) fail(key string, err error) {
	r.errs = r.errs.Add(err, diag.SpaceText, r.at.Pos(key))
}

// unknown is an error with the nearest of the words that there are.
func unknown(what, word string, words []string) error {
	err := diag.New(diag.SpaceText, "", "unknown %s %q", what, word)
	if near := diag.Nearest(word, words); near != "" {
		return err.WithHint("did you mean %q?", near)
	}
	return err.WithHint("use %s", diag.Several(words))
}

func (r *reader) objectives(f *file) {
	if len(f.Study.Objectives) == 0 {
		r.fail("study.objectives", fmt.Errorf("no objectives: write objectives = [\"accuracy max\", \"lut min\"]"))
	}
	for _, text := range f.Study.Objectives {
		o, err := readObjective(text)
		if err == nil {
			i := slices.IndexFunc(r.space.Objectives, func(p Objective) bool { return p.same(o.figure) })
			if i >= 0 && r.space.Objectives[i].name != o.name {
				err = fmt.Errorf("%s and %s are two names for one objective", r.space.Objectives[i].name, o.name)
			} else if i >= 0 {
				err = fmt.Errorf("two objectives are %s", o.name)
			}
		}
		if err == nil {
			err = r.needs(o.figure)
		}
		if err != nil {
			r.fail("study.objectives", err)
			continue
		}
		r.space.Objectives = append(r.space.Objectives, *o)
	}
	for _, name := range sortedKeys(f.Constraint) {
		l, err := readLimit(name, f.Constraint[name], &r.meter.Plan.Target.FPGA)
		if err == nil {
			err = r.needs(l.figure)
		}
		if err != nil {
			r.fail("constraint."+name, err)
			continue
		}
		r.space.limits = append(r.space.limits, l)
	}
}

// needs refuses a figure that cannot be measured here.
func (r *reader) needs(f *figure) error {
	switch {
	case f.name == "accuracy" && r.meter.Accuracy == nil:
		return diag.New(diag.SpaceText, "", "accuracy needs labels").WithHint("add --labels Y.npy, or use sqnr")
	case f.name == "score" && r.meter.On.Score == nil:
		return diag.New(diag.SpaceText, "", "score needs a metric").WithHint("add --metric and --labels")
	}
	return nil
}

// quantize adds the choices of table i.
func (r *reader) quantize(i int, q *quantizeTable) {
	path := fmt.Sprintf("quantize[%d]", i)
	var patterns []*pattern
	if len(q.Format) == 0 {
		r.fail(path, fmt.Errorf("[[quantize]] has no format: write format = [\"fixed(4..8)\"]"))
	}
	for _, text := range q.Format {
		p, err := readPattern(text)
		if err == nil && slices.ContainsFunc(patterns, func(o *pattern) bool { return o.text == p.text }) {
			err = fmt.Errorf("format %q stands twice", text)
		}
		if err != nil {
			r.fail(path+".format", err)
			continue
		}
		patterns = append(patterns, p)
	}
	words := q.Slot
	if len(words) == 0 {
		words = slotWords[:2]
	}
	for _, w := range words {
		if !slices.Contains(slotWords, w) {
			r.fail(path+".slot", unknown("slot", w, slotWords))
			return
		}
	}
	if q.Tie != "" && q.Tie != "all" {
		r.fail(path+".tie", unknown("tie", q.Tie, []string{"all"}))
		return
	}
	found, err := r.covered(q)
	if err != nil {
		r.fail(path+".name", err)
		return
	}
	r.add(q, found, words, patterns, path)
}

// covered are the layers that the keys of a table select.
func (r *reader) covered(q *quantizeTable) ([]int, error) {
	var found []int
	var names, ops []string
	for i, l := range r.meter.Layers {
		names = append(names, l.Node)
		if !slices.Contains(ops, l.Op) {
			ops = append(ops, l.Op)
		}
		if (q.Name == "" || plan.Glob(q.Name, l.Node)) && (q.Op == "" || q.Op == l.Op) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case q.Op != "" && !slices.Contains(ops, q.Op):
		return nil, unknown("op", q.Op, ops)
	}
	return nil, unknown("layer", q.Name, names)
}

// add gives the slots of layers a choice each, or one for all where they are tied. Slots that a table above has decided
// stay as they are.
func (r *reader) add(q *quantizeTable, layers []int, words []string, patterns []*pattern, path string) {
	s := r.space
	added := false
	for _, w := range words {
		var tied *choice
		for _, i := range layers {
			l := &r.meter.Layers[i]
			taken := slices.ContainsFunc(s.slots, func(o slot) bool { return o.node == l.Node && o.word == w })
			if !has(l, w) || taken {
				continue
			}
			c := tied
			if c == nil {
				c = &choice{prefix: l.Node + "." + w, patterns: patterns}
				if q.Tie != "" {
					c.prefix, tied = strings.Trim(q.Name, "*.")+"*."+w, c
				}
				s.choices = append(s.choices, c)
			}
			s.slots = append(s.slots, slot{l.Node, w, c})
			added = true
		}
	}
	if !added {
		r.fail(path, diag.New(diag.SpaceText, "", "it decides nothing: tables above have all of these slots, or no layer "+
			"has them").WithHint("put the table of the narrower name first"))
	}
}

// Plan is the plan of a configuration: that of the user, with the formats that were chosen.
func (s *Space) Plan(t *choose.Meter, params []search.Param) (*plan.Plan, error) {
	values := map[string]float64{}
	for _, p := range params {
		values[p.Name] = p.Value
	}
	formats := make([]map[string]string, len(t.Layers))
	for _, slot := range s.slots {
		i := slices.IndexFunc(t.Layers, func(l choose.Layer) bool { return l.Node == slot.node })
		if i < 0 {
			continue // a smaller model than the others
		}
		if formats[i] == nil {
			formats[i] = map[string]string{}
		}
		formats[i][slot.word] = slot.choice.format(values)
	}
	var list []plan.Assignment
	for i, f := range formats {
		if f == nil {
			continue
		}
		l := &t.Layers[i]
		list = append(list, l.Assign(f["weight"], f["data_out"])...)
		if f["data_in"] != "" || f["bias"] != "" {
			list = append(list, plan.Assignment{Node: l.Node, DataIn: f["data_in"], Bias: f["bias"]})
		}
	}
	p, err := t.Plan.Assigned("search", list)
	if err != nil || !s.compresses() {
		return p, err
	}
	p.Train.Epochs = s.epochs
	if s.pruned {
		s.prune(p, params)
	}
	return p, nil
}

// Directions are those of the objectives.
func (s *Space) Directions() []search.Direction {
	out := make([]search.Direction, len(s.Objectives))
	for i := range s.Objectives {
		out[i] = s.Objectives[i].Direction
	}
	return out
}

// Names are those of the objectives.
func (s *Space) Names() []string {
	out := make([]string, len(s.Objectives))
	for i := range s.Objectives {
		out[i] = s.Objectives[i].name
	}
	return out
}
