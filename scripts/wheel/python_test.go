// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/cli"
	"lathe/internal/tools"
)

var update = flag.Bool("update", false, "write what docs/python.ipynb prints into it")

// TestMain makes this program lathe where it bears that name, as it does in the wheel of the tests.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "lathe" {
		os.Exit(cli.Main("lathe", os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestPython installs the wheel into a virtual environment without network, and there runs the notebook, the calls
// of testdata/api.py and the commands of testdata/commands.py.
func TestPython(t *testing.T) {
	t.Parallel()
	python := tools.NeedNumPy(t)
	tools.Need(t, "verilator", "g++", "make")
	plugin := tools.NeedPlugin(t)
	dir := t.TempDir()
	env := filepath.Join(dir, "env")
	command(t, nil, python, "-m", "venv", "--without-pip", "--system-site-packages", env)
	inside := filepath.Join(env, "bin", "python")
	command(t, nil, python, "-m", "pip", "--disable-pip-version-check", "--python", inside, "install", "--quiet",
		"--no-index", "--no-deps", build(t, dir))

	// No Yosys: its counts of cells would take most of the time.
	vars := []string{"PATH=" + without(t, "yosys"), "LATHE_PJRT_PLUGIN=" + plugin, "LATHE_CACHE=" + tools.CacheDir(t),
		"PYTHONPATH=" + absolute(t, "testdata"), "PYTHONDONTWRITEBYTECODE=1"}
	if got := command(t, vars, filepath.Join(env, "bin", "lathe"), "--version"); got != "lathe version "+cli.Version+"\n" {
		t.Errorf("lathe --version: %q", got)
	}
	notebook := []string{absolute(t, "testdata/notebook.py"), absolute(t, "../../docs/python.ipynb")}
	if *update {
		notebook = append(notebook, "--update")
	}
	command(t, vars, inside, notebook...)
	failing := program(t, dir, "failing", `echo simulate ... >&2; echo warning: wide >&2; echo note: slow >&2
echo mismatches 3; for last; do :; done
for flag; do case $flag in --json=*) echo '{"mismatches": 3}' >"${flag#--json=}";; esac; done; exit 1`)
	stuck := program(t, dir, "stuck", `trap 'touch "$0.ended"; exit 143' TERM
echo begun >&2; while :; do sleep 0.05; done`)
	example := absolute(t, "../../examples/jets-mlp")
	command(t, vars, inside, absolute(t, "testdata/api.py"), example, failing, stuck)
	command(t, vars, inside, absolute(t, "testdata/commands.py"), example)
}

// build packs this program as lathe and returns the path of the wheel.
func build(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pack(os.DirFS("../.."), data)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, w.name)
	if err := os.WriteFile(path, w.data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// command runs a program in a folder of its own, with variables above those of the environment, and returns its output.
func command(t *testing.T, vars []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = t.TempDir(), append(os.Environ(), vars...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// program writes a shell script.
func program(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// without is a PATH with all programs of this one's but those of a name.
func without(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(from)
		if err != nil {
			continue // PATH may name folders that do not exist
		}
		for _, e := range entries {
			if e.Name() == name {
				continue
			}
			to := filepath.Join(dir, e.Name())
			if _, err := os.Lstat(to); err == nil {
				continue // an earlier folder wins
			}
			if err := os.Symlink(filepath.Join(from, e.Name()), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
