// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"regexp"
	"sort"
	"strings"

	"lathe/internal/diag"
)

const (
	typeRE = `(?:integer\s+|int\s+|bit\s+|logic\s+|signed\s+|\[[^\]]*\]\s*)*`
	netRE  = `(?:(?:wire|reg|logic|var|signed)\b\s*)*`
)

// The reader knows the house style only: one module a file, ANSI header, one declaration a line or several separated
// by commas, ranges [msb:0], every port with its own direction. A test reads every file of the library with it.
var (
	commentRE  = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	moduleRE   = regexp.MustCompile(`(?s)\bmodule\s+(\w+)\s*(#\s*\()?`)
	paramRE    = regexp.MustCompile(`^(?:(parameter|localparam)\s+)?` + typeRE + `(\w+)\s*=\s*(.*)$`)
	portRE     = regexp.MustCompile(`^(input|output)\s+` + netRE + `(?:\[(.*):\s*0\s*\])?\s*(\w+)$`)
	timingRE   = regexp.MustCompile(`\blatency:\s*(.*?)\s*\bii:\s*(.*?)\s*\border:\s*(.*)`)
	instanceRE = regexp.MustCompile(`\b(\w+)\s*(?:#\s*\(|\w+\s*\()`)
)

// ReadHeader reads a module file outside the library; the module has the file's stem for a name. Errors as Lookup.
func ReadHeader(f File) (*Header, error) { return parse(stem(f.Name), "", string(f.Data)) }

// parse reads one module file. name is the file's stem, which must be the module's name.
func parse(name, family, text string) (*Header, error) {
	h := &Header{Name: name, Family: family}
	if err := h.parseComment(text); err != nil {
		return nil, err
	}
	code := commentRE.ReplaceAllString(text, " ")
	loc := moduleRE.FindStringSubmatchIndex(code)
	if loc == nil || code[loc[2]:loc[3]] != name {
		return nil, h.bad("the file holds no module of its own name")
	}
	rest := code[loc[1]:]
	if loc[4] >= 0 {
		list, after, ok := group(rest)
		if !ok {
			return nil, h.bad("parameter list is not closed")
		}
		if err := h.parseParams(list); err != nil {
			return nil, err
		}
		rest = after
	}
	_, rest, _ = strings.Cut(rest, "(")
	list, body, ok := group(rest)
	if !ok {
		return nil, h.bad("port list is not closed")
	}
	if err := h.parsePorts(list); err != nil {
		return nil, err
	}
	h.Deps = dependencies(name, body)
	h.parseBody(body)
	return h, nil
}

func (h *Header) bad(cause string) error {
	return diag.New(diag.ModuleHeader, h.Family+"/"+h.Name+".sv", "%s", cause)
}

// parseComment reads the comment lines that stand above the module.
func (h *Header) parseComment(text string) error {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		body, ok := strings.CutPrefix(line, "//")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(body))
	}
	all := strings.Join(lines, "\n")
	_, purpose, ok := strings.Cut(all, h.Name+":")
	if !ok {
		return h.bad("header comment does not begin with the module's name and a colon")
	}
	all, err := h.cutFacts(all)
	if err != nil {
		return err
	}
	m := timingRE.FindStringSubmatch(strings.ReplaceAll(all, "\n", " "))
	if m == nil {
		return h.bad("header comment has no line latency: ... ii: ... order: ...")
	}
	purpose, _, _ = strings.Cut(purpose, "latency:")
	purpose, _, _ = strings.Cut(purpose, "\nparameters")
	h.Purpose = strings.Join(strings.Fields(purpose), " ")
	if h.Latency, err = ParseExpr(m[1]); err != nil {
		return h.bad(err.Error())
	}
	if h.II, err = ParseExpr(m[2]); err != nil {
		return h.bad(err.Error())
	}
	h.Order = m[3]
	return nil
}

func (h *Header) parseParams(list string) error {
	for _, item := range split(list) {
		m := paramRE.FindStringSubmatch(item)
		if m == nil {
			return h.bad("cannot read parameter " + item)
		}
		h.Params = append(h.Params, ParamDecl{Name: m[2], Default: strings.TrimSpace(m[3]), Local: m[1] == "localparam"})
	}
	return nil
}

func (h *Header) parsePorts(list string) error {
	for _, item := range split(list) {
		m := portRE.FindStringSubmatch(item)
		if m == nil {
			return h.bad("cannot read port " + item)
		}
		h.Ports = append(h.Ports, PortDecl{Name: m[3], Output: m[1] == "output", Msb: strings.TrimSpace(m[2])})
	}
	return nil
}

// group returns the text up to the parenthesis that closes the one already open, and the text after it.
func group(text string) (inside, after string, ok bool) {
	depth := 1
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[:i], text[i+1:], true
			}
		}
	}
	return "", "", false
}

// split cuts at commas outside brackets and drops line breaks.
func split(list string) []string {
	var items []string
	depth, from := 0, 0
	cut := func(to int) {
		if item := strings.Join(strings.Fields(list[from:to]), " "); item != "" {
			items = append(items, item)
		}
		from = to + 1
	}
	for i, r := range list {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				cut(i)
			}
		}
	}
	cut(len(list))
	return items
}

// dependencies returns the library modules that body instantiates, sorted, without the module itself.
func dependencies(self, body string) []string {
	found := map[string]bool{}
	for _, m := range instanceRE.FindAllStringSubmatch(body, -1) {
		if _, ok := entries()[m[1]]; ok && m[1] != self {
			found[m[1]] = true
		}
	}
	var deps []string
	for name := range found {
		deps = append(deps, name)
	}
	sort.Strings(deps)
	return deps
}
