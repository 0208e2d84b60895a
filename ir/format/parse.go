// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// maxText bounds the length of a format text.
const maxText = 4000

// call is a format text taken apart: name(args)*scale.
type call struct {
	text, name string
	family     *Family
	bracket    bool  // there was an argument list, possibly empty
	args       []arg // without a key
	opts       []arg // key=value
	scale      arg   // behind the star; empty if there is none
}

// arg is one argument and its column, counted from 1.
type arg struct {
	key, val string
	col      int
}

// Parse reads a format text, such as fixed(8,4), int(8,z=3)*0.05 or mxint8. An error is a *diag.Error with the column
// and the nearest known name.
func Parse(text string) (Format, error) {
	c, err := split(text)
	if err != nil {
		return nil, err
	}
	return c.build()
}

func (c *call) build() (Format, error) {
	if c.family.Alias != "" {
		if c.bracket || c.scale.col > 0 {
			return nil, c.fail(diag.FormatNumbers, len(c.name)+1, "%s takes no arguments", c.name).WithHint("use %s",
				c.family.Alias)
		}
		return Parse(c.family.Alias)
	}
	if err := c.checkOptions(); err != nil {
		return nil, err
	}
	f, err := c.family.build(c)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// fail makes the error "format "text", column n: msg".
func (c *call) fail(code diag.Code, col int, msg string, args ...any) *diag.Error {
	return diag.New(code, "", "format %s, column %d: "+msg, append([]any{quote(c.text), col}, args...)...)
}

// quote prints a text of the user in bounded length.
func quote(s string) string {
	if len(s) > 80 {
		return strconv.Quote(s[:77]) + "..."
	}
	return strconv.Quote(s)
}

// split takes a text apart and finds its family.
func split(text string) (*call, error) {
	c := &call{text: text}
	if len(text) > maxText {
		return nil, c.fail(diag.FormatSyntax, maxText+1, "longer than %d characters", maxText)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return nil, c.fail(diag.FormatSyntax, i+1, "a character that no format has; spaces are not allowed")
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		end = len(text)
	}
	c.name = text[:end]
	if c.name == "" {
		return nil, c.fail(diag.FormatSyntax, 1, "a format begins with its name").
			WithHint("for example fixed(8,4), of 8 bits, 4 of them behind the point")
	}
	all := All()
	i := slices.IndexFunc(all, func(f Family) bool { return f.Name == c.name })
	if i < 0 {
		return nil, unknownName(c, all)
	}
	c.family = &all[i]
	return c, c.splitRest(end)
}

func isNameRune(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

func unknownName(c *call, all []Family) error {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	err := c.fail(diag.UnknownFormat, 1, "unknown format %s", quote(c.name))
	if hint := meantElsewhere(c.text); hint != "" {
		return err.WithHint("%s", hint)
	}
	bare := strings.TrimRight(c.name, "0123456789")
	if meant := bare + "(" + c.name[len(bare):] + ")"; slices.Contains(names, bare) {
		if _, e := Parse(meant); e == nil {
			return err.WithHint("did you mean %s?", meant)
		}
	}
	if near := diag.Nearest(c.name, names); near != "" {
		like := all[slices.Index(names, near)].Example
		if near == like || strings.Contains(c.text, "(") {
			return err.WithHint("did you mean %s?", near)
		}
		return err.WithHint("did you mean %s, such as %s?", near, like)
	}
	return err.WithHint("known formats: %s", strings.Join(names, ", "))
}

// splitRest reads "(args)*scale" from offset i.
func (c *call) splitRest(i int) error {
	if i < len(c.text) && c.text[i] == '(' {
		c.bracket = true
		depth, start := 0, i+1
		for ; i < len(c.text); i++ {
			switch ch := c.text[i]; {
			case ch == '(':
				depth++
			case ch == ')':
				depth--
			case ch != ',' || depth != 1:
				continue
			}
			if depth == 0 || depth == 1 && c.text[i] == ',' {
				if err := c.addArg(start, i); err != nil {
					return err
				}
				start = i + 1
			}
			if depth == 0 {
				break
			}
		}
		if depth != 0 {
			return c.fail(diag.FormatSyntax, len(c.text)+1, "the bracket at column %d is not closed", len(c.name)+1)
		}
		i++
	}
	switch {
	case i >= len(c.text):
		return nil
	case c.text[i] != '*':
		return c.hinted(c.fail(diag.FormatSyntax, i+1, "expected * or the end, found %q", c.text[i]))
	case i+1 == len(c.text):
		return c.fail(diag.FormatScale, i+2, "a scale is missing after the star")
	}
	c.scale = arg{val: c.text[i+1:], col: i + 2}
	return nil
}

// addArg appends the argument text[from:to].
func (c *call) addArg(from, to int) error {
	s := c.text[from:to]
	if s == "" {
		return c.fail(diag.FormatSyntax, from+1, "an argument is missing")
	}
	key, val, isOption := strings.Cut(s, "=")
	if isOption && !strings.Contains(key, "(") { // that of an argument is in its bracket
		if key == "" || val == "" {
			return c.fail(diag.FormatSyntax, from+1, "an option is key=value")
		}
		c.opts = append(c.opts, arg{key, val, from + 1})
		return nil
	}
	if len(c.opts) > 0 {
		return c.fail(diag.FormatSyntax, from+1, "%s stands after an option; options come last", quote(s))
	}
	c.args = append(c.args, arg{val: s, col: from + 1})
	return nil
}

// checkOptions holds the options against those of the family.
func (c *call) checkOptions() error {
	for i, o := range c.opts {
		for _, p := range c.opts[:i] {
			if p.key == o.key {
				return c.fail(diag.FormatOption, o.col, "option %s is given twice", o.key)
			}
		}
		k := slices.IndexFunc(c.family.Options, func(d Option) bool { return d.Key == o.key })
		if k < 0 {
			return c.unknownOption(o)
		}
		values := c.family.Options[k].Values
		limits := slices.Contains(values, limitWord) && limitsOf(o.val) > Wrap
		if values == nil || limits || slices.Contains(values, o.val) && o.val != limitWord {
			continue
		}
		err := c.fail(diag.FormatOption, o.col+len(o.key)+1, "%s takes no value %s", o.key, quote(o.val))
		if near := diag.Nearest(o.val, values); near != "" {
			return err.WithHint("did you mean %s=%s?", o.key, near)
		}
		return err.WithHint("%s is one of %s", o.key, strings.Join(values, ", "))
	}
	return nil
}

func (c *call) unknownOption(o arg) error {
	keys := make([]string, len(c.family.Options))
	for i, d := range c.family.Options {
		keys[i] = d.Key
	}
	err := c.fail(diag.FormatOption, o.col, "%s has no option %s", c.name, quote(o.key))
	if near := diag.Nearest(o.key, keys); near != "" {
		return err.WithHint("did you mean %s=?", near)
	}
	return err.WithHint("its options are %s", strings.Join(keys, ", "))
}

// intRange names one integer argument and its limits.
type intRange struct {
	name   string
	lo, hi int
}

// ints reads the arguments without a key, which must be exactly these integers.
func (c *call) ints(ranges ...intRange) ([]int, error) {
	if len(c.args) != len(ranges) {
		names := make([]string, len(ranges))
		for i, r := range ranges {
			names[i] = r.name
		}
		return nil, c.fail(diag.FormatNumbers, len(c.name)+1, "%s takes %d numbers (%s), found %d",
			c.name, len(ranges), strings.Join(names, ", "), len(c.args)).WithHint("for example %s", c.family.Example)
	}
	out := make([]int, len(ranges))
	for i, a := range c.args {
		v, err := c.integer(a.val, a.col, ranges[i])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// integer reads a decimal integer with an optional minus sign.
func (c *call) integer(s string, col int, r intRange) (int, error) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, c.fail(diag.FormatNumbers, col, "%s is not an integer: %s", r.name, quote(s))
	}
	v, err := strconv.Atoi(s)
	if err != nil || v < r.lo || v > r.hi {
		return 0, c.fail(diag.FormatNumbers, col, "%s is %s; it must lie in %d..%d", r.name, s, r.lo, r.hi).
			WithHint("for example %s", c.family.Example)
	}
	return v, nil
}

// option gives the value of a key, "" if it is not set.
func (c *call) option(key string) string {
	for _, o := range c.opts {
		if o.key == key {
			return o.val
		}
	}
	return ""
}

// intOption reads an integer option; without it the value is def.
func (c *call) intOption(def int, r intRange) (int, error) {
	for _, o := range c.opts {
		if o.key == r.name {
			if o.key == "bias" && o.val == "fit" {
				return 0, c.fail(diag.FormatNumbers, o.col,
					"bias=fit leaves the bias to calibration; only a plan and --formats may").
					WithHint("give a number, such as bias=%d", def)
			}
			return c.integer(o.val, o.col+len(o.key)+1, r)
		}
	}
	return def, nil
}

// word takes the last argument away where it is one of the names, and gives its place among them, -1 otherwise.
func (c *call) word(names ...string) int {
	last := len(c.args) - 1
	if last < 0 {
		return -1
	}
	i := slices.Index(names, c.args[last].val)
	if i >= 0 {
		c.args = c.args[:last]
	}
	return i
}

// dialect reads the options round and dialect of floats.
func (c *call) dialect() (Round, error) {
	if c.option("dialect") == "" {
		return c.round(), nil
	}
	for _, key := range []string{"round", "over"} {
		if c.option(key) != "" {
			return 0, c.fail(diag.FormatOption, 1, "dialect=mase rounds and saturates in its own way, without %s=", key)
		}
	}
	return RoundMASE, nil
}

// round and over read the options of these names, whose values are checked already.
func (c *call) round() Round { return Round(max(slices.Index(roundNames[:], c.option("round")), 0)) }
func (c *call) over() Over {
	return max(limitsOf(c.option("over")), Over(slices.Index(overNames[:], c.option("over"))), Sat)
}

// limitWord stands for limits among the values of an option.
const limitWord = "LO..HI"

// limitsOf reads limits as String prints them; Sat where s is something else.
func limitsOf(s string) Over {
	_, last, _ := strings.Cut(s, "..")
	hi, err := strconv.ParseInt(last, 10, 32)
	if err != nil || hi < 1 || hi > MaxLimit {
		return Sat
	}
	for _, o := range []Over{From0(hi), Around0(hi)} {
		if o.String() == s {
			return o
		}
	}
	return Sat
}

// noScale refuses a scale.
func (c *call) noScale() error {
	if c.scale.col == 0 {
		return nil
	}
	return c.fail(diag.FormatScale, c.scale.col, "%s takes no scale",
		c.name).WithHint("int and uint take one: int(8)*0.05")
}

// readScale reads the number, [axis] or [axis:group] behind the star.
func (c *call) readScale() (scale float32, axis, group int, err error) {
	s, col := c.scale.val, c.scale.col
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return 0, 0, 0, c.fail(diag.FormatSyntax, col, "the bracket is not closed")
		}
		axisText, groupText, grouped := strings.Cut(inner, ":")
		if axis, err = c.integer(axisText, col+1, intRange{"axis", 0, maxAxis}); err != nil || !grouped {
			return 0, axis, 0, err
		}
		group, err = c.integer(groupText, col+2+len(axisText), intRange{"group", 1, maxBlock})
		return 0, axis, group, err
	}
	if strings.Trim(s, "+-.0123456789abcdefpxABCDEFPX") != "" {
		return 0, 0, 0, c.fail(diag.FormatScale, col, "%s is neither a number nor [axis]", quote(s))
	}
	v, perr := strconv.ParseFloat(s, 32)
	switch {
	case perr != nil && !math.IsInf(v, 0):
		return 0, 0, 0, c.fail(diag.FormatScale, col, "%s is neither a number nor [axis]", quote(s))
	case !(v > 0) || math.IsInf(v, 0):
		return 0, 0, 0, c.fail(diag.FormatScale, col, "scale %s is not a positive float32 number", s)
	}
	return float32(v), PerTensor, 0, nil
}
