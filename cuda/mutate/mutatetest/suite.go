// SPDX-License-Identifier: Apache-2.0

// Package mutatetest tries planted faults on the tests of the kernel library: it builds the tests of a family, learns
// which test runs which file, and runs those of a file once for each fault. It needs the CUDA toolchain, no GPU.
package mutatetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/cuda"
	"lathe/cuda/mutate"
)

// suite is the tests of the library, built.
type suite struct {
	tests []*test
	mu    sync.Mutex // of what is known
}

// test is one test or subtest of a family: its program, and the files of the library that it runs.
type test struct {
	binary, dir, name string
	files             []string
	cost              time.Duration // of the sound library
	known             map[string]*record
}

// build compiles the tests of the families and runs each once on the sound library.
func build(ctx context.Context, dir string, o Options) (*suite, error) {
	s := &suite{}
	for _, family := range strings.Split(o.Families, ",") {
		folder, err := filepath.Abs(filepath.Join(o.Root, "cuda", family))
		if err != nil {
			return nil, err
		}
		if found, _ := filepath.Glob(filepath.Join(folder, "*_test.go")); len(found) == 0 {
			continue // the pattern is sound
		}
		binary := filepath.Join(dir, family+".test")
		compile := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, ".")
		compile.Dir = folder
		if out, err := compile.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", folder, err, out)
		}
		tests, err := trace(ctx, binary, folder, o.Tests, filepath.Join(dir, family+".trace"))
		if err != nil {
			return nil, err
		}
		s.tests = append(s.tests, tests...)
	}
	slices.SortStableFunc(s.tests, func(a, b *test) int { return cmp.Compare(a.cost, b.cost) })
	return s, nil
}

// trace runs the tests of a program whose names match and gives those that run kernels; a subtest that runs kernels
// is a test of its own.
func trace(ctx context.Context, binary, folder, match, file string) ([]*test, error) {
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run", match, "-test.v")
	cmd.Dir = folder
	cmd.Env = append(cmd.Environ(), "LATHE_KERNEL_TRACE="+file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s fails on the sound library: %w\n%s", binary, err, out)
	}
	cost := map[string]time.Duration{}
	for _, m := range passed.FindAllStringSubmatch(string(out), -1) {
		if cost[m[1]], err = time.ParseDuration(m[2]); err != nil {
			return nil, err
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var tests []*test
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		at := slices.IndexFunc(tests, func(t *test) bool { return t.name == fields[0] })
		if at < 0 {
			at = len(tests)
			tests = append(tests, &test{binary: binary, dir: folder, name: fields[0],
				cost: max(cost[fields[0]], time.Millisecond), known: map[string]*record{}})
		}
		for _, f := range fields[1:] {
			if !slices.Contains(tests[at].files, f) {
				tests[at].files = append(tests[at].files, f)
			}
		}
	}
	return tests, nil
}

// passed is a line of a test that has passed.
var passed = regexp.MustCompile(`(?m)^ *--- PASS: (\S+) \((.*)\)$`)

// pattern is the name of a test as -test.run takes it.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// patience is the least processor time that a test is given, in seconds; else it is ten times what it takes of the
// sound library. A fault may make a loop endless, and time on the clock says nothing on a machine with other work.
const patience = 60

// exhausted is what a Go program prints that has used up its processor time.
var exhausted = regexp.MustCompile(`SIGXCPU`)

// run runs the test with one more setting of the environment. An error where it fails.
func (t *test) run(ctx context.Context, setting string) (output string, err error) {
	limit := max(patience, int(10*t.cost.Seconds()))
	cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -t %d && exec "$0" "$@"`, limit),
		t.binary, "-test.run", pattern(t.name), "-test.failfast", "-test.v")
	cmd.Dir = t.dir
	cmd.Env = append(cmd.Environ(), setting)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// planting is one fault of one file.
type planting struct {
	file   string
	sound  string
	mutant mutate.Mutant
}

// draw takes `sample` faults of every file that a test runs, all of them where sample is 0.
func (s *suite) draw(files, rules *regexp.Regexp, sample int, seed uint64) []planting {
	var names []string
	for _, t := range s.tests {
		for _, f := range t.files {
			if !slices.Contains(names, f) && files.MatchString(f) {
				names = append(names, f)
			}
		}
	}
	slices.Sort(names)
	var out []planting
	for _, f := range names {
		text, err := cuda.Text(f)
		if err != nil {
			continue // a test traced it, so that it is there
		}
		var of []planting
		for _, m := range mutate.Mutants(text) {
			if rules.MatchString(m.ID()) {
				of = append(of, planting{f, text, m})
			}
		}
		if sample > 0 && len(of) > sample {
			r := rand.New(rand.NewPCG(seed, uint64(len(of))))
			r.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
			of = of[:sample]
			slices.SortFunc(of, func(a, b planting) int { return a.mutant.Line - b.mutant.Line })
		}
		out = append(out, of...)
	}
	return out
}
