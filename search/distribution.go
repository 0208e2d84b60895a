// SPDX-License-Identifier: Apache-2.0

package search

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is what values a parameter has.
type Kind uint8

// The kinds.
const (
	Float Kind = iota
	Int
	Categorical
)

// Distribution is the range of a parameter. It does not change after it is made. Values of a parameter are numbers: of
// a Categorical the place of the choice, from 0.
type Distribution struct {
	Kind      Kind
	Low, High float64 // both included; of Float and Int
	// Step is the distance of values, from Low on; 0: any float.
	Step float64
	// Log says that the logarithm is uniform.
	Log bool
	// Choices are the values of a Categorical as JSON: strings, numbers, truth values or null.
	Choices []string

	text string
}

// NewFloat is the range of floats from low to high; step 0 is none.
func NewFloat(low, high, step float64, log bool) *Distribution {
	d := &Distribution{Kind: Float, Low: low, High: high, Step: step, Log: log}
	text := "null"
	if step != 0 {
		if steps := (high - low) / step; math.Abs(steps-math.Round(steps)) > 1e-9 {
			d.High = low + math.Floor(steps)*step
		}
		text = Number(step)
	}
	d.text = fmt.Sprintf(`{"name": "FloatDistribution", "attributes": {"step": %s, "low": %s, "high": %s, "log": %t}}`,
		text, Number(low), Number(d.High), log)
	return d
}

// NewInt is the range of whole numbers from low to high; step is at least 1.
func NewInt(low, high, step int, log bool) *Distribution {
	d := &Distribution{Kind: Int, Low: float64(low), High: float64(high - (high-low)%step), Step: float64(step), Log: log}
	d.text = fmt.Sprintf(`{"name": "IntDistribution", "attributes": {"log": %t, "step": %d, "low": %d, "high": %d}}`,
		log, step, low, int(d.High))
	return d
}

// NewChoice is the choice among JSON values.
func NewChoice(choices ...string) *Distribution {
	return &Distribution{Kind: Categorical, Choices: choices, High: float64(len(choices) - 1),
		text: `{"name": "CategoricalDistribution", "attributes": {"choices": [` + strings.Join(choices, ", ") + `]}}`}
}

// NewWords is the choice among texts.
func NewWords(words ...string) *Distribution {
	choices := make([]string, len(words))
	for i, w := range words {
		choices[i] = quoted(w)
	}
	return NewChoice(choices...)
}

// String is the JSON text that Optuna stores.
func (d *Distribution) String() string { return d.text }

// Equal says that two ranges are the same.
func (d *Distribution) Equal(o *Distribution) bool {
	return d == o || d != nil && o != nil && d.text == o.text
}

// Single says that there is but one value.
func (d *Distribution) Single() bool {
	if d.Kind == Categorical {
		return len(d.Choices) == 1
	}
	return d.Low == d.High || d.Step > 0 && !d.Log && d.High-d.Low < d.Step
}

// Count is the number of values; infinite for floats without a step.
func (d *Distribution) Count() float64 {
	switch {
	case d.Kind == Categorical:
		return float64(len(d.Choices))
	case d.Step == 0 && d.Low != d.High:
		return math.Inf(1)
	case d.Step == 0:
		return 1
	}
	return math.Floor((d.High-d.Low)/d.Step+1e-9) + 1
}

// Contains says that a value lies in the range, on a step or not.
func (d *Distribution) Contains(v float64) bool {
	if d.Kind == Categorical {
		return v == math.Trunc(v) && v >= 0 && v < float64(len(d.Choices))
	}
	return v >= d.Low && v <= d.High && (d.Kind == Float || v == math.Trunc(v))
}

// Bounds are those between which samplers draw: of logarithms where Log says so, and half a step wider each side.
func (d *Distribution) Bounds() (low, high float64) {
	half := d.Step / 2
	if d.Log {
		return math.Log(d.Low - half), math.Log(d.High + half)
	}
	return d.Low - half, d.High + half
}

// Within puts a value where Bounds are.
func (d *Distribution) Within(v float64) float64 {
	if d.Log {
		return math.Log(v)
	}
	return v
}

// Nearest is the value next to a point between Bounds.
func (d *Distribution) Nearest(x float64) float64 {
	below := math.Nextafter(d.High, math.Inf(-1))
	if d.Single() {
		below = d.High
	}
	switch {
	case d.Kind == Int && d.Log:
		return clip(math.RoundToEven(math.Exp(x)), d.Low, d.High)
	case d.Kind == Int:
		return clip(math.Floor((x-d.Low)/d.Step+0.5)*d.Step+d.Low, d.Low, d.High)
	case d.Step > 0:
		return clip(math.RoundToEven((x-d.Low)/d.Step)*d.Step+d.Low, d.Low, d.High)
	case d.Log:
		return clip(math.Exp(x), d.Low, below)
	}
	return min(x, below)
}

func clip(x, low, high float64) float64 { return max(low, min(high, x)) }

// JSON is a value as JSON text.
func (d *Distribution) JSON(v float64) string {
	switch d.Kind {
	case Categorical:
		return d.Choices[int(v)]
	case Int:
		return strconv.FormatInt(int64(v), 10)
	}
	return Number(v)
}

// Text is a value in words: texts without quotes.
func (d *Distribution) Text(v float64) string {
	text := d.JSON(v)
	var word string
	if d.Kind == Categorical && json.Unmarshal([]byte(text), &word) == nil {
		return word
	}
	return text
}

// Value is the number of a value in JSON, and whether the range has it.
func (d *Distribution) Value(text string) (float64, bool) {
	if d.Kind == Categorical {
		at := slices.IndexFunc(d.Choices, func(c string) bool { return sameJSON(c, text) })
		return float64(at), at >= 0
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && d.Contains(v)
}

// sameJSON compares two JSON values: 1 and 1.0 are the same number.
func sameJSON(a, b string) bool {
	var x, y any
	return a == b || json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && x == y
}

// Number is a float as Python prints it: with a point or an exponent. Those that are none are NaN, Infinity and
// -Infinity, which Python's JSON has and JSON has not.
func Number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

func quoted(text string) string {
	data, _ := json.Marshal(text) // a string always has a JSON form
	return string(data)
}

// attributes are those of all kinds in Optuna's text.
type attributes struct {
	Low, High float64
	Step      *float64
	Log       bool
	Choices   []json.RawMessage
	// Q is the step of kinds that Optuna 2 wrote.
	Q *float64
}

// ParseDistribution reads what String wrote, or Optuna.
func ParseDistribution(text string) (*Distribution, error) {
	var in struct {
		Name       string
		Attributes attributes
	}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return nil, fmt.Errorf("no distribution: %w", err)
	}
	a := &in.Attributes
	step := 0.0
	for _, s := range []*float64{a.Step, a.Q} {
		if s != nil {
			step = *s
		}
	}
	switch in.Name {
	case "FloatDistribution", "UniformDistribution", "DiscreteUniformDistribution":
		return NewFloat(a.Low, a.High, step, a.Log), nil
	case "LogUniformDistribution":
		return NewFloat(a.Low, a.High, 0, true), nil
	case "IntDistribution", "IntUniformDistribution", "IntLogUniformDistribution":
		return NewInt(int(a.Low), int(a.High), max(1, int(step)), a.Log || in.Name == "IntLogUniformDistribution"), nil
	case "CategoricalDistribution":
		var choices []string
		for _, c := range a.Choices {
			choices = append(choices, string(c))
		}
		if len(choices) > 0 {
			return NewChoice(choices...), nil
		}
	}
	return nil, fmt.Errorf("no distribution that is known: %q", in.Name)
}
