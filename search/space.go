// SPDX-License-Identifier: Apache-2.0

package search

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Parameter is one of a space.
type Parameter struct {
	Name string
	Dist *Distribution
	// When says under which choice of another parameter, in front of this one, it is drawn; nil: always.
	When *Condition
}

// Condition holds where a parameter has a value.
type Condition struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Space are the parameters of a study in the order in which they are drawn.
type Space []Parameter

// spaceJSON is a parameter as a study stores it.
type spaceJSON struct {
	Name string          `json:"name"`
	Dist json.RawMessage `json:"distribution"`
	When *Condition      `json:"when,omitempty"`
}

// MarshalJSON writes the space as a study keeps it, so that ask needs nothing else.
func (s Space) MarshalJSON() ([]byte, error) {
	out := make([]spaceJSON, len(s))
	for i, p := range s {
		out[i] = spaceJSON{p.Name, json.RawMessage(p.Dist.String()), p.When}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Space) UnmarshalJSON(data []byte) error {
	var in []spaceJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*s = nil
	for _, p := range in {
		d, err := ParseDistribution(string(p.Dist))
		if err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		*s = append(*s, Parameter{p.Name, d, p.When})
	}
	return nil
}

// Differs names the first parameter that another space has otherwise, and how; "" where they agree.
func (s Space) Differs(o Space) string {
	for i := range s {
		if i >= len(o) {
			return fmt.Sprintf("%s is not there any more", s[i].Name)
		}
		a, b := &s[i], &o[i]
		switch {
		case a.Name != b.Name:
			return fmt.Sprintf("parameter %d was %s and is %s", i, a.Name, b.Name)
		case !a.Dist.Equal(b.Dist):
			return fmt.Sprintf("%s was %s and is %s", a.Name, a.Dist.Range(), b.Dist.Range())
		case (a.When == nil) != (b.When == nil) || a.When != nil && *a.When != *b.When:
			return fmt.Sprintf("%s depends on something else", a.Name)
		}
	}
	if len(o) > len(s) {
		return fmt.Sprintf("%s is new", o[len(s)].Name)
	}
	return ""
}

// Range is a distribution in words: "4..16:2", "fixed, mxint8".
func (d *Distribution) Range() string {
	if d.Kind == Categorical {
		text := ""
		for i := range d.Choices {
			if i > 0 {
				text += ", "
			}
			text += d.Text(float64(i))
		}
		return text
	}
	text := d.Text(d.Low)
	if d.Low != d.High {
		text += ".." + d.Text(d.High)
	}
	if d.Step > 0 && d.Step != 1 {
		text += ":" + d.Text(d.Step)
	}
	if d.Log {
		text += " log"
	}
	return text
}

// Size is the number of configurations, as its logarithm to base 10: infinite with a float parameter. What depends on a
// parameter may have nothing that depends on it in turn.
func (s Space) Size() float64 {
	total := 0.0
	for i := range s {
		if s[i].When != nil {
			continue
		}
		count := s[i].Dist.Count()
		if s.decides(i) {
			count = 0
			for v := range s[i].Dist.Choices {
				count += math.Pow(10, s.under(s[i].Name, float64(v)))
			}
		}
		total += math.Log10(count)
	}
	return total
}

// decides says that others depend on a parameter.
func (s Space) decides(i int) bool {
	return slices.ContainsFunc(s, func(p Parameter) bool { return p.When != nil && p.When.Name == s[i].Name })
}

// under is the logarithm of the number of configurations of what depends on a choice.
func (s Space) under(name string, value float64) float64 {
	total := 0.0
	for _, p := range s {
		if p.When != nil && p.When.Name == name && p.When.Value == value {
			total += math.Log10(p.Dist.Count())
		}
	}
	return total
}

// Walk calls visit for each parameter that a configuration has, in order; visit gives its value.
func (s Space) Walk(visit func(p *Parameter) (float64, error)) error {
	have := map[string]float64{}
	for i := range s {
		p := &s[i]
		if p.When != nil {
			if v, ok := have[p.When.Name]; !ok || v != p.When.Value {
				continue
			}
		}
		v, err := visit(p)
		if err != nil {
			return err
		}
		have[p.Name] = v
	}
	return nil
}
