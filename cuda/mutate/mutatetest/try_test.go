// SPDX-License-Identifier: Apache-2.0

package mutatetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/cuda/mutate"
)

// program writes a program that stands for the tests of a family.
func program(t *testing.T, script string) *test {
	t.Helper()
	path := filepath.Join(t.TempDir(), "map.test")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &test{
		binary: path, dir: filepath.Dir(path), name: "TestA", files: []string{"map/a.cu"}, known: map[string]*record{}}
}

// What is no failure of a test is no caught fault.
func TestJudge(t *testing.T) {
	fail := "; echo '--- FAIL: TestA (0.00s)'; exit 1"
	for script, want := range map[string]outcome{
		"echo '    --- PASS: TestA (0.00s)'":                          survived,
		"echo '    --- PASS: TestAB (0.00s)'":                         untried,
		"exit 0":                                                      untried,
		"echo 'word 1 is 2, want 3'" + fail:                           values,
		"echo 'L0967: byte 4'" + fail:                                 race,
		"echo 'L0964: outside of y'" + fail:                           address,
		"echo 'L0969: a block is stuck'" + fail:                       stopped,
		"echo 'panic: index out of range'" + fail:                     stopped,
		"echo 'L0936: NVRTC'" + fail:                                  refused,
		"echo 'L0936: error: NVRTC_ERROR_NO' " + fail:                 untried,
		"echo 'L0961: no opcode wgmma'" + fail:                        strange,
		"echo 'L0960: no PTX'" + fail:                                 strange,
		"echo 'L0962: too much shared memory'" + fail:                 strange,
		"echo 'L0935: NVRTC is missing'" + fail:                       untried,
		"echo 'write x: no space left on device'" + fail:              untried,
		"echo 'cannot be tried: it does not reach the source'" + fail: untried,
		"echo '--- SKIP: TestA (0.00s)'":                              untried,
		"echo 'fatal error: out of memory'; exit 2":                   untried,
		"echo '--- FAIL: TestAB (0.00s)'; exit 1":                     untried,
		"echo 'panic: in a goroutine'; exit 2":                        untried,
		"echo 'SIGXCPU: cpu limit exceeded'; exit 2":                  endless,
		"kill -9 $$": untried,
	} {
		p := program(t, script)
		output, err := p.run(t.Context(), "A=b")
		if got := judge(p.name, output, err); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}

// Faults that cannot be tried fail the run, whatever they are counted as: a missing folder, a missing program, one that
// stops before its tests.
func TestTry(t *testing.T) {
	p := planting{file: "map/a.cu", sound: "a", mutant: mutate.Mutant{Rule: "constant"}}
	caught := program(t, "echo wrong; echo '--- FAIL: TestA (0.00s)'; exit 1")
	absent := *caught
	absent.binary += "x"
	for _, c := range []struct {
		dir  string
		test *test
		want outcome
	}{
		{t.TempDir(), caught, values},
		{filepath.Join(t.TempDir(), "absent"), caught, untried},
		{t.TempDir(), &absent, untried},
		{t.TempDir(), program(t, "exit 3"), untried},
	} {
		s := &suite{tests: []*test{c.test}}
		results, err := s.try(t.Context(), c.dir, 1, []planting{p}, func(result) {})
		if err != nil {
			t.Fatal(err)
		}
		if len(results) != 1 || results[0].outcome != c.want {
			t.Errorf("%v, want %s", results, c.want)
			continue
		}
		var out strings.Builder
		if err := report(&out, results, nil, 0); (err != nil) != (c.want == untried) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}

// A test that does not end is stopped by its processor time, however long it takes on the clock.
func TestEndless(t *testing.T) {
	p := program(t, "ulimit -t")
	p.cost = 7 * time.Second
	if output, err := p.run(t.Context(), "A=b"); err != nil || strings.TrimSpace(output) != "70" {
		t.Errorf("%q, %v", output, err)
	}
	p.cost = time.Second
	if output, err := p.run(t.Context(), "A=b"); err != nil || strings.TrimSpace(output) != "60" {
		t.Errorf("%q, %v", output, err)
	}
}

// A run that is cancelled is no score.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &suite{tests: []*test{program(t, "exit 0")}}
	got, err := s.try(ctx, t.TempDir(), 1, make([]planting, 3), func(result) {})
	if len(got) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", got, err)
	}
}
