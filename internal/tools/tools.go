// SPDX-License-Identifier: Apache-2.0

// Package tools tells tests which external programs they need and where they may cache.
//
// It is the only package below internal/cli that reads the environment, and only tests import it.
package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// skipped counts the tests of this process that Need has skipped.
var skipped atomic.Int64

// Need ends the test unless all named programs are in PATH. A missing one skips the test under its name, prints the
// running count of such skips to standard error, and fails the test instead where the environment says CI=true.
func Need(t testing.TB, names ...string) {
	t.Helper()
	if msg := verdict(t.Name(), missing(names), inCI()); msg.text != "" {
		msg.end(t)
	}
}

// inCI says that a missing tool is a failure.
func inCI() bool { return os.Getenv("CI") == "true" }

// end skips or fails the test, as Need does.
func (m message) end(t testing.TB) {
	t.Helper()
	if m.fatal {
		t.Fatal(m.text)
	}
	fmt.Fprintf(os.Stderr, "SKIP %d: %s\n", skipped.Add(1), m.text)
	t.Skip(m.text)
}

// CacheDir returns the folder for compiled models: LATHE_CACHE if set, else "lathe" in the user's cache folder, else a
// folder of the test itself.
func CacheDir(t testing.TB) string {
	t.Helper()
	if dir := cacheDir(os.Getenv); dir != "" {
		return dir
	}
	return t.TempDir()
}

// cacheDir is the folder that scripts/setup and the commands use, by the environment that getenv reads; "" if it says
// nothing.
func cacheDir(getenv func(string) string) string {
	if dir := getenv("LATHE_CACHE"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "lathe")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".cache", "lathe")
	}
	return ""
}

type message struct {
	text  string
	fatal bool
}

func verdict(test string, absent []string, ci bool) message {
	if len(absent) == 0 {
		return message{}
	}
	text := fmt.Sprintf("%s needs %s, not found in PATH", test, strings.Join(absent, ", "))
	return message{text: text, fatal: ci}
}

func missing(names []string) []string {
	var absent []string
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			absent = append(absent, name)
		}
	}
	return absent
}
