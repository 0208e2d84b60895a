// SPDX-License-Identifier: Apache-2.0

// Package mutatetest tries planted faults on the tests of the kernel library: it builds the tests of a family, learns
// which test runs which file, and runs those of a file once for each fault. It needs the CUDA toolchain, no GPU.
package mutatetest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"lathe/cuda"
	"lathe/cuda/mutate"
)

// suite is the tests of the library, built.
type suite struct {
	tests []test
}

// test is one test of a family: its program, and the files of the library that it runs.
type test struct {
	binary, dir, name string
	files             []string
	cost              time.Duration // of the sound library
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
	slices.SortStableFunc(s.tests, func(a, b test) int { return int(a.cost - b.cost) })
	return s, nil
}

// trace lists the tests of a program that run kernels, as far as their names match.
func trace(ctx context.Context, binary, folder, match, file string) ([]test, error) {
	list := exec.CommandContext(ctx, binary, "-test.list", match)
	list.Dir = folder
	names, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	var tests []test
	for _, name := range strings.Fields(string(names)) {
		t := test{binary: binary, dir: folder, name: name}
		if !strings.HasPrefix(name, "Test") {
			continue
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			return nil, err
		}
		start := time.Now()
		if out, ok := t.run(ctx, "LATHE_KERNEL_TRACE="+file); !ok {
			return nil, fmt.Errorf("%s fails on the sound library:\n%s", name, out)
		}
		t.cost = time.Since(start)
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(data), "\n") {
			_, files, _ := strings.Cut(line, "\t")
			for _, f := range strings.Split(files, "\t") {
				if f != "" && !slices.Contains(t.files, f) {
					t.files = append(t.files, f)
				}
			}
		}
		if len(t.files) > 0 {
			tests = append(tests, t)
		}
	}
	return tests, nil
}

// run runs the test with one more setting of the environment, and tells whether it passes.
func (t test) run(ctx context.Context, setting string) (output string, ok bool) {
	limit := max(10*t.cost, 2*time.Minute)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.binary, "-test.run", "^"+t.name+"$", "-test.failfast")
	cmd.Dir = t.dir
	cmd.Env = append(cmd.Environ(), setting)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		return out.String() + "\ntook too long", false
	}
	return out.String(), err == nil
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
			if rules.MatchString(m.Rule) {
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
