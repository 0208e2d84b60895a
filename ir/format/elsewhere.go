// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// elsewhere are names that other tools give formats, and the texts that stand for them here, $1 what the first bracket
// matches. None of those texts is itself a name of this list.
var elsewhere = []struct {
	name *regexp.Regexp
	here []string
}{
	{regexp.MustCompile(`^nf4$`), []string{"codebook(nf4)"}},
	{regexp.MustCompile(`^fp4$`), []string{"e2m1", "float(2,1)"}},
	{regexp.MustCompile(`^fp6$`), []string{"e3m2", "e2m3"}},
	{regexp.MustCompile(`^(?:fp|float)8$`), []string{"e4m3", "e5m2"}},
	{regexp.MustCompile(`^(?:(?:fp|float)\d+_?)?(e4m3|e5m2|e3m2|e2m3|e2m1)(?:fn)?$`), []string{"$1"}},
	{regexp.MustCompile(`^(?:(?:fp|float)\d+_?)?e([45])m([23])fnuz$`), []string{"float($1,$2,fnuz)"}},
	{regexp.MustCompile(`^mx(?:fp|float)?\d*_?(e4m3|e5m2|e3m2|e2m3|e2m1)$`), []string{"mxfp($1,32)"}},
	{regexp.MustCompile(`^mxint_?(\d+)$`), []string{"mxint($1,32)"}},
	{regexp.MustCompile(`^(?:float16|half)$`), []string{"fp16"}},
	{regexp.MustCompile(`^bfloat16$`), []string{"bf16"}},
	{regexp.MustCompile(`^(?:float32|float)$`), []string{"fp32"}},
	{regexp.MustCompile(`^[si](\d+)$`), []string{"int($1)"}},
	{regexp.MustCompile(`^u(\d+)$`), []string{"uint($1)"}},
	{regexp.MustCompile(`^(u?fixed)_?(\d+)$`), []string{"$1($2)", "$1($2,4), with 4 fraction bits"}},
	{regexp.MustCompile(`^integer`), []string{"fixed(8,4)"}}, // the names of MASE, from here on
	{regexp.MustCompile(`^minifloat_denorm`), []string{"dfloat(4,3)"}},
	{regexp.MustCompile(`^minifloat`), []string{"float(4,3)"}},
	{regexp.MustCompile(`^(?:block_fp|bfp|msfp)$`), []string{"bfp(8,16,8)"}},
	{regexp.MustCompile(`^bfp(\d+)$`), []string{"bfp($1,16,8)"}},
	{regexp.MustCompile(`^block_minifloat`), []string{"bminifloat(4,3,16,8)"}},
	{regexp.MustCompile(`^block_log`), []string{"blog(5,16,8)"}},
}

// hls are the fixed-point types of C++ for synthesis, which count the bits in front of the point.
var hls = regexp.MustCompile(`^(?:ap_|ac_)?(u?)fixed<(\d{1,2}), ?(-?\d{1,3})`)

// meantElsewhere is what a text may mean in the words of another tool, as a hint that asks; "" where nothing is known.
func meantElsewhere(text string) string {
	if m := hls.FindStringSubmatch(text); m != nil {
		w, _ := strconv.Atoi(m[2])
		before, _ := strconv.Atoi(m[3])
		name := fmt.Sprintf("%sfixed(%d,%d", m[1], w, w-before)
		return fmt.Sprintf("did you mean %s), or %s,round=floor,over=wrap), which cuts and wraps as ap_fixed does?", name,
			name)
	}
	name, _, _ := strings.Cut(text, "(")
	name, _, _ = strings.Cut(strings.ToLower(name), "*")
	for _, e := range elsewhere {
		m := e.name.FindStringSubmatchIndex(name)
		if m == nil {
			continue
		}
		var all []string
		for _, here := range e.here {
			of := string(e.name.ExpandString(nil, here, name, m))
			if f, _, _ := strings.Cut(of, ", "); !known(f) {
				return ""
			}
			all = append(all, of)
		}
		return "did you mean " + strings.Join(all, " or ") + "?"
	}
	return ""
}

// known says that a text is one of a plan.
func known(text string) bool {
	_, err := ParsePattern(text)
	return err == nil
}

// hinted adds to an error about the name of a format what it may mean.
func (c *call) hinted(err *diag.Error) *diag.Error {
	if hint := meantElsewhere(c.text); hint != "" {
		return err.WithHint("%s", hint)
	}
	return err
}
