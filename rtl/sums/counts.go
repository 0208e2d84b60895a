// SPDX-License-Identifier: Apache-2.0

package sums

import (
	"fmt"
	"strings"

	"lathe/rtl"
	"lathe/rtl/cmvm"
)

// A group is a bit of the vectors of a set, whose ones are counted.
type group struct {
	*set
	bit int
}

// added prints what a chain adds to its plain bits, and gives its name. Bits that are counted stand in vectors, a
// column a bit, of which bits 0, 1 and 2 of the counts are s, t and u.
func (p *printer) added(name string, cells []cmvm.Cell) string {
	var all, counts []*cmvm.Count // those that are not printed yet, and those of them that count
	lowest := true
	for j := range cells {
		b := &cells[j].B
		lowest = lowest && b.Place == 0
		if _, known := p.groups[p.key(b)]; known {
			continue
		}
		if all = append(all, b); len(b.Of) > 0 && counted(b) {
			counts = append(counts, b)
		}
	}
	if lowest && len(all) == len(cells) {
		return p.digit(p.columns(name, all), 0)
	}
	if len(counts) > 0 {
		p.columns(name, counts)
	}
	bits := make([]ref, len(cells))
	for j := range cells {
		b := &cells[j].B
		g, known := p.groups[p.key(b)]
		switch {
		case len(b.Of) == 0:
			bits[j] = ref{bit: rtl.Flag(b.Plus)}
		case known:
			bits[j] = ref{p.digit(g.set, b.Place), g.bit, false}
		default:
			bits[j] = p.bit(b.Of[0])
		}
	}
	text := joined(bits)
	if text[0] != '{' {
		return text
	}
	fmt.Fprintf(p, "  wire [%d:0] %s_with = %s;\n", len(cells)-1, name, text)
	return name + "_with"
}

// counted says that c is more than one bit as it is.
func counted(c *cmvm.Count) bool { return len(c.Of) > 1 || c.Plus }

// key tells counts of the same bits in the same stage, whatever their place.
func (p *printer) key(c *cmvm.Count) string { return fmt.Sprint(p.now, c.Of, c.Plus) }

// vectors names those of a group.
var vectors = [5]string{"a", "b", "c", "d", "e"}

// columns prints the vectors of new counts.
func (p *printer) columns(name string, counts []*cmvm.Count) *set {
	s := &set{name: name, width: len(counts), most: 1}
	for j, c := range counts {
		s.most, s.plus = max(s.most, len(c.Of)), s.plus || c.Plus
		if counted(c) {
			p.groups[p.key(c)] = group{s, j}
		}
	}
	for k := range s.most {
		bits := make([]ref, len(counts))
		for j, c := range counts {
			if k < len(c.Of) {
				bits[j] = p.bit(c.Of[k])
			}
		}
		p.wire(s, vectors[k], joined(bits))
	}
	if s.plus {
		bits := make([]ref, len(counts))
		for j, c := range counts {
			if c.Plus {
				bits[j] = one
			}
		}
		p.wire(s, "one", joined(bits))
	}
	return s
}

// A set is vectors a to e, and one, of counts: bits of equal place are in one column.
type set struct {
	name        string
	width, most int
	plus        bool
	carries     []string  // of the additions that count
	digits      [3]string // that are printed
}

// of is the name of a vector of s.
func (s *set) of(vector string) string { return s.name + "_" + vector }

// wire prints a vector of s, and gives its name.
func (p *printer) wire(s *set, vector, expr string) string {
	fmt.Fprintf(p, "  wire [%d:0] %s = %s;\n", s.width-1, s.of(vector), expr)
	return s.of(vector)
}

// digit prints one of the bits of counts, unless it is there, and gives its name.
func (p *printer) digit(s *set, place int) string {
	if s.digits[place] != "" {
		return s.digits[place]
	}
	if place > 0 && s.carries == nil {
		p.carries(s)
	}
	var expr string
	switch c := s.carries; {
	case place == 0 && s.most == 1 && !s.plus:
		return s.of("a")
	case place == 1 && len(c) == 1:
		return c[0]
	case place == 0:
		expr = strings.Join(s.operands(), " ^ ")
	case place == 1:
		expr = strings.Join(c, " ^ ")
	case len(c) == 2:
		expr = c[0] + " & " + c[1]
	default:
		expr = fmt.Sprintf("(%s & %s) | (%s & (%s ^ %s))", c[0], c[1], c[2], c[0], c[1])
	}
	s.digits[place] = p.wire(s, []string{"s", "t", "u"}[place], expr)
	return s.digits[place]
}

// operands are the vectors whose ones are counted.
func (s *set) operands() (names []string) {
	for _, v := range vectors[:s.most] {
		names = append(names, s.of(v))
	}
	if s.plus {
		names = append(names, s.of("one"))
	}
	return names
}

// carries prints those of the adders that count: full ones for pairs of bits on top of the first, half ones for what is
// left of five, and for the one.
func (p *printer) carries(s *set) {
	all := s.operands()
	low := all[0]
	add := func(vector string, with ...string) {
		carry, sum := low+" & "+with[0], low+" ^ "+with[0]
		if len(with) > 1 {
			carry, sum = fmt.Sprintf("(%s) | (%s & (%s))", carry, with[1], sum), sum+" ^ "+with[1]
		}
		s.carries = append(s.carries, p.wire(s, vector, carry))
		low = "(" + sum + ")"
	}
	for k := 1; k < s.most; k += 2 {
		add([]string{1: "f", 3: "g"}[k], all[k:min(k+2, s.most)]...)
	}
	if s.plus {
		add("h", s.of("one"))
	}
}
