// SPDX-License-Identifier: Apache-2.0

package mutatetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/cuda/cudatest"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/internal/workers"
)

// outcome is what became of a fault.
type outcome string

// The outcomes. A fault that does not compile, or whose PTX the interpreter does not take, counts neither way. One that
// was not tried is the fault of the tools: Run fails.
const (
	values   outcome = "wrong values"
	race     outcome = "race"
	order    outcome = "depends on the order"
	address  outcome = "bad address"
	stopped  outcome = "stuck or parted"
	endless  outcome = "no end"
	refused  outcome = "does not compile"
	strange  outcome = "not executed"
	survived outcome = "survived"
	untried  outcome = "not tried"
)

// signs tell an outcome by what a failing test prints, in this order.
var signs = []struct {
	outcome
	text *regexp.Regexp
}{
	{untried, regexp.MustCompile(tools.Untried + `|L0935|L0937|L0938|L0963|NVRTC_ERROR_|no space left|` +
		`cannot allocate memory|too many open files|temporarily unavailable|no such file|permission denied`)},
	{refused, regexp.MustCompile(string(diag.NVRTCFailed))},
	{strange, regexp.MustCompile(`L0960|L0961|L0962`)},
	{address, regexp.MustCompile(`L0964|L0965`)},
	{race, regexp.MustCompile(`L0967|L0968|L0973|L0974`)},
	{order, regexp.MustCompile(`differs from that of the first order`)},
	{stopped, regexp.MustCompile(`L0966|L0969|L097[0-2]|panic:`)},
	{values, regexp.MustCompile(`(?s).`)},
}

// judge tells what the run of a test has shown: nothing is taken for a caught fault but what the test itself reports as
// its failure, or the end of the processor time that it was given.
func judge(name, output string, err error) outcome {
	var exit *exec.ExitError
	switch {
	case err == nil && strings.Contains(output, "--- PASS: "+name+" "):
		return survived
	case err == nil:
		return untried // it was skipped, or there is no such test
	case !errors.As(err, &exit):
		return untried // it never began
	case exhausted.MatchString(output):
		return endless
	case !strings.Contains(output, "--- FAIL: "+name+" "):
		return untried // it died
	}
	for _, sign := range signs {
		if sign.text.MatchString(output) {
			return sign.outcome
		}
	}
	return untried // unreachable: the last sign matches every text
}

// result is a fault and what became of it.
type result struct {
	planting
	outcome
	test    string // that noticed it, or why it was not tried
	reached bool   // some test compiled it to other code
}

// String is a line of the report.
func (r result) String() string {
	by := r.test
	if r.outcome == survived && !r.reached {
		by = "no test compiles it to other code"
	}
	return fmt.Sprintf("%-20s cuda/%s:%d %s (%s)", r.outcome, r.file, r.mutant.Line, r.mutant.ID(), by)
}

// try runs, for every fault, the tests of its file until one fails. done is called for each. An error where
// ctx ends before.
func (s *suite) try(ctx context.Context, dir string, most int, all []planting, done func(result)) (
	[]result, error) {
	out := make([]result, len(all))
	var mu sync.Mutex
	_ = workers.Try(ctx, len(all), most, func(i int) error { // one says in its result what fails
		out[i] = s.one(ctx, filepath.Join(dir, fmt.Sprintf("mutant%d", i)), all[i])
		mu.Lock()
		defer mu.Unlock()
		done(out[i])
		return nil
	})
	out = slices.DeleteFunc(out, func(r result) bool { return r.outcome == "" })
	if err := ctx.Err(); err != nil {
		return out, fmt.Errorf("%d of %d faults were tried: %w", len(out), len(all), err)
	}
	return out, nil
}

// one tries one fault; file is where it is written for the tests.
func (s *suite) one(ctx context.Context, file string, p planting) result {
	r := result{planting: p, outcome: survived}
	if err := os.WriteFile(file, []byte(p.file+"\n"+p.mutant.Apply(p.sound)), 0o644); err != nil {
		return result{planting: p, outcome: untried, test: err.Error()}
	}
	defer os.Remove(file)
	for _, t := range s.order(p.file) {
		start := time.Now()
		output, err := t.run(ctx, "LATHE_MUTANT="+file)
		if ctx.Err() != nil {
			return result{}
		}
		r.reached = r.reached || strings.Contains(output, cudatest.Reached)
		o := judge(t.name, output, err)
		if o == untried {
			return result{planting: p, outcome: o, test: fmt.Sprintf("%s: %v: %s", t.name, err, ending(output))}
		}
		s.note(t, p.file, o != survived, time.Since(start))
		if o != survived {
			r.outcome, r.test = o, t.name
			return r
		}
	}
	return r
}

// record is how a test fared with the faults of one file.
type record struct {
	runs, failures int
	cost           time.Duration
}

// order are the tests that run a file, those first that have noticed its faults at the least cost; at first the
// cheapest.
func (s *suite) order(file string) []*test {
	s.mu.Lock()
	defer s.mu.Unlock()
	worth := map[*test]float64{}
	var out []*test
	for _, t := range s.tests {
		if !slices.Contains(t.files, file) {
			continue
		}
		r := t.known[file]
		if r == nil {
			r = &record{cost: t.cost + time.Second} // the sound kernel needed no compilation
			t.known[file] = r
		}
		worth[t] = (float64(r.failures) + 0.5) / float64(r.runs+2) / (r.cost.Seconds() / float64(max(r.runs, 1)))
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b *test) int { return cmp.Compare(worth[b], worth[a]) })
	return out
}

// note keeps how a run ended.
func (s *suite) note(t *test, file string, failed bool, cost time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := t.known[file]
	if r.runs == 0 {
		r.cost = 0 // it was a guess
	}
	r.runs++
	r.cost += cost
	if failed {
		r.failures++
	}
}

// ending is the last lines of an output.
func ending(output string) string {
	const most = 600
	output = strings.TrimSpace(output)
	return output[max(0, len(output)-most):]
}
