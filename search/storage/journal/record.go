// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/search"
)

// op is what a record does, by Optuna's numbers.
type op int

const (
	createStudy op = iota
	deleteStudy
	studyUserAttr
	studySystemAttr
	createTrial
	trialParam
	trialState
	trialStep
	trialUserAttr
	trialSystemAttr
	discardTrials
)

// number is a float that Python wrote: NaN and infinities come as texts, see plain.
type number float64

// UnmarshalJSON reads a number, or the words of Python for those that are none.
func (n *number) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	if text == "null" {
		*n = number(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	*n = number(v)
	return err
}

// fields is a JSON object whose order is kept.
type fields []field

type field struct {
	key   string
	value json.RawMessage
}

// UnmarshalJSON reads an object.
func (f *fields) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return err
		}
		*f = append(*f, field{key.(string), v})
	}
	return nil
}

// record is a line of the file.
type record struct {
	Op          *op                `json:"op_code"`
	Study       search.StudyID     `json:"study_id"`
	Trial       int64              `json:"trial_id"`
	StudyName   string             `json:"study_name"`
	Directions  []search.Direction `json:"-"`
	Ways        []int              `json:"directions"`
	UserAttr    search.Attributes  `json:"user_attr"`
	SystemAttr  search.Attributes  `json:"system_attr"`
	State       *search.State      `json:"state"`
	Value       *number            `json:"value"`
	Values      []number           `json:"values"`
	Start       *string            `json:"datetime_start"`
	End         *string            `json:"datetime_complete"`
	Dists       json.RawMessage    `json:"distributions"`
	Params      map[string]float64 `json:"params"`
	UserAttrs   search.Attributes  `json:"user_attrs"`
	SystemAttrs search.Attributes  `json:"system_attrs"`
	Reports     map[string]number  `json:"intermediate_values"`
	ParamName   string             `json:"param_name"`
	ParamValue  number             `json:"param_value_internal"`
	Dist        string             `json:"distribution"`
	Step        int                `json:"step"`
	StepValue   number             `json:"intermediate_value"`
}

// parse reads a line.
func parse(line []byte) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(plain(line), r); err != nil {
		return nil, err
	}
	if r.Op == nil {
		return nil, fmt.Errorf("no op_code")
	}
	if *r.Op < 0 || *r.Op > discardTrials {
		return nil, fmt.Errorf("op_code %d is of a newer version", *r.Op)
	}
	if r.State != nil && int(*r.State) >= len(search.States) {
		return nil, fmt.Errorf("state %d is of a newer version", *r.State)
	}
	for _, d := range r.Ways {
		r.Directions = append(r.Directions, search.Direction(d))
	}
	return r, nil
}

// plain puts quotes around NaN and Infinity, which Python writes and JSON does not have.
func plain(line []byte) []byte {
	if !bytes.Contains(line, []byte("NaN")) && !bytes.Contains(line, []byte("Infinity")) {
		return line
	}
	var out []byte
	inside := false
	for i := 0; i < len(line); i++ {
		rest := line[i:]
		switch {
		case inside && line[i] == '\\' && i+1 < len(line):
			out = append(out, line[i])
			i++
		case line[i] == '"':
			inside = !inside
		case !inside:
			word := ""
			for _, w := range []string{"NaN", "-Infinity", "Infinity"} {
				if bytes.HasPrefix(rest, []byte(w)) {
					word = w
				}
			}
			if word != "" {
				out = append(append(append(out, '"'), word...), '"')
				i += len(word) - 1
				continue
			}
		}
		out = append(out, line[i])
	}
	return out
}

// none stands for a time that is not known where Optuna needs one.
var none = time.Unix(0, 0).UTC()

const layout = "2006-01-02T15:04:05.000000-07:00"

// stamp is a time as Python writes it.
func stamp(t time.Time) string {
	if t.IsZero() {
		t = none
	}
	return strconv.Quote(t.UTC().Format(layout))
}

// timeOf reads a time; without a zone, as 4.x wrote it, it is taken for UTC.
func timeOf(text *string) time.Time {
	if text == nil {
		return time.Time{}
	}
	for _, l := range []string{"2006-01-02T15:04:05.999999Z07:00", "2006-01-02T15:04:05.999999"} {
		if t, err := time.Parse(l, *text); err == nil && !t.Equal(none) {
			return t.UTC()
		}
	}
	return time.Time{}
}

// writer makes the lines of one write.
type writer struct {
	worker string
	out    bytes.Buffer
}

// line adds a record; pieces are keys and values by turns.
func (w *writer) line(o op, pieces ...string) {
	fmt.Fprintf(&w.out, `{"op_code":%d,"worker_id":%s`, o, search.Encode(w.worker))
	for i := 0; i < len(pieces); i += 2 {
		fmt.Fprintf(&w.out, `,"%s":%s`, pieces[i], pieces[i+1])
	}
	w.out.WriteString("}\n")
}

// attrs adds a record for each, as Optuna demands.
func (w *writer) attrs(user, system op, key, id string, list []search.Attr) {
	for _, a := range list {
		o, name := user, "user_attr"
		if a.System {
			o, name = system, "system_attr"
		}
		w.line(o, key, id, name, attrsJSON([]search.Attr{a}, a.System))
	}
}

// attrsJSON is an object of the attributes of one kind.
func attrsJSON(list []search.Attr, system bool) string {
	var parts []string
	for _, a := range list {
		if a.System == system {
			parts = append(parts, string(search.Encode(a.Key))+":"+string(a.Value))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// listOf are attributes in the order of their keys.
func listOf(a search.Attributes, system bool) []search.Attr {
	var out []search.Attr
	for k, v := range a {
		out = append(out, search.Attr{System: system, Key: k, Value: v})
	}
	slices.SortFunc(out, func(a, b search.Attr) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func numbers(values []float64) string {
	if values == nil {
		return "null"
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = search.Number(v)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// trial adds the record of a new trial.
func (w *writer) trial(study search.StudyID, t *search.Trial) {
	start := "null"
	if !t.Start.IsZero() {
		start = stamp(t.Start)
	}
	pieces := []string{"study_id", fmt.Sprint(study), "datetime_start", start}
	value, values := "null", "null"
	switch {
	case len(t.Values) == 1:
		value = search.Number(t.Values[0])
	case len(t.Values) > 1:
		values = numbers(t.Values)
	}
	var dists, params, steps []string
	for _, p := range t.Params {
		name := string(search.Encode(p.Name))
		dists = append(dists, name+":"+string(search.Encode(p.Dist.String())))
		params = append(params, name+":"+search.Number(p.Value))
	}
	for _, s := range t.Steps {
		steps = append(steps, fmt.Sprintf(`"%d":%s`, s.Step, search.Number(s.Value)))
	}
	object := func(parts []string) string { return "{" + strings.Join(parts, ",") + "}" }
	pieces = append(pieces, "state", fmt.Sprint(uint8(t.State)), "value", value, "values", values)
	if !t.End.IsZero() {
		pieces = append(pieces, "datetime_complete", stamp(t.End))
	}
	pieces = append(pieces, "distributions", object(dists), "params", object(params),
		"user_attrs", attrsJSON(listOf(t.User, false), false), "system_attrs", attrsJSON(listOf(t.System, true), true),
		"intermediate_values", object(steps))
	w.line(createTrial, pieces...)
}

// change adds the records of a change; the one that ends a trial comes last.
func (w *writer) change(id int64, c search.Change) {
	trial := fmt.Sprint(id)
	if c.State != nil && *c.State == search.Running {
		w.state(trial, c)
	}
	for _, p := range c.Params {
		w.line(trialParam, "trial_id", trial, "param_name", string(search.Encode(p.Name)), "param_value_internal",
			search.Number(p.Value), "distribution", string(search.Encode(p.Dist.String())))
	}
	for _, s := range c.Steps {
		w.line(trialStep, "trial_id", trial, "step", fmt.Sprint(s.Step), "intermediate_value", search.Number(s.Value))
	}
	w.attrs(trialUserAttr, trialSystemAttr, "trial_id", trial, c.Attrs)
	if c.State != nil && *c.State != search.Running {
		w.state(trial, c)
	}
}

func (w *writer) state(trial string, c search.Change) {
	pieces := []string{"trial_id", trial, "state", fmt.Sprint(uint8(*c.State)), "values", numbers(c.Values)}
	switch {
	case *c.State == search.Running:
		pieces = append(pieces, "datetime_start", stamp(c.At))
	case c.State.Finished():
		pieces = append(pieces, "datetime_complete", stamp(c.At))
	}
	w.line(trialState, pieces...)
}
