// SPDX-License-Identifier: Apache-2.0

package format

import "strconv"

// Pattern is a format of a plan: complete, or fixed(W) and ufixed(W), whose fraction bits calibration chooses.
type Pattern struct {
	W      int    // element bits
	HasF   bool   // the format is complete
	F      int    // fraction bits of a complete fixed-point format, else 0
	Format Format // the complete format; with F = 0 for an open pattern, which tells signedness, rounding, overflow
}

// ParsePattern reads every text that Parse takes, and fixed(W) and ufixed(W) with options. Errors are those of Parse.
func ParsePattern(text string) (Pattern, error) {
	c, err := split(text)
	if err != nil {
		return Pattern{}, err
	}
	if (c.name != "fixed" && c.name != "ufixed") || len(c.args) != 1 {
		f, err := c.build()
		if err != nil {
			return Pattern{}, err
		}
		return PatternOf(f), nil
	}
	if err := c.checkOptions(); err != nil {
		return Pattern{}, err
	}
	v, err := c.ints(fixedArgs(c)[0])
	if err != nil {
		return Pattern{}, err
	}
	f, err := c.finishFixed(v[0], 0)
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{W: v[0], Format: f}, nil
}

// Open is the integers of a pattern that leaves the fraction bits open; ok is false for complete formats.
func (p Pattern) Open() (ints Fixed, ok bool) {
	ints, ok = p.Format.(Fixed)
	return ints, ok && !p.HasF
}

// Fits says that f is a format that p stands for: of an open pattern that of any fraction bits, whatever rounding and
// overflow.
func (p Pattern) Fits(f Format) bool {
	if want, open := p.Open(); open {
		have, fixed := f.(Fixed)
		return fixed && have.W == want.W && have.Signed == want.Signed
	}
	return SameType(p.Format, f)
}

// PatternOf is the pattern that stands for exactly f.
func PatternOf(f Format) Pattern {
	p := Pattern{W: f.Width(), HasF: true, Format: f}
	if fx, ok := f.(Fixed); ok {
		p.F = fx.F
	}
	return p
}

// With is the format with frac fraction bits; a complete pattern ignores frac.
func (p Pattern) With(frac int) Format {
	f, open := p.Open()
	if !open {
		return p.Format
	}
	f.F = frac
	return f
}

// String is the text of the pattern; ParsePattern(String()) is the pattern itself.
func (p Pattern) String() string {
	f, open := p.Open()
	if !open {
		if p.Format == nil {
			return ""
		}
		return p.Format.String()
	}
	name := "fixed("
	if !f.Signed {
		name = "ufixed("
	}
	return name + strconv.Itoa(f.W) + optionText(f.Round, f.Over) + ")"
}
