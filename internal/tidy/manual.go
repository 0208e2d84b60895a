// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	target     = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	subcommand = regexp.MustCompile(`\bUse:\s*"([a-z][a-z0-9-]*)`)
	goal       = regexp.MustCompile(`^[a-z]`)
	fileInUse  = regexp.MustCompile(`^(?:examples|scripts|docs|\.ci)/\S+$`)
)

// hidden commands are not for people: the root itself, and the child process of the PJRT engine.
var hidden = map[string]bool{"lathe": true, "pjrt-worker": true}

// elsewhere are pages whose commands belong to something else, with the reason.
var elsewhere = map[string]string{
	"docs/errors.md":  "its examples are wrong on purpose",
	"docs/emitted.md": "it runs the Makefile of an emitted folder",
}

// commandPage shows every subcommand; README.md and the other pages of docs/ show some.
const commandPage = "docs/commands.md"

// manual checks the commands in the code blocks of README.md and of the pages of docs/: make targets, subcommands of
// lathe (the literals `Use: "name ..."` in internal/cli), and files below examples/, scripts/ and docs/. Each
// subcommand must occur in docs/commands.md.
func manual(t Tree) []Finding {
	s := surfaceOf(t)
	var out []Finding
	for _, f := range t {
		ours := f.Path == "README.md" || strings.HasPrefix(f.Path, "docs/") && path.Ext(f.Path) == ".md"
		if !ours || elsewhere[f.Path] != "" {
			continue
		}
		shown := map[string]bool{}
		for n, line := range codeLines(string(f.Data)) {
			for _, msg := range s.unknown(strings.Fields(strings.TrimPrefix(line, "$ ")), shown) {
				out = append(out, Finding{Path: f.Path, Line: n + 1, Msg: msg})
			}
		}
		for _, c := range s.commands {
			if f.Path == commandPage && !shown[c] {
				out = append(out, Finding{Path: f.Path, Msg: "does not show lathe " + c})
			}
		}
	}
	return out
}

// surface is what a command line in a page may name: make targets, subcommands, files and folders.
type surface struct {
	targets, files map[string]bool
	commands       []string // in alphabetical order
}

// unknown says what the words of a line name that is not there, and adds the subcommands to shown.
func (s surface) unknown(fields []string, shown map[string]bool) []string {
	var out []string
	for i, w := range fields {
		if fileInUse.MatchString(w) && !strings.Contains(w, "$") && !s.files[strings.TrimSuffix(w, "/")] {
			out = append(out, w+" does not exist")
		}
		if i+1 == len(fields) {
			continue
		}
		next := fields[i+1]
		switch {
		case i == 0 && w == "make" && goal.MatchString(next) && !s.targets[next]:
			out = append(out, "make "+next+": no such target")
		case i == 0 && (w == "lathe" || w == "bin/lathe"):
			if shown[next] = true; len(s.commands) > 0 && !slices.Contains(s.commands, next) {
				out = append(out, "lathe "+next+": no such command")
			}
		}
	}
	return out
}

func surfaceOf(t Tree) surface {
	s := surface{targets: map[string]bool{}, files: map[string]bool{}}
	for _, f := range t {
		s.files[f.Path] = true
		for dir := f.dir(); dir != "."; dir = path.Dir(dir) {
			s.files[dir] = true
		}
		switch {
		case f.Path == "Makefile":
			for _, m := range target.FindAllSubmatch(f.Data, -1) {
				s.targets[string(m[1])] = true
			}
		case f.dir() == "internal/cli" && f.Go != nil && !f.isTest():
			for _, m := range subcommand.FindAllSubmatch(f.Data, -1) {
				s.commands = append(s.commands, string(m[1]))
			}
		}
	}
	slices.Sort(s.commands)
	s.commands = slices.DeleteFunc(slices.Compact(s.commands), func(c string) bool { return hidden[c] })
	return s
}

// codeLines is the text with every line outside a fenced or indented code block made empty, trimmed.
func codeLines(text string) []string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			lines[i] = ""
		case fenced || strings.HasPrefix(line, "    "):
			lines[i] = strings.TrimSpace(line)
		default:
			lines[i] = ""
		}
	}
	return lines
}
