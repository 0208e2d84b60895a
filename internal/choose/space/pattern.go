// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lathe/ir/format"
	"lathe/search"
)

// pattern is the text of a format in which some numbers are ranges: "fixed(4..16:2)".
type pattern struct {
	text   string // without blanks
	pieces []string
	// between the pieces stand the ranges, each with the word of the family's syntax for its number.
	ranges []span
	family string
}

// span is a range of whole numbers.
type span struct {
	word           string
	from, to, step int
}

var spans = regexp.MustCompile(`(-?\d{1,4})\.\.(-?\d{1,4})(?::(\d{1,4}))?`)

// readPattern reads a text; where is what stands in messages. The errors of formats, and those of ranges that hold
// nothing, are returned as they are.
func readPattern(text string) (*pattern, error) {
	p := &pattern{text: strings.Join(strings.Fields(text), "")}
	at := 0
	for _, m := range spans.FindAllStringSubmatchIndex(p.text, -1) {
		s := span{step: 1}
		s.from, s.to = atoi(p.text[m[2]:m[3]]), atoi(p.text[m[4]:m[5]])
		if m[6] >= 0 {
			s.step = atoi(p.text[m[6]:m[7]])
		}
		if s.from > s.to || s.step < 1 {
			return nil, fmt.Errorf("%s holds no number", p.text[m[0]:m[1]])
		}
		p.pieces, p.ranges, at = append(p.pieces, p.text[at:m[0]]), append(p.ranges, s), m[1]
	}
	p.pieces = append(p.pieces, p.text[at:])
	p.family, _, _ = strings.Cut(p.text, "(")
	p.family = strings.TrimRight(p.family, "0123456789*.[]:-")
	if p.family == "" {
		p.family = p.text
	}
	p.name()
	low, high := make([]float64, len(p.ranges)), make([]float64, len(p.ranges))
	for i, s := range p.ranges {
		low[i], high[i] = float64(s.from), float64(s.to-(s.to-s.from)%s.step)
	}
	for _, values := range [][]float64{low, high} {
		if _, err := format.ParsePattern(p.fill(values)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func atoi(text string) int {
	n, _ := strconv.Atoi(text) // spans matches digits
	return n
}

// name finds the word of each range in the syntax of the family, such as W and F of fixed(W,F).
func (p *pattern) name() {
	var words []string
	families := format.All()
	if i := slices.IndexFunc(families, func(f format.Family) bool { return f.Name == p.family }); i >= 0 {
		_, inner, _ := strings.Cut(families[i].Syntax, "(")
		inner, _, _ = strings.Cut(inner, ")")
		words = strings.Split(inner, ",")
	}
	before := ""
	for i := range p.ranges {
		before += p.pieces[i]
		at := strings.Count(before, ",")
		word := fmt.Sprintf("n%d", at+1)
		if at < len(words) && !strings.ContainsAny(words[at], "=*") {
			word = words[at]
		}
		if slices.ContainsFunc(p.ranges[:i], func(s span) bool { return s.word == word }) {
			word = fmt.Sprintf("%s%d", word, i+1)
		}
		p.ranges[i].word = word
	}
}

// fill is the format with numbers in place of the ranges.
func (p *pattern) fill(values []float64) string {
	text := p.pieces[0]
	for i, v := range values {
		text += strconv.Itoa(int(math.Round(v))) + p.pieces[i+1]
	}
	return text
}

// choice is what one slot may have: a list of patterns, as parameters with a name in front.
type choice struct {
	prefix   string
	patterns []*pattern
}

// parameters are those of the choice: which pattern, where there are several, and the numbers of each.
func (c *choice) parameters() search.Space {
	var out search.Space
	var texts []string
	for _, p := range c.patterns {
		texts = append(texts, p.text)
	}
	if len(texts) > 1 {
		out = append(out, search.Parameter{Name: c.formatName(), Dist: search.NewWords(texts...)})
	}
	for k, p := range c.patterns {
		for i, s := range p.ranges {
			q := search.Parameter{Name: c.numberName(k, i), Dist: search.NewInt(s.from, s.to, s.step, false)}
			if len(texts) > 1 {
				q.When = &search.Condition{Name: c.formatName(), Value: float64(k)}
			}
			out = append(out, q)
		}
	}
	return out
}

func (c *choice) formatName() string { return c.prefix + ".format" }

// numberName is the name of number i of pattern k: that of the family, with a number where it has several patterns.
func (c *choice) numberName(k, i int) string {
	family, same := c.patterns[k].family, 0
	for _, p := range c.patterns[:k] {
		if p.family == family {
			same++
		}
	}
	if same > 0 {
		family = fmt.Sprintf("%s-%d", family, same+1)
	}
	return c.prefix + "." + family + "." + c.patterns[k].ranges[i].word
}

// format is the text that a configuration gives the slot.
func (c *choice) format(values map[string]float64) string {
	k := int(values[c.formatName()])
	p := c.patterns[k]
	numbers := make([]float64, len(p.ranges))
	for i := range numbers {
		numbers[i] = values[c.numberName(k, i)]
	}
	return p.fill(numbers)
}
