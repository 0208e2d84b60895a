// SPDX-License-Identifier: Apache-2.0

package sums

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"lathe/rtl/cmvm"
)

// A Cast makes a code of a sum: over(Zero + round(sum / 2^Shift)), the numbers Round and Over as num_requant has them.
// The code stands in its lane above Low bits that are 0. One of no bits is 0, whatever the sum.
type Cast struct {
	Shift, Zero int
	Bits, Low   int
	Signed      bool
	Round, Over int
}

// The roundings and the one overflow that are asked for by name.
const (
	even, away, up, down, halfZero, floor, ceil, toZero, outward = 0, 1, 2, 3, 4, 5, 6, 7, 8
	symmetric, wraps                                             = 1, 2
)

// A rounding is the floor of sums to which a constant is added: positive where sums are not negative, else negative.
// Ties of the rounding to even have become the greater neighbour, or, if ones, the lesser; then their lowest bit has to
// be cleared, or set.
type rounding struct {
	positive, negative int64
	ties, ones         bool
}

func (c Cast) rounding() rounding {
	one := int64(1) << c.Shift
	half := one >> 1
	r := rounding{}
	if c.Shift > 0 {
		switch c.Round {
		case even:
			r.positive, r.ties, r.ones = half, true, c.Zero&1 != 0
			if r.ones {
				r.positive--
			}
			r.negative = r.positive
		case away:
			r.positive, r.negative = half, half-1
		case up:
			r.positive, r.negative = half, half
		case down:
			r.positive, r.negative = half-1, half-1
		case halfZero:
			r.positive, r.negative = half-1, half
		case ceil:
			r.positive, r.negative = one-1, one-1
		case toZero:
			r.negative = one - 1
		case outward:
			r.positive = one - 1
		}
	}
	zero := int64(c.Zero) << c.Shift
	r.positive, r.negative = r.positive+zero, r.negative+zero
	return r
}

// span is the codes to which sums saturate.
func (c Cast) span() (lo, hi int64) {
	switch {
	case c.Over > wraps && c.Over%2 != 0:
		return 0, int64(c.Over-3) / 2
	case c.Over > wraps:
		return -int64(c.Over-4) / 2, int64(c.Over-4) / 2
	case c.Signed:
		hi = 1<<(c.Bits-1) - 1
		lo = -hi - 1
		if c.Over == symmetric {
			lo++
		}
		return lo, hi
	}
	hi = 1<<c.Bits - 1
	if c.Over == symmetric {
		hi--
	}
	return 0, hi
}

// code is that of a sum.
func (c Cast) code(r rounding, sum int64) int64 {
	if r.positive != r.negative { // else it is a part of the sum
		if sum < 0 {
			sum += r.negative
		} else {
			sum += r.positive
		}
	}
	q := sum >> c.Shift
	switch low := sum & (1<<c.Shift - 1); {
	case r.ties && r.ones && low == 1<<c.Shift-1:
		q |= 1
	case r.ties && !r.ones && low == 0:
		q &^= 1
	}
	if c.Over == wraps {
		if q &= 1<<c.Bits - 1; c.Signed && q>>(c.Bits-1) != 0 {
			q -= 1 << c.Bits
		}
		return q
	}
	lo, hi := c.span()
	return max(lo, min(hi, q))
}

// Of is the cast of sums of a range, as it is computed: a shift to the left is none, since it is a factor of the sums,
// and one that leaves nothing of them is as short as it may be. It is an error if rounded sums have too many bits.
func (c Cast) Of(sums cmvm.Range) (Cast, error) {
	const most = 61
	c.Shift = min(max(c.Shift, 0), sums.Bits()+2) // from there on, |sum| is below a quarter of a step
	if n := max(sums.Bits(), c.Shift+bits.Len64(uint64(max(c.Zero, -c.Zero)))+1); n > most {
		return c, fmt.Errorf("sums that are rounded have %d bits, %d are the most", n, most)
	}
	return c, nil
}

// Codes is the range of the codes of sums; c is Of them.
func (c Cast) Codes(sums cmvm.Range) cmvm.Range {
	r := c.rounding()
	if r.positive == r.negative {
		sums.Lo, sums.Hi = sums.Lo+r.positive, sums.Hi+r.positive
	}
	if below, above := c.outside(sums); c.Over == wraps && (below || above) {
		lo, hi := c.span()
		return cmvm.Range{Lo: lo, Hi: hi}
	}
	return cmvm.Range{Lo: c.code(r, sums.Lo), Hi: c.code(r, sums.Hi)}
}

// rounded is the range of rounded sums, before they are brought into that of codes.
func (c Cast) rounded(sums cmvm.Range) cmvm.Range {
	wide := c
	wide.Bits, wide.Signed, wide.Over = 63, true, 0
	r := c.rounding()
	return cmvm.Range{Lo: wide.code(r, sums.Lo), Hi: wide.code(r, sums.Hi)}
}

// outside says on which sides rounded sums leave the range of codes.
func (c Cast) outside(sums cmvm.Range) (below, above bool) {
	q := c.rounded(sums)
	lo, hi := c.span()
	return q.Lo < lo, q.Hi > hi
}

// saturates is outside, but of codes that do not wrap.
func (c Cast) saturates(sums cmvm.Range) (below, above bool) {
	if c.Over == wraps {
		return false, false
	}
	return c.outside(sums)
}

// luts estimates the LUTs of a cast, and how many of them are behind one another.
func (c Cast) luts(sums cmvm.Range) (n, levels int) {
	if c.Bits == 0 {
		return 0, 0
	}
	r := c.rounding()
	if r.positive != r.negative {
		n, levels = sums.Bits(), 1
	}
	if r.ties {
		n, levels = n+(c.Shift+4)/5, levels+1
	}
	if below, above := c.saturates(sums); !below && !above {
		return n, levels
	}
	return n + c.Bits + max(1, c.rounded(sums).Bits()-c.Bits)/4, levels + 2
}

// lane is the text of a code in a lane of so many bits, given its bits, which begin with bit from of a vector: above
// what is always 0, its sign or zeros.
func (c Cast) lane(code, vector string, from, bits int) string {
	above := bits - c.Low - c.Bits
	switch {
	case c.Bits == 0:
		return fmt.Sprintf("%d'd0", bits)
	case above+c.Low == 0:
		return code
	}
	parts := []string{code}
	switch {
	case above > 0 && c.Signed:
		parts = slices.Insert(parts, 0, fmt.Sprintf("{%d{%s[%d]}}", above, vector, from+c.Bits-1))
	case above > 0:
		parts = slices.Insert(parts, 0, fmt.Sprintf("%d'd0", above))
	}
	if c.Low > 0 {
		parts = append(parts, fmt.Sprintf("%d'd0", c.Low))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// cast prints the code of output o as the wire code<o>, given the bits of its sum.
func (p *printer) cast(o int, c Cast, sum cmvm.Word, r cmvm.Range) {
	how := c.rounding()
	list, sign := p.refs(sum.Bits), zero
	if sum.Signed {
		sign = list[len(list)-1]
	}
	if how.positive != how.negative {
		list = p.moved(o, list, sign, how, r)
		sign = list[len(list)-1]
	}
	at := func(j int) ref {
		if j < len(list) {
			return list[j]
		}
		return sign
	}
	var near, low []ref // the floor, its sign on top, and what it leaves out
	for j := range c.Shift {
		low = append(low, at(j))
	}
	top := len(list)
	if sum.Signed || how.positive != how.negative {
		top--
	}
	for j := c.Shift; j <= max(c.Shift, top); j++ {
		near = append(near, at(j))
	}
	width := len(near)
	fmt.Fprintf(p, "  // sum %d, with what rounds it: %d to %d\n", o, r.Lo, r.Hi)
	fmt.Fprintf(p, "  wire [%d:0] near%d = %s", width-1, o, joined(near))
	if how.ties {
		p.tie(o, width, how, low)
	}
	p.WriteString(";\n")
	code := make([]ref, c.Bits)
	for j := range code { // its own bits, or its sign above them
		code[j] = ref{vector: fmt.Sprintf("near%d", o), bit: min(j, width-1)}
	}
	text := joined(code)
	below, above := c.saturates(r)
	lo, hi := c.span()
	if above {
		text = fmt.Sprintf("%s ? %s : %s", compare(o, width, ">", hi), literal(c.Bits, hi), text)
	}
	if below {
		text = fmt.Sprintf("%s ? %s : %s", compare(o, width, "<", lo), literal(c.Bits, lo), text)
	}
	fmt.Fprintf(p, "  wire [%d:0] code%d = %s;\n", c.Bits-1, o, text)
}

// tie makes the lowest bit of ties even, given the bits that are left out.
func (p *printer) tie(o, width int, how rounding, low []ref) {
	above := ""
	if how.ones {
		if width > 1 {
			above = fmt.Sprintf("%d'd0, ", width-1)
		}
		fmt.Fprintf(p, " | {%s&%s}", above, joined(low))
		return
	}
	if width > 1 {
		above = fmt.Sprintf("{%d{1'b1}}, ", width-1)
	}
	fmt.Fprintf(p, " & {%s|%s}", above, joined(low))
}

// moved adds to a sum what depends on its sign.
func (p *printer) moved(o int, list []ref, sign ref, how rounding, r cmvm.Range) []ref {
	width := max(r.Bits(), cmvm.Range{Lo: min(how.positive, how.negative), Hi: max(how.positive,
		how.negative)}.Bits()) + 2
	for len(list) < width {
		list = append(list, sign)
	}
	fmt.Fprintf(p, "  wire [%d:0] moved%d = %s + (%s ? %s : %s);\n", width-1, o, joined(list), slice([]ref{sign}),
		literal(width, how.negative), literal(width, how.positive))
	moved := make([]ref, width)
	for j := range moved {
		moved[j] = ref{vector: fmt.Sprintf("moved%d", o), bit: j}
	}
	return moved
}

// compare says whether a rounded sum of so many bits, its sign on top, lies beyond a limit: by a few of its bits where
// that is next to a power of two.
func compare(o, width int, how string, limit int64) string {
	sign := fmt.Sprintf("near%d[%d]", o, width-1)
	if how == ">" {
		if k := bits.Len64(uint64(limit)); limit == 1<<k-1 {
			return fmt.Sprintf("!%s && |near%d[%d:%d]", sign, o, width-2, k)
		}
		return fmt.Sprintf("$signed(near%d) > %d'sd%d", o, width, limit)
	}
	switch k := bits.Len64(uint64(^limit)); {
	case limit == 0:
		return sign
	case limit == -1<<k:
		return fmt.Sprintf("%s && !(&near%d[%d:%d])", sign, o, width-2, k)
	}
	return fmt.Sprintf("$signed(near%d) < -%d'sd%d", o, width, -limit)
}

// literal is v in so many bits, two's complement.
func literal(width int, v int64) string {
	if width < 64 {
		v &= 1<<width - 1
	}
	return fmt.Sprintf("%d'd%d", width, uint64(v))
}
