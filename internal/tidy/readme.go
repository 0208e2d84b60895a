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
	fileInUse  = regexp.MustCompile(`^(?:examples|scripts|docs|\.ci)/\S+$`)
)

// hidden commands are not for people: the root itself, and the child process of the PJRT engine.
var hidden = map[string]bool{"lathe": true, "pjrt-worker": true}

// readme checks the commands in the code blocks of README.md: make targets, subcommands of lathe (the literals
// `Use: "name ..."` in internal/cli), and files below examples/, scripts/ and docs/. Each subcommand must occur.
func readme(t Tree) []Finding {
	targets, commands, files, text := surface(t)
	var out []Finding
	shown := map[string]bool{}
	for n, line := range codeLines(text) {
		if line == "" {
			continue
		}
		add := func(msg string) { out = append(out, Finding{Path: "README.md", Line: n + 1, Msg: msg}) }
		fields := strings.Fields(strings.TrimPrefix(line, "$ "))
		for i, w := range fields {
			if fileInUse.MatchString(w) && !files[strings.TrimSuffix(w, "/")] {
				add(w + " does not exist")
			}
			if i+1 == len(fields) {
				continue
			}
			next := fields[i+1]
			switch {
			case i == 0 && w == "make" && !targets[next]:
				add("make " + next + ": no such target")
			case i == 0 && (w == "lathe" || w == "bin/lathe"):
				if shown[next] = true; len(commands) > 0 && !slices.Contains(commands, next) {
					add("lathe " + next + ": no such command")
				}
			}
		}
	}
	for _, c := range commands {
		if !shown[c] {
			out = append(out, Finding{Path: "README.md", Msg: "does not show lathe " + c})
		}
	}
	return out
}

// surface is what README.md may name: make targets, subcommands, files and folders; and README.md itself.
func surface(t Tree) (targets map[string]bool, commands []string, files map[string]bool, text string) {
	targets, files = map[string]bool{}, map[string]bool{}
	for _, f := range t {
		files[f.Path] = true
		for dir := f.dir(); dir != "."; dir = path.Dir(dir) {
			files[dir] = true
		}
		switch {
		case f.Path == "Makefile":
			for _, m := range target.FindAllSubmatch(f.Data, -1) {
				targets[string(m[1])] = true
			}
		case f.Path == "README.md":
			text = string(f.Data)
		case f.dir() == "internal/cli" && f.Go != nil && !f.isTest():
			for _, m := range subcommand.FindAllSubmatch(f.Data, -1) {
				commands = append(commands, string(m[1]))
			}
		}
	}
	slices.Sort(commands)
	commands = slices.DeleteFunc(slices.Compact(commands), func(c string) bool { return hidden[c] })
	return targets, commands, files, text
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
