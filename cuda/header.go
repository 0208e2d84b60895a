// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// function is the head of the one function template of a kernel file.
var function = regexp.MustCompile(
	`(?s)\ntemplate\s*<([^>]*)>\s*__device__\s+__forceinline__\s+void\s+(\w+)\s*\(([^)]*)\)\s*\{`)

var (
	keyLine  = regexp.MustCompile(`^//\s+(threads|shared|blocks|regs|sass|loop|sectors|uses|archs):\s*(.*)$`)
	include  = regexp.MustCompile(`(?m)^\s*#\s*include`)
	lastWord = regexp.MustCompile(`^(.*?)(\w+)$`)
)

// layout is the hint of every file that cannot be read.
const layout = "docs/library.md says what a kernel file holds"

// ReadTemplate reads the text of a kernel file; file is its path in the library, and its stem the name that the
// function template must have. Error L0931 says what is missing or cannot be understood.
func ReadTemplate(file, text string) (*Template, error) {
	family, name, _ := strings.Cut(strings.TrimSuffix(file, ".cu"), "/")
	t := &Template{Name: name, Family: family, text: text}
	fail := func(format string, args ...any) (*Template, error) {
		return nil, diag.New(diag.KernelHeader, "cuda/kernels/"+file, format, args...).WithHint(layout)
	}
	if include.MatchString(text) {
		return fail("includes a file: name it in the header line `uses`")
	}
	heads := function.FindAllStringSubmatch(text, -1)
	if len(heads) != 1 || heads[0][2] != name {
		return fail("needs one `template <...> __device__ __forceinline__ void %s(...) {`", name)
	}
	if errs := t.header(text, "cuda/kernels/"+file); len(errs) > 0 {
		return nil, errs.Err()
	}
	if bad := t.params(heads[0][1]); bad != "" {
		return fail("template parameter %q: write `int NAME` or `class NAME`", bad)
	}
	if bad := t.args(heads[0][3]); bad != "" {
		return fail("argument %q: write `type name`", bad)
	}
	for _, used := range t.Uses {
		if _, err := Text(used); err != nil {
			return fail("uses: unknown file cuda/kernels/%s", used)
		}
	}
	for _, a := range t.Archs {
		if _, err := FindArch(a); err != nil {
			return fail("archs: %q is unknown", a)
		}
	}
	return t, nil
}

// header reads the comment at the top of the file, which errors name as pos.
func (t *Template) header(text, pos string) (errs diag.List) {
	lines := map[string]string{}
	var purpose []string
	for i, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "//") {
			break
		}
		if m := keyLine.FindStringSubmatch(line); m != nil {
			lines[m[1]] = strings.TrimSpace(lines[m[1]] + " " + m[2])
		} else if i > 0 {
			purpose = append(purpose, strings.TrimSpace(strings.TrimPrefix(line, "//")))
		}
	}
	_, t.Purpose, _ = strings.Cut(strings.Join(purpose, " "), ": ")
	if first, _, more := strings.Cut(t.Purpose, ". "); more {
		t.Purpose = first + "."
	}
	bad := func(key string, err error) {
		var why *diag.Error
		if errors.As(err, &why) {
			errs = append(errs, diag.New(diag.KernelHeader, pos, "header line %s: %s", key, why.Msg).WithHint(layout))
		}
	}
	for _, field := range []struct {
		key, absent string
		to          *Expr
	}{{"threads", "", &t.threads}, {"shared", "0", &t.shared}, {"blocks", "0", &t.blocks}, {"regs", "", &t.regs},
		{"sectors", "0", &t.sectors}} {
		text, ok := lines[field.key]
		if text = cmp.Or(text, field.absent); !ok && text == "" {
			errs = append(errs, diag.New(diag.KernelHeader, pos, "header line %s is missing", field.key).WithHint(layout))
			continue
		}
		var err error
		*field.to, err = ParseExpr(text)
		bad(field.key, err)
	}
	for _, item := range list(lines["sass"]) {
		w := wanted{}
		if when, rest, ok := strings.Cut(item, ":"); ok {
			e, err := ParseExpr(when)
			bad("sass", err)
			w.when, item = e, rest
		}
		for m := range strings.SplitSeq(item, "|") {
			w.any = append(w.any, strings.TrimSpace(m))
		}
		t.sass = append(t.sass, w)
	}
	var err error
	t.loops, err = budgets(list(lines["loop"]))
	bad("loop", err)
	t.Uses, t.Archs = list(lines["uses"]), list(lines["archs"])
	return errs
}

// list splits at commas.
func list(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// params reads the template parameters; the text of one that it cannot read is returned.
func (t *Template) params(text string) string {
	for _, p := range list(text) {
		kind, name, _ := strings.Cut(p, " ")
		if !slices.Contains([]string{"int", "class", "bool"}, kind) || !isName(strings.TrimSpace(name)) {
			return p
		}
		t.Params = append(t.Params, Param{Name: strings.TrimSpace(name), Type: kind == "class"})
	}
	return ""
}

// args reads the arguments; the text of one that it cannot read is returned.
func (t *Template) args(text string) string {
	for _, a := range list(strings.Join(strings.Fields(text), " ")) {
		m := lastWord.FindStringSubmatch(a)
		if m == nil || strings.TrimSpace(m[1]) == "" {
			return a
		}
		typ := strings.TrimSpace(strings.ReplaceAll(m[1], "__restrict__", ""))
		t.Args = append(t.Args, ArgDecl{Name: m[2], Type: typ, Pointer: strings.HasSuffix(typ, "*")})
	}
	return ""
}

var name = regexp.MustCompile(`^[A-Za-z_]\w*$`)

func isName(s string) bool { return name.MatchString(s) }
