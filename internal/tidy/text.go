// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// forbidden texts, written so that this file does not hold them itself.
var forbidden = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`(^|[^A-Za-z0-9_.])/(work|farm|root|home)[/]`), "a path of one machine"},
	{regexp.MustCompile(`\b(TO[D]O|FIX[M]E|XX[X])\b`), "an unfinished mark"},
	{regexp.MustCompile(`(?i)not[ ]implemented|un[i]mplemented`), "an unfinished mark"},
	{regexp.MustCompile(`(?i)\bgenerated (on|at) \S*\d`), "a date of generation: equal input must give equal bytes"},
	{regexp.MustCompile(`//[a-z0-9.-]*(py[p]i|python[h]osted|npm[j]s|proxy\.go[l]ang)[a-z0-9.-]*`), "a registry address"},
}

func words(t Tree) []Finding {
	var out []Finding
	for _, f := range t {
		if f.binary() || f.Path == "LICENSE" || f.Path == "go.sum" {
			continue
		}
		n := 0
		for line := range bytes.Lines(f.Data) {
			n++
			for _, w := range forbidden {
				if found := w.pattern.Find(line); found != nil {
					out = append(out, Finding{Path: f.Path, Line: n, Msg: fmt.Sprintf("%q: %s", bytes.TrimSpace(found), w.why)})
				}
			}
		}
	}
	return out
}

// page is the name of a Markdown page, with its folder where one is given.
var page = regexp.MustCompile(`(?:[A-Za-z0-9_.*-]+/)*[A-Za-z0-9_*-]+\.md\b`)

// links demands that cited pages exist, so that a comment never sends its reader to a page that is not there.
func links(t Tree) []Finding {
	have := map[string]bool{}
	for _, f := range t {
		have[f.Path] = true
	}
	var out []Finding
	for _, f := range t {
		if f.binary() || strings.Contains(f.Path, "testdata/") {
			continue
		}
		n := 0
		for line := range bytes.Lines(f.Data) {
			n++
			for _, m := range page.FindAll(line, -1) {
				name := string(m)
				found := have[path.Clean(name)] || have[path.Join(f.dir(), name)] || have[path.Join("docs", name)]
				if !found && !strings.Contains(name, "*") {
					out = append(out, Finding{Path: f.Path, Line: n, Msg: name + " does not exist"})
				}
			}
		}
	}
	return out
}

// row is a line of a table whose first cell is a folder: | `ir/format/` | ...
var row = regexp.MustCompile("(?m)^\\| `([a-z][a-z0-9_/.-]*)/` \\|")

const architecture = "docs/architecture.md"

// folders compares the table of folders with the folders that hold code.
func folders(t Tree) []Finding {
	there := map[string]bool{}
	for _, f := range t {
		if f.source() && f.dir() != "." && !strings.HasPrefix(f.Path, ".") {
			there[f.dir()] = true
		}
	}
	var text []byte
	for _, f := range t {
		if f.Path == architecture {
			text = f.Data
		}
		if top, _, below := strings.Cut(f.Path, "/"); below && (top == "examples" || top == "docs") {
			there[top] = true
		}
	}
	listed := map[string]bool{}
	var out []Finding
	for _, m := range row.FindAllSubmatch(text, -1) {
		name := string(m[1])
		if listed[name] = true; !there[name] {
			out = append(out, Finding{Path: architecture, Msg: "lists " + name + "/, which holds no code"})
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(there)) {
		if !listed[dir] {
			out = append(out, Finding{Path: architecture, Msg: "does not list " + dir + "/"})
		}
	}
	return out
}
