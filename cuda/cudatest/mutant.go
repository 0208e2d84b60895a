// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/internal/tools"
)

// planted is the source with the fault that scripts/mutate tries at present, if it tries one and the source has the
// file; and it tells scripts/mutate which test runs which file.
func planted(t testing.TB, kernels []cuda.Instance, source string) string {
	t.Helper()
	var files []string
	for _, i := range kernels {
		for _, f := range append(slices.Clone(i.Template.Uses), i.Template.Family+"/"+i.Template.Name+".cu") {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	tools.TraceKernels(t, files)
	file, text, ok := tools.Mutant(t)
	if !ok || !slices.Contains(files, file) {
		return source
	}
	sound, err := cuda.Text(file)
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Replace(source, code(sound), code(text), 1)
	if out == source {
		t.Fatalf("the fault in %s does not reach the source", file)
	}
	return out
}

// code is a file without its licence line.
func code(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// faulty says that a fault is being tried, or that tests are being listed: gates would only cost time.
func faulty(t testing.TB) bool {
	t.Helper()
	_, _, ok := tools.Mutant(t)
	return ok || tools.TraceKernels(t, nil)
}
