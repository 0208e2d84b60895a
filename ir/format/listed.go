// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// Binary is binary*S: the code 1 is S, the code 0 is -S. What is not negative becomes S.
type Binary struct{ Scale float32 }

// Ternary is ternary*S: the codes 00, 01 and 11 are 0, S and -S; 10, which encoding never makes, counts as 0.
// Magnitudes up to Delta become 0.
type Ternary struct{ Scale, Delta float32 }

// Residual is residual(L)*S: the sum of +-s_l over L levels, bit l of the code 1 for +. Encoding is greedy: each level
// takes the sign of what those before it have left. scales are the s_l as in the text; empty for S*2^(L-1-l).
type Residual struct {
	L      int
	Scale  float32
	scales string
}

// listed reads the scale behind the star: a number, 1 where there is none, or [0], and makes the format of it.
func (c *call) listed(with func(s float32) (Set, error)) (Format, error) {
	s, axis, group := float32(1), PerTensor, 0
	var err error
	if c.scale.col > 0 {
		if s, axis, group, err = c.readScale(); err != nil {
			return nil, err
		}
	}
	if axis > 0 || group > 0 {
		return nil, c.fail(diag.FormatScale, c.scale.col,
			"%s takes one scale for each output channel of weights, or one for all",
			c.name).WithHint("write *[0] or a number")
	}
	if axis == 0 {
		s = 1
	}
	f, err := with(s)
	if err != nil {
		return nil, err
	}
	if axis == 0 {
		return ListedChannels{Listed{f}}, nil
	}
	return Listed{f}, nil
}

// scaleText prints a scale other than 1.
func scaleText(s float32) string {
	if s == 1 {
		return ""
	}
	return "*" + number(s)
}

func number(s float32) string { return strconv.FormatFloat(float64(s), 'g', -1, 32) }

// number reads a float32 number of an option.
func (c *call) number(s string, col int, what string) (float32, error) {
	v, err := strconv.ParseFloat(s, 32)
	if err != nil || v != v || math.IsInf(v, 0) {
		return 0, c.fail(diag.FormatNumbers, col, "%s is not a float32 number: %s", what, quote(s))
	}
	return float32(v), nil
}

func buildBinary(c *call) (Format, error) {
	if _, err := c.ints(); err != nil {
		return nil, err
	}
	return c.listed(func(s float32) (Set, error) { return Binary{s}, nil })
}

// String is the canonical text.
func (f Binary) String() string { return "binary" + scaleText(f.Scale) }

// Width is 1.
func (Binary) Width() int { return 1 }

// Decode is S or -S.
func (f Binary) Decode(code int64) Exact {
	if code&1 != 0 {
		return FromFloat32(f.Scale)
	}
	return FromFloat32(-f.Scale)
}

// Encode is 1 for what is not negative, NaN and -0 included.
func (f Binary) Encode(v Exact) int64 {
	if v.Sign() < 0 {
		return 0
	}
	return 1
}

func (f Binary) codes() Set { return f }

func (f Binary) scale() float32 { return f.Scale }

func buildTernary(c *call) (Format, error) {
	if _, err := c.ints(); err != nil {
		return nil, err
	}
	return c.listed(func(s float32) (Set, error) {
		f := Ternary{s, s / 2}
		for _, o := range c.opts {
			var err error
			if f.Delta, err = c.number(o.val, o.col+len(o.key)+1, o.key); err != nil {
				return nil, err
			}
			if !(f.Delta >= 0) {
				return nil, c.fail(diag.FormatOption, o.col, "delta is %s; magnitudes are not negative", o.val)
			}
		}
		return f, nil
	})
}

// String is the canonical text.
func (f Ternary) String() string {
	s := "ternary"
	if f.Delta != f.Scale/2 {
		s += "(delta=" + number(f.Delta) + ")"
	}
	return s + scaleText(f.Scale)
}

// Width is 2.
func (Ternary) Width() int { return 2 }

func (f Ternary) codes() Set { return Ternary{f.Scale, f.Scale / 2} }

// Decode is 0, S or -S.
func (f Ternary) Decode(code int64) Exact {
	switch code & 3 {
	case 1:
		return FromFloat32(f.Scale)
	case 3:
		return FromFloat32(-f.Scale)
	}
	return Exact{}
}

// Encode is 0 for magnitudes up to Delta, else the sign; NaN gives 0.
func (f Ternary) Encode(v Exact) int64 {
	switch {
	case v.IsNaN() || v.Abs().Cmp(FromFloat32(f.Delta)) <= 0:
		return 0
	case v.Signbit():
		return 3
	}
	return 1
}

func (f Ternary) scale() float32 { return f.Scale }

// maxLevels bounds the levels of residual.
const maxLevels = tableBits

func buildResidual(c *call) (Format, error) {
	v, err := c.ints(intRange{"L", 1, maxLevels})
	if err != nil {
		return nil, err
	}
	return c.listed(func(s float32) (Set, error) {
		f := Residual{L: v[0], Scale: s}
		if len(c.opts) == 0 {
			return f, nil
		}
		return f, c.levelScales(&f)
	})
}

// levelScales reads the option scales.
func (c *call) levelScales(f *Residual) error {
	o := c.opts[0]
	col := o.col + len(o.key) + 1
	text, open := strings.CutPrefix(o.val, "[")
	text, closed := strings.CutSuffix(text, "]")
	if !open || !closed {
		return c.fail(diag.FormatNumbers, col, "scales stand in brackets").WithHint("for example scales=[1:0.5]")
	}
	if c.scale.col > 0 {
		return c.fail(diag.FormatScale, c.scale.col, "residual takes scales or one scale, not both")
	}
	var scales []string
	for _, t := range strings.Split(text, ":") {
		s, err := c.number(t, col, "a scale")
		if err == nil && !(s > 0) {
			err = c.fail(diag.FormatNumbers, col, "scale %s is not positive", t)
		}
		if err != nil {
			return err
		}
		scales = append(scales, number(s))
	}
	if len(scales) != f.L {
		return c.fail(diag.FormatNumbers, col, "%d scales for %d levels", len(scales), f.L)
	}
	f.scales = strings.Join(scales, ":")
	return nil
}

// String is the canonical text.
func (f Residual) String() string {
	s := "residual(" + strconv.Itoa(f.L)
	if f.scales != "" {
		s += ",scales=[" + f.scales + "]"
	}
	return s + ")" + scaleText(f.Scale)
}

// Width is L.
func (f Residual) Width() int { return f.L }

// levels are the s_l.
func (f Residual) levels() []Exact {
	out := make([]Exact, f.L)
	texts := strings.Split(f.scales, ":")
	for l := range out {
		if f.scales == "" {
			out[l] = FromFloat32(f.Scale).Shift(f.L - 1 - l)
			continue
		}
		s, _ := strconv.ParseFloat(texts[l], 32) // as String prints them
		out[l] = FromFloat32(float32(s))
	}
	return out
}

// Decode is the sum of the levels with the signs of the code.
func (f Residual) Decode(code int64) Exact {
	sum := Exact{}
	for l, s := range f.levels() {
		if code>>l&1 == 0 {
			s = s.Neg()
		}
		sum = sum.Add(s)
	}
	return sum
}

// Encode is greedy; what is left of 0 counts as positive. NaN counts as 0.
func (f Residual) Encode(v Exact) int64 {
	code := int64(0)
	if v.IsNaN() {
		v = Exact{}
	}
	for l, s := range f.levels() {
		if v.Sign() >= 0 {
			code |= 1 << l
			s = s.Neg()
		}
		v = v.Add(s)
	}
	return code
}

// bends are the sums of the first levels with any signs: where the sign of what is left changes.
func (f Residual) bends() []Exact {
	out := []Exact{{}}
	sums := out
	for _, s := range f.levels() {
		var next []Exact
		for _, v := range sums {
			next = append(next, v.Add(s), v.Sub(s))
		}
		out, sums = append(out, next...), next
	}
	return out
}

func (f Residual) codes() Set { return f }

func (f Residual) scale() float32 { return f.Scale }
