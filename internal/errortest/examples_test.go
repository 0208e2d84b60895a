// SPDX-License-Identifier: Apache-2.0

// Package errortest provokes every error of the catalogue: what the catalogue gives as an example is run, and must end
// in that error.
package errortest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/clitest"
	"lathe/internal/diag"
)

// programs is the folder of the built commands, fixtures that of models and arrays.
var programs, fixtures string

func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		pjrttest.Main(m) // as the worker of an engine
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lathe-errors-*")
	if err == nil {
		defer os.RemoveAll(dir)
		programs, fixtures = filepath.Join(dir, "bin"), filepath.Join(dir, "fixtures")
		err = errors.Join(os.Mkdir(programs, 0o755), os.Mkdir(fixtures, 0o755))
	}
	if err == nil {
		err = errors.Join(clitest.Build(programs), clitest.WriteModels(fixtures), clitest.WriteArrays(fixtures),
			clitest.WriteRecordings(fixtures))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestExamples runs the examples that are commands; the others are those of TestFaults.
func TestExamples(t *testing.T) {
	for _, e := range diag.Catalogue() {
		if !strings.HasPrefix(e.Example, "$ ") {
			if faults[e.Code] == nil {
				t.Errorf("%s: %q is not run by anything", e.Code, e.Example)
			}
			continue
		}
		if faults[e.Code] != nil {
			t.Errorf("%s is provoked by a command and by Go", e.Code)
		}
		t.Run(string(e.Code), func(t *testing.T) {
			t.Parallel()
			runExample(t, e)
		})
	}
}

// codeLine finds the codes of reported errors: at the beginning of a line, behind the program or a position.
var codeLine = regexp.MustCompile(`(?m)^(?:\S.*?: )?(L[01][0-9]{3}): `)

// runExample runs all commands; the last must fail with the code, and with no other.
func runExample(t *testing.T, e diag.Entry) {
	dir := t.TempDir()
	archive := txtar.Parse([]byte(e.Example))
	for _, f := range archive.Files {
		writeExample(t, filepath.Join(dir, f.Name), f.Data)
	}
	link(t, dir)
	commands := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
	for i, line := range commands {
		said, err := command(t, dir, strings.TrimPrefix(line, "$ "))
		if i < len(commands)-1 {
			if err != nil {
				t.Fatalf("%s\n%v\n%s", line, err, said)
			}
			continue
		}
		t.Logf("%s", said)
		codes := codeLine.FindAllStringSubmatch(said, -1)
		if err == nil || len(codes) == 0 {
			t.Fatalf("%s\n%v, without an error code\n%s", line, err, said)
		}
		for _, c := range codes {
			if c[1] != string(e.Code) {
				t.Errorf("got %s", c[1])
			}
		}
	}
}

// link puts the fixtures into a folder.
func link(t *testing.T, dir string) {
	t.Helper()
	links, err := os.ReadDir(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range links {
		if err := os.Symlink(filepath.Join(fixtures, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

func writeExample(t *testing.T, path string, data []byte) {
	t.Helper()
	mode := os.FileMode(0o644)
	if bytes.HasPrefix(data, []byte("#!")) {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

// command runs one line: settings of the environment, a program, and arguments; folders in settings lie in dir.
func command(t *testing.T, dir, line string) (string, error) {
	words := split(line)
	env := append(os.Environ(), "LATHE_CACHE="+filepath.Join(dir, "default-cache"))
	for len(words) > 0 && strings.Contains(words[0], "=") {
		name, value, _ := strings.Cut(words[0], "=")
		if name == "PATH" {
			value = filepath.Join(dir, value)
		}
		env, words = append(env, name+"="+value), words[1:]
	}
	c := exec.CommandContext(t.Context(), filepath.Join(programs, words[0]), words[1:]...)
	c.Dir, c.Env = dir, env
	var said bytes.Buffer
	c.Stderr = &said
	err := c.Run()
	if strings.Contains(said.String(), "goroutine ") || strings.Contains(said.String(), "Usage:") {
		t.Errorf("%s\nshows a trace or the usage:\n%s", line, &said)
	}
	return said.String(), err
}

// split cuts a command line at spaces outside of single quotes.
func split(line string) []string {
	quoted := false
	words := strings.FieldsFunc(line, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return !quoted && unicode.IsSpace(r)
	})
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "'", "")
	}
	return words
}
