// SPDX-License-Identifier: Apache-2.0

package rtl_test

import (
	"regexp"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/sim"
)

// TestLibrary holds every module file to the house rules and its header comment to its declaration.
func TestLibrary(t *testing.T) {
	for _, name := range rtl.Modules() {
		t.Run(name, func(t *testing.T) {
			h, err := rtl.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			files, err := rtl.Files(name)
			if err != nil {
				t.Fatal(err)
			}
			text := string(files[len(files)-1].Data)
			checkText(t, text)
			checkHeader(t, h, text)
			if _, err := h.Cost(nil, nil); err != nil {
				t.Error(err) // every module states what it costs
			}
		})
	}
}

func checkText(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != "// SPDX-License-Identifier: Apache-2.0" {
		t.Error("first line is not the SPDX line")
	}
	if len(lines) > 250 {
		t.Errorf("%d lines", len(lines))
	}
	for i, line := range lines {
		if len(line) > 120 || strings.ContainsAny(line, "\t\r") || strings.TrimRight(line, " ") != line {
			t.Errorf("line %d: longer than 120 columns, or tabs or blanks at the end", i+1)
		}
	}
	code := lines[:0:0]
	for _, line := range lines {
		if !strings.HasPrefix(line, "//") && line != "" {
			code = append(code, line)
		}
	}
	for _, line := range signedCasts(text) {
		t.Errorf("%q: Yosys drops an operator of one operand in front of a size cast: write it inside", line)
	}
	if code[0] != "`default_nettype none" || code[len(code)-1] != "`default_nettype wire" {
		t.Error("the code does not stand between `default_nettype none and wire")
	}
}

// unary is an operator of one operand in front of a size cast, behind another operator or an opening bracket.
var unary = regexp.MustCompile(`(?:^|[-=?:,(\[{+*/%<>&|^~!#])\s*[-~!&|^+]\s*\w+'\(`)

// signedCasts finds such as -W'(X), which Yosys 0.23 reads as if the minus were not there.
func signedCasts(text string) []string {
	return unary.FindAllString(strings.NewReplacer("&&", "#", "||", "#").Replace(text), -1)
}

func TestSignedCasts(t *testing.T) {
	for text, want := range map[string]int{
		"a <= -W'(X);": 1, "a ? ~W'(X) : b": 1, "f(!W'(X))": 1, "a && -W'(X)": 1, "a - -W'(X)": 1,
		"a <= W'(-X);": 0, "a - W'(X)": 0, "a[3] & W'(X)": 0, "f(a) && W'(X)": 0, "-(W'(X))": 0,
	} {
		if got := signedCasts(text); len(got) != want {
			t.Errorf("%s: found %q", text, got)
		}
	}
}

func checkHeader(t *testing.T, h *rtl.Header, text string) {
	t.Helper()
	comment, _, _ := strings.Cut(text, "`default_nettype")
	if h.Purpose == "" || h.Order == "" {
		t.Error("header comment gives no purpose or no order")
	}
	values, err := h.Values(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range h.Params {
		derived := regexp.MustCompile(`[A-Z]`).MatchString(p.Default) && p.Default[0] != '"'
		if !derived && !regexp.MustCompile(`\b`+p.Name+`\b`).MatchString(comment) {
			t.Errorf("header comment does not explain parameter %s", p.Name)
		}
	}
	if latency, ii, err := h.Timing(nil); err != nil || latency < 0 || ii < 1 {
		t.Errorf("latency and ii at the defaults: %d, %d, %v", latency, ii, err)
	}
	for _, p := range h.Ports {
		if _, err := h.Width(p.Name, values); err != nil {
			t.Errorf("port %s: %v", p.Name, err)
		}
	}
}

// TestLint reads every module at its defaults with all of Verilator's warnings, and elaborates it in Icarus.
func TestLint(t *testing.T) {
	tools.Need(t, "verilator", "iverilog")
	for _, name := range rtl.Modules() {
		t.Run(name, func(t *testing.T) {
			files, err := rtl.Files(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := sim.Lint(t.Context(), tools.CacheDir(t), name, files); err != nil {
				t.Error(err)
			}
			if err := sim.Elaborate(t.Context(), tools.CacheDir(t), name, files); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFed: a module and its form whose words come through ports have the same parameters, but for those of the ROM,
// with the same defaults, and the module hands each of them on.
func TestFed(t *testing.T) {
	pairs := 0
	for _, name := range rtl.Modules() {
		plain, fed := strings.CutSuffix(name, "_fed")
		if !fed {
			continue
		}
		pairs++
		inner, err := rtl.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		outer, err := rtl.Lookup(plain)
		if err != nil {
			t.Fatal(err)
		}
		files, err := rtl.Files(plain)
		if err != nil {
			t.Fatal(err)
		}
		text := string(files[len(files)-1].Data)
		has := map[string]string{}
		for _, p := range outer.Params {
			if !p.Local && p.Name != "ROM_STYLE" && !strings.HasPrefix(p.Name, "WEIGHTS") {
				has[p.Name] = p.Default
			}
		}
		for _, p := range inner.Params {
			if derived := strings.Contains(p.Default, " "); p.Local || derived {
				continue // widths of ports are made of the others
			}
			if other, ok := has[p.Name]; !ok || other != p.Default {
				t.Errorf("%s of %s is %s by default, of %s %q", p.Name, name, p.Default, plain, other)
			}
			if delete(has, p.Name); !strings.Contains(text, "."+p.Name+"("+p.Name+")") {
				t.Errorf("%s does not hand %s on", plain, p.Name)
			}
		}
		for p := range has {
			t.Errorf("%s lacks %s of %s", name, p, plain)
		}
	}
	if pairs < 4 {
		t.Errorf("%d pairs", pairs)
	}
}
