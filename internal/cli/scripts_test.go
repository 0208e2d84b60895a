// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"lathe/internal/clitest"
	"lathe/internal/tools"
)

// programs is the folder of the built commands, fixtures that of models and arrays.
var programs, fixtures string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lathe-scripts-*")
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

// TestScripts runs testdata/*.txtar on the built programs: what flags do, what is written and said.
func TestScripts(t *testing.T) { runScripts(t, filepath.Join("testdata", "*.txtar"), 10) }

// runScripts runs the scripts that a pattern names, at least so many. The first line of a script may name what it
// needs: "# needs: verilator g++ plugin".
func runScripts(t *testing.T, pattern string, least int) {
	t.Helper()
	scripts, err := filepath.Glob(pattern)
	if err != nil || len(scripts) < least {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"LATHE_PJRT_PLUGIN": need(t, script), "LATHE_CACHE": tools.CacheDir(t),
				"EXAMPLES": examples,
				"PATH":     programs + string(filepath.ListSeparator) + os.Getenv("PATH")}
			testscript.Run(t, testscript.Params{Files: []string{script}, RequireExplicitExec: true,
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "same": same, "array": array,
					"json": lookup},
				Setup: func(e *testscript.Env) error { return setup(e, env) }})
		})
	}
}

// need skips the test where a tool is missing that the first line of the script names, and returns the plugin if that
// is one of them.
func need(t *testing.T, script string) (plugin string) {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	list, ok := strings.CutPrefix(line, "# needs: ")
	if !ok {
		return ""
	}
	return needed(t, list)
}

// needed skips the test where one of the tools is missing, and returns the plugin if that is one of them.
func needed(t *testing.T, list string) (plugin string) {
	t.Helper()
	for _, name := range strings.Fields(list) {
		switch name {
		case "plugin":
			plugin = tools.NeedPlugin(t)
		case "nvrtc":
			tools.NeedNVRTC(t)
		default:
			tools.Need(t, name)
		}
	}
	return plugin
}

// setup copies the fixtures into the script's folder.
func setup(e *testscript.Env, env map[string]string) error {
	for name, value := range env {
		e.Setenv(name, value)
	}
	return os.CopyFS(e.WorkDir, os.DirFS(fixtures))
}

// disgrace is what no user should see: a trace of Go, the usage text with an error, slips of formatting.
var disgrace = regexp.MustCompile(`(?m)goroutine \d|panic:|runtime error|^Usage:|%!|<nil>|\[\]interface|strconv\.|` +
	`0x[0-9a-f]{8}`)

// coded is the first line of an error.
var coded = regexp.MustCompile(`(?m)^(?:lathe|emit-verilog|emit-cuda): (?:\S.*?: )?L[01]\d{3}: `)

// status N program args... runs a program and demands its exit status. A refusal must say so in lines with a code and
// leave the files as they were; no run may leave temporary files.
func status(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	before, temporary := listing(ts, ts.MkAbs(".")), listing(ts, ts.Getenv("TMPDIR"))
	err = ts.Exec(filepath.Join(programs, args[1]), args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
	said := ts.ReadFile("stderr")
	if bad := disgrace.FindString(said); bad != "" {
		ts.Fatalf("the message holds %q", bad)
	}
	if left := changed(temporary, listing(ts, ts.Getenv("TMPDIR"))); left != "" && !explained(left, said) {
		ts.Fatalf("temporary files are left:\n%s", left)
	}
	if want == 0 {
		return
	}
	if !coded.MatchString(said) {
		ts.Fatalf("no message with a code")
	}
	if after := listing(ts, ts.MkAbs(".")); before != after {
		ts.Fatalf("a refusal changes files:\n%s", changed(before, after))
	}
}

// explained says that all files are in a folder that the message names, such as the log of a tool that failed.
func explained(files, said string) bool {
	for line := range strings.Lines(files) {
		_, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, _, _ = strings.Cut(path, " ")
		if !strings.Contains(said, path) && !strings.Contains(said, filepath.Dir(path)) {
			return false
		}
	}
	return true
}

// changed are the lines of one listing that the other lacks.
func changed(before, after string) string {
	var out strings.Builder
	for _, pair := range [][3]string{{"was", before, after}, {"is", after, before}} {
		for line := range strings.Lines(pair[1]) {
			if !strings.Contains(pair[2], line) {
				out.WriteString(pair[0] + " " + line)
			}
		}
	}
	return out.String()
}

// listing names all files below a folder with their sizes and times, without those of caches and temporary ones.
func listing(ts *testscript.TestScript, dir string) string {
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if d.IsDir() && (d.Name() == ".tmp" || d.Name() == "cache") {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			fmt.Fprintf(&out, "%s %d %s\n", path, info.Size(), info.ModTime())
		} else {
			fmt.Fprintf(&out, "%s\n", path)
		}
		return err
	})
	ts.Check(err)
	return out.String()
}
