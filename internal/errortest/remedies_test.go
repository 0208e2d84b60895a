// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lathe/internal/diag"
)

var (
	quoted   = regexp.MustCompile("`([^`]+)`")
	listed   = regexp.MustCompile(`(?m)^  ([a-z-]+) +\S`)
	named    = regexp.MustCompile(`\b(?:docs/[a-z-]+\.md|scripts/[a-z-]+)`)
	inTable  = regexp.MustCompile(`\b([a-z_]+)(?: = (?:"[^"]*"|\S+))? (?:of|in) (\[+[a-z.]+\]+)`)
	rootPath = filepath.Join("..", "..")
)

// helps are the texts of `lathe help`, by command.
type helps map[string]string

// of is the help of a command; "" where there is none.
func (h helps) of(t *testing.T, command string) string {
	t.Helper()
	text, known := h[command]
	if !known {
		out, err := exec.Command(filepath.Join(programs, "lathe"), append([]string{"help"},
			strings.Fields(command)...)...).Output()
		if text = string(out); err != nil {
			text = ""
		}
		h[command] = text
	}
	return text
}

// all is the help of all commands.
func (h helps) all(t *testing.T) string {
	var b strings.Builder
	_, commands, _ := strings.Cut(h.of(t, ""), "Available Commands:")
	for _, m := range listed.FindAllStringSubmatch(commands, -1) {
		b.WriteString(h.of(t, m[1]))
	}
	return b.String() + h.of(t, "search run") + h.of(t, "board build") + h.of(t, "board run")
}

// TestRemedies: the commands, flags, files and keys of the plan that the remedies of the catalogue name exist.
func TestRemedies(t *testing.T) {
	help, checked := helps{}, map[string]int{}
	every := help.all(t)
	plan, err := os.ReadFile(filepath.Join(rootPath, "docs", "plan.md")) // which another test holds to the code
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range diag.Catalogue() {
		for _, m := range quoted.FindAllStringSubmatch(e.Remedy, -1) {
			if wrong := help.wrong(t, strings.Fields(m[1]), every, checked); wrong != "" {
				t.Errorf("%s: %q: there is no %s", e.Code, m[0], wrong)
			}
		}
		for _, name := range named.FindAllString(e.Remedy, -1) {
			checked["file"]++
			if _, err := os.Stat(filepath.Join(rootPath, name)); err != nil {
				t.Errorf("%s: %v", e.Code, err)
			}
		}
		for _, m := range inTable.FindAllStringSubmatch(e.Remedy, -1) {
			checked["key"]++
			_, table, _ := strings.Cut(string(plan), "\n## `"+m[2]+"`\n")
			if table, _, _ = strings.Cut(table, "\n## "); !strings.Contains(table, "\n| `"+m[1]+"` |") {
				t.Errorf("%s: docs/plan.md has no key %s of %s", e.Code, m[1], m[2])
			}
		}
	}
	for _, what := range []string{"command", "flag", "file", "key"} {
		if checked[what] < 20 {
			t.Errorf("%d times a %s: the remedies are not read right", checked[what], what)
		}
	}
}

// wrong is a command or flag of the words of a remedy that does not exist; every is the help of all commands.
func (h helps) wrong(t *testing.T, line []string, every string, checked map[string]int) string {
	text := every
	if line[0] == "lathe" && len(line) > 1 {
		command := line[1]
		if (command == "search" || command == "board") && len(line) > 2 {
			command += " " + line[2]
		}
		checked["command"]++
		if text = h.of(t, command); !strings.Contains(text, "Usage:\n  lathe "+command) {
			return "command " + command
		}
	} else if !strings.HasPrefix(line[0], "-") {
		return "" // of another program
	}
	for _, word := range line {
		if !strings.HasPrefix(word, "-") {
			continue
		}
		checked["flag"]++
		if !regexp.MustCompile(`(?m)^ +(?:-\w, )?` + word + `\b|^ +` + word + `, `).MatchString(text) {
			return "flag " + word
		}
	}
	return ""
}
