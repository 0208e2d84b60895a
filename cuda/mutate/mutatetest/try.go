// SPDX-License-Identifier: Apache-2.0

package mutatetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
)

// outcome is what became of a fault.
type outcome string

// The outcomes. A fault that does not compile counts neither way.
const (
	values   outcome = "wrong values"
	race     outcome = "race"
	order    outcome = "depends on the order"
	address  outcome = "bad address"
	stopped  outcome = "stuck or parted"
	refused  outcome = "does not compile"
	survived outcome = "survived"
)

// signs tell an outcome by what a failing test prints, in this order.
var signs = []struct {
	outcome
	text *regexp.Regexp
}{
	{refused, regexp.MustCompile(`L0936`)},
	{address, regexp.MustCompile(`L0964|L0965`)},
	{race, regexp.MustCompile(`L0967|L0968|L0973|L0974`)},
	{order, regexp.MustCompile(`differs from that of the first order`)},
	{stopped, regexp.MustCompile(`L096\d|L097\d|took too long|panic:`)},
}

// result is a fault and what became of it.
type result struct {
	planting
	outcome
	test string // that noticed it
}

// String is a line of the report.
func (r result) String() string {
	return fmt.Sprintf("%-20s cuda/%s:%d %s (%s)", r.outcome, r.file, r.mutant.Line, r.mutant.ID(), r.test)
}

// try runs, for every fault, the tests of its file, cheapest first, until one fails. done is called for each.
func (s *suite) try(ctx context.Context, dir string, workers int, all []planting, done func(result)) []result {
	out := make([]result, len(all))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for k := range max(workers, 1) {
		wg.Go(func() {
			file := filepath.Join(dir, fmt.Sprintf("mutant%d", k))
			for i := range next {
				out[i] = s.one(ctx, file, all[i])
				mu.Lock()
				done(out[i])
				mu.Unlock()
			}
		})
	}
	for i := range all {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return slices.DeleteFunc(out, func(r result) bool { return r.outcome == "" })
}

// one tries one fault; file is where it is written for the tests.
func (s *suite) one(ctx context.Context, file string, p planting) result {
	r := result{planting: p, outcome: survived}
	if err := os.WriteFile(file, []byte(p.file+"\n"+p.mutant.Apply(p.sound)), 0o644); err != nil {
		return result{planting: p, outcome: stopped, test: err.Error()}
	}
	for _, t := range s.tests {
		if !slices.Contains(t.files, p.file) {
			continue
		}
		output, ok := t.run(ctx, "LATHE_MUTANT="+file)
		if ctx.Err() != nil {
			return result{}
		}
		if ok {
			continue
		}
		r.outcome, r.test = values, t.name
		for _, sign := range signs {
			if sign.text.MatchString(output) {
				r.outcome = sign.outcome
				break
			}
		}
		return r
	}
	return r
}
