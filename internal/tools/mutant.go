// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"os"
	"strings"
	"testing"
)

// Untried begins the message of a test that fails because a planted fault could not be tried: scripts/mutate takes no
// such failure for a fault that was noticed.
const Untried = "cannot be tried"

// Mutant is the fault that scripts/mutate has planted for this run of the tests: a file of the kernel library and the
// text that stands for it; ok is false in every other run. LATHE_MUTANT names a file whose first line is the name.
func Mutant(t testing.TB) (file, text string, ok bool) {
	t.Helper()
	path := os.Getenv("LATHE_MUTANT")
	if path == "" {
		return "", "", false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%s: %v", Untried, err)
	}
	file, text, ok = strings.Cut(string(data), "\n")
	return file, text, ok
}

// TraceKernels appends a line to the file that LATHE_KERNEL_TRACE names: the test or subtest, and the files of the
// kernel library that it runs. It says whether there is such a file, in which case only the line matters.
func TraceKernels(t testing.TB, files []string) bool {
	t.Helper()
	path := os.Getenv("LATHE_KERNEL_TRACE")
	if path == "" {
		return false
	}
	if len(files) == 0 {
		return true
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(t.Name() + "\t" + strings.Join(files, "\t") + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return true
}
