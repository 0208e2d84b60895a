// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/format"
)

// Assignment gives one node formats: its weights, its result or, of an input, its values, what it reads, and its bias.
// What is "" stays as the plan has it.
type Assignment struct{ Node, Weight, Data, DataIn, Bias string }

// Assigned is p with a rule for each assignment in front of its own; from says in reports who asks for them. A format
// that cannot be read is an error of format.Parse. p does not change.
func (p *Plan) Assigned(from string, list []Assignment) (*Plan, error) {
	out := *p
	rules := make([]*Rule, 0, len(list)+len(p.Quantize.Rules))
	for _, a := range list {
		r := &Rule{Match: one(a.Node, from)}
		for _, s := range []struct {
			text string
			slot **Choice
		}{{a.Weight, &r.Weight}, {a.Data, &r.DataOut}, {a.DataIn, &r.DataIn}, {a.Bias, &r.Bias}} {
			if s.text == "" {
				continue
			}
			c, err := p.chosen(s.text, from)
			if err != nil {
				return nil, err
			}
			*s.slot = c
		}
		rules = append(rules, r)
	}
	out.Quantize.Rules = append(rules, p.Quantize.Rules...)
	return &out, nil
}

// Uniform is p with data, weights or both in one format, where rules say nothing else: biases get twice its width where
// that is more, and results that are never negative no sign. p does not change.
func (p *Plan) Uniform(from, text string, weight, data bool) (*Plan, error) {
	c, err := p.chosen(text, from)
	if err != nil {
		return nil, err
	}
	out := *p
	q := &out.Quantize
	if data {
		q.Data, q.Unsigned = *c, true
	}
	if weight {
		q.Weight = *c
	}
	if f, open := c.Pattern.Open(); open && 2*f.W > q.Bias.Pattern.W {
		bias, err := p.chosen(fmt.Sprintf("fixed(%d)", 2*f.W), from)
		if err != nil {
			return nil, err
		}
		q.Bias = *bias
	}
	return &out, nil
}

// chosen reads a format as the plan's own text has it: with its rounding and overflow.
func (p *Plan) chosen(text, from string) (*Choice, error) {
	pattern, err := format.ParsePattern(text)
	if err != nil {
		return nil, err
	}
	reader := parser{round: p.Quantize.Round, over: p.Quantize.Over}
	return &Choice{Pattern: reader.options(pattern, text), From: fmt.Sprintf("%s %q", from, text), Given: true}, nil
}

// ParseFormats reads a list of formats, "fixed(4),fixed(6..8),mxint8": two numbers with two points between are all
// widths from one to the other. Errors are those of format.Parse, and L0101 for a range that holds nothing.
func ParseFormats(text string) ([]string, error) {
	var out []string
	for _, item := range splitFormats(text) {
		list := []string{item}
		if m := widths.FindStringSubmatchIndex(item); m != nil {
			var from, to int
			fmt.Sscan(item[m[2]:m[3]], &from)
			fmt.Sscan(item[m[4]:m[5]], &to)
			list = nil
			if from > to {
				return nil, diag.New(diag.Usage, "", "--formats %s: %d..%d holds no width", item, from, to)
			}
			for w := from; w <= to; w++ {
				list = append(list, fmt.Sprintf("%s%d%s", item[:m[0]], w, item[m[1]:]))
			}
		}
		for _, f := range list {
			if _, err := format.ParsePattern(f); err != nil {
				return nil, err
			}
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// widths is a range of numbers.
var widths = regexp.MustCompile(`(\d{1,3})\.\.(\d{1,3})`)

// splitFormats cuts a list at the commas that are not within brackets.
func splitFormats(text string) (out []string) {
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '(', '[', '<':
			depth++
		case ')', ']', '>':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, strings.TrimSpace(text[from:i])), i+1
			}
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}
