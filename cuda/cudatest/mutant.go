// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/internal/tools"
	"lathe/sim/nvrtc"
)

// Reached is what a test logs that compiles a fault to other code than the sound kernel's.
const Reached = "the fault changes the code of"

// compilePlanted compiles a unit with the fault that scripts/mutate tries at present, if it tries one; changed says
// that this gave other code than the sound unit. Every unit has changed where no fault is tried.
func compilePlanted(t testing.TB, c *nvrtc.Compiler, kernels []cuda.Instance, source, arch string) (
	m *nvrtc.Module, changed bool, err error) {
	t.Helper()
	file := name(kernels) + ".cu"
	text := planted(t, kernels, source)
	if text == source {
		m, err = c.Compile(context.Background(), file, source, arch)
		_, _, ok := tools.Mutant(t)
		return m, !ok, err
	}
	once, err := nvrtc.Open(tools.NeedNVRTC(t), "") // a fault is compiled once: nothing to keep
	if err != nil {
		t.Fatalf("%s: %v", tools.Untried, err)
	}
	if m, err = once.Compile(context.Background(), file, text, arch); err != nil {
		return nil, false, err
	}
	sound, err := c.Compile(context.Background(), file, source, arch)
	if err != nil {
		t.Fatalf("%s: %v", tools.Untried, err)
	}
	if changed = !bytes.Equal(m.PTX, sound.PTX); changed {
		t.Log(Reached, name(kernels))
	}
	return m, changed, nil
}

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
		t.Fatalf("%s: %v", tools.Untried, err)
	}
	out := strings.Replace(source, code(sound), code(text), 1)
	if out == source {
		t.Fatalf("%s: the fault in %s does not reach the source", tools.Untried, file)
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

// stop ends a failed test at once where a fault is being tried, which is then noticed.
func stop(t testing.TB) {
	t.Helper()
	if _, _, ok := tools.Mutant(t); ok && t.Failed() {
		t.FailNow()
	}
}
