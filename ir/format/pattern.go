// SPDX-License-Identifier: Apache-2.0

package format

import (
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Pattern is a format of a plan: complete, or fixed(W) and ufixed(W), whose fraction bits calibration chooses.
type Pattern struct {
	W      int    // element bits
	HasF   bool   // the format is complete
	F      int    // fraction bits of a complete fixed-point format, else 0
	Format Format // the complete format; with F = 0 for an open pattern, which tells signedness, rounding, overflow
	// Fit is the text of a pattern of floats or powers of two whose bias is left open, bias=fit; then Format has the usual
	// bias. "" for all others.
	Fit string
}

// Biased are formats whose bias may be any: a larger one makes all values finer by powers of two.
type Biased interface {
	Format
	// Finer is the format with a bias that is greater by so many.
	Finer(bits int) Format
	// offset is how much the bias is greater than usual.
	offset() int
}

// Biased is the format of a pattern that leaves the bias open; false for others.
func (p Pattern) Biased() (Biased, bool) {
	b, ok := p.Format.(Biased)
	return b, ok && p.Fit != ""
}

// Incomplete says that calibration completes the format: it leaves the fraction bits open, or the bias.
func (p Pattern) Incomplete() bool {
	_, open := p.Open()
	return open || p.Fit != ""
}

// ParsePattern reads every text that Parse takes, fixed(W) and ufixed(W) with options, and bias=fit of float, dfloat
// and log. Errors are those of Parse.
func ParsePattern(text string) (Pattern, error) {
	c, err := split(text)
	if err != nil {
		return Pattern{}, err
	}
	if i := slices.IndexFunc(c.opts, func(o arg) bool { return o.key == "bias" && o.val == "fit" }); i >= 0 {
		return c.fitting(i)
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

// fitting is the pattern of a text whose option i is bias=fit.
func (c *call) fitting(i int) (Pattern, error) {
	at := c.opts[i].col
	if !slices.Contains([]string{"float", "dfloat", "log"}, c.name) {
		hint := "float(2,1"
		if alias := strings.TrimSuffix(c.family.Alias, ")"); strings.HasPrefix(alias, "float(") {
			hint = alias
		}
		return Pattern{}, c.fail(diag.FormatOption, at,
			"bias=fit is for float, dfloat and log").WithHint("use %s,bias=fit)", hint)
	}
	c.opts = slices.Delete(c.opts, i, i+1)
	if c.option("bias") != "" {
		return Pattern{}, c.fail(diag.FormatOption, at, "option bias is given twice")
	}
	f, err := c.build()
	if err != nil {
		return Pattern{}, err
	}
	if _, ok := f.(Biased); !ok {
		return Pattern{}, c.fail(diag.FormatOption, at, "bias=fit is for %s without a dialect", c.name).
			WithHint("leave dialect= out")
	}
	p := PatternOf(f)
	p.Fit = c.text
	return p, nil
}

// Open is the integers of a pattern that leaves the fraction bits open; ok is false for complete formats.
func (p Pattern) Open() (ints Fixed, ok bool) {
	ints, ok = p.Format.(Fixed)
	return ints, ok && !p.HasF
}

// Fits says that a cast of values in f to a format that p stands for changes none of them: of an open pattern to that
// of any fraction bits, or of any bias.
func (p Pattern) Fits(f Format) bool {
	if want, open := p.Open(); open {
		have, fixed := f.(Fixed)
		want.F = have.F
		return fixed && Keeps(have, want)
	}
	if want, fit := p.Biased(); fit {
		have, ok := f.(Biased)
		return ok && Keeps(have, want.Finer(have.offset()-want.offset()))
	}
	return Keeps(f, p.Format)
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
	switch {
	case p.Fit != "":
		return p.Fit
	case !open && p.Format == nil:
		return ""
	case !open:
		return p.Format.String()
	}
	name := "fixed("
	if !f.Signed {
		name = "ufixed("
	}
	return name + strconv.Itoa(f.W) + optionText(f.Round, f.Over) + ")"
}
