// SPDX-License-Identifier: Apache-2.0

// Package search runs studies: it asks a sampler for the parameters of a trial, keeps trials in a storage, and tells of
// the best. What a trial is worth, somebody else measures: nothing here knows a model, a flag or a clock. Storages,
// samplers and pruners are those of Optuna, whose programs may work on the same study.
package search

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// Direction says which values of an objective are better.
type Direction uint8

// The directions, by the numbers of Optuna's files.
const (
	Minimize Direction = iota + 1
	Maximize
)

// String is the word of Optuna.
func (d Direction) String() string {
	if d == Maximize {
		return "MAXIMIZE"
	}
	return "MINIMIZE"
}

// State is how far a trial is.
type State uint8

// The states, by the numbers of Optuna's files.
const (
	Running State = iota
	Complete
	Pruned
	Fail
	Waiting
)

// States are the words of Optuna, in the order of the constants.
var States = []string{"RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"}

// String is the word of Optuna.
func (s State) String() string { return States[s] }

// Finished says that a trial in this state does not change any more.
func (s State) Finished() bool { return s == Complete || s == Pruned || s == Fail }

// Param is the value of a parameter; see Distribution.
type Param struct {
	Name  string
	Dist  *Distribution
	Value float64
}

// Step is a value that a trial reported on its way.
type Step struct {
	Step  int
	Value float64
}

// Attributes are JSON values by name.
type Attributes map[string]json.RawMessage

// Attr is one attribute of a study or a trial: of the user, or of the system where samplers and pruners keep theirs.
type Attr struct {
	System bool
	Key    string
	Value  json.RawMessage
}

// Trial is one try of a study.
type Trial struct {
	ID     int64 // unique in its storage
	Number int   // from 0, in its study
	State  State
	Params []Param // in the order in which they were suggested
	// Values are one for each objective, of Complete trials.
	Values       []float64
	Steps        []Step // rising
	User, System Attributes
	// Start and End are zero where they are not known.
	Start, End time.Time
}

// Param is the parameter of a name, or nil.
func (t *Trial) Param(name string) *Param {
	if i := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == name }); i >= 0 {
		return &t.Params[i]
	}
	return nil
}

// Attribute is one of the user or of the system; nil where there is none.
func (t *Trial) Attribute(system bool, key string) json.RawMessage {
	if system {
		return t.System[key]
	}
	return t.User[key]
}

// Clone is a copy that may be changed.
func (t *Trial) Clone() *Trial {
	c := *t
	c.Params, c.Values, c.Steps = slices.Clone(t.Params), slices.Clone(t.Values), slices.Clone(t.Steps)
	c.User, c.System = t.User.clone(), t.System.clone()
	return &c
}

func (a Attributes) clone() Attributes {
	c := make(Attributes, len(a))
	for k, v := range a {
		c[k] = v
	}
	return c
}

// List is the attributes in the order of their keys, of the system or of the user.
func (a Attributes) List(system bool) (out []Attr) {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		out = append(out, Attr{system, key, a[key]})
	}
	return out
}

// Set adds or replaces an attribute.
func (t *Trial) Set(a Attr) {
	of := &t.User
	if a.System {
		of = &t.System
	}
	if *of == nil {
		*of = Attributes{}
	}
	(*of)[a.Key] = a.Value
}

// SetParam adds or replaces a parameter.
func (t *Trial) SetParam(p Param) {
	if old := t.Param(p.Name); old != nil {
		*old = p
		return
	}
	t.Params = append(t.Params, p)
}

// Report adds or replaces the value of a step.
func (t *Trial) Report(s Step) {
	i, found := slices.BinarySearchFunc(t.Steps, s.Step, func(a Step, step int) int { return a.Step - step })
	if found {
		t.Steps[i] = s
		return
	}
	t.Steps = slices.Insert(t.Steps, i, s)
}

// constraintKey is where both 4.x and 5.x of Optuna read the list of constraints: numbers, more than 0 where violated.
const constraintKey = "constraints"

// Constraints are how far each limit is broken, 0 or less where it holds; nil where nothing says so. Optuna 5 keeps
// them one by one, as attributes of a prefix.
func (t *Trial) Constraints() []float64 {
	var list []float64
	if raw, ok := t.System[constraintKey]; ok && json.Unmarshal(raw, &list) != nil {
		list = nil
	}
	var names []string
	for key := range t.System {
		if strings.HasPrefix(key, constraintKey+":") {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	for _, key := range names {
		var v float64
		if json.Unmarshal(t.System[key], &v) == nil {
			list = append(list, v)
		}
	}
	return list
}

// Feasible says that no limit is broken.
func (t *Trial) Feasible() bool {
	return !slices.ContainsFunc(t.Constraints(), func(c float64) bool { return c > 0 })
}

// ConstraintAttr is the attribute that Constraints reads.
func ConstraintAttr(list []float64) Attr {
	return Attr{System: true, Key: constraintKey, Value: Encode(list)}
}

// Encode is a value as JSON; it is made of what always has a JSON form.
func Encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic("search: " + err.Error())
	}
	return data
}
