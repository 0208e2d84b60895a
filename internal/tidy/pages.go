// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	heading = regexp.MustCompile(`^#+ (.*)$`)
	// anchored is a link to a heading of this page, or of another one.
	anchored = regexp.MustCompile(`\]\(([^)#:]*)#([^)]*)\)`)
	// question is a line of the index of decisions.
	question = regexp.MustCompile(`^- \[(.*)\]\(([^)#]*)#[^)]*\)$`)
	unnamed  = regexp.MustCompile(`[^\pL\pN_ -]`)
)

// anchor is the name by which a link finds a heading: lower case, hyphens for spaces, no other marks.
func anchor(title string) string {
	return strings.ReplaceAll(unnamed.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

// headings are the headings of a page that stand outside of code.
func headings(text string) (list []string) {
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if m := heading.FindStringSubmatch(strings.TrimSpace(line)); m != nil && !fenced {
			list = append(list, m[1])
		}
	}
	return list
}

// anchors demands that links to headings find them.
func anchors(t Tree) []Finding {
	have := map[string][]string{}
	for _, f := range t {
		if path.Ext(f.Path) == ".md" {
			for _, h := range headings(string(f.Data)) {
				have[f.Path] = append(have[f.Path], anchor(h))
			}
		}
	}
	var out []Finding
	for _, f := range t {
		if path.Ext(f.Path) != ".md" {
			continue
		}
		n := 0
		for line := range strings.Lines(string(f.Data)) {
			n++
			for _, m := range anchored.FindAllStringSubmatch(line, -1) {
				page := f.Path
				if m[1] != "" {
					page = path.Join(f.dir(), m[1])
				}
				if path.Ext(page) == ".md" && !slices.Contains(have[page], m[2]) {
					out = append(out, Finding{Path: f.Path, Line: n, Msg: fmt.Sprintf("%s has no heading #%s", page, m[2])})
				}
			}
		}
	}
	return out
}

const decisionIndex = "docs/decisions.md"

// decisions demands that the index of decisions has every question of the pages of docs/decisions/, in their order.
func decisions(t Tree) []Finding {
	asked, listed := map[string][]string{}, map[string][]string{}
	for _, f := range t {
		switch {
		case f.dir() == "docs/decisions":
			asked[f.Path] = headings(string(f.Data))[1:]
		case f.Path == decisionIndex:
			for line := range strings.Lines(string(f.Data)) {
				if m := question.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
					page := path.Join("docs", m[2])
					listed[page] = append(listed[page], m[1])
				}
			}
		}
	}
	var out []Finding
	for page, questions := range asked {
		for i, q := range questions {
			if i >= len(listed[page]) || listed[page][i] != q {
				out = append(out, Finding{Path: decisionIndex, Msg: fmt.Sprintf("question %d of %s is %q", i+1, page, q)})
				break
			}
		}
		if n := len(questions); len(listed[page]) > n {
			out = append(out, Finding{Path: decisionIndex, Msg: fmt.Sprintf("%s has no question %q", page, listed[page][n])})
		}
	}
	return out
}
