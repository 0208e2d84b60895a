// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lathe/internal/tools"
	"lathe/rtl"
)

var (
	update = flag.Bool("update", false, "write docs/results.md")
	stale  = flag.Bool("stale", false, "prove only designs that docs/results.md does not name")
	within = flag.Duration("within", 0, "begin with no combination after this time, and keep its line; 0: all")
)

const (
	randomSamples = 5000
	// fewSamples is how many random ones a file gets whose circuit another file has shown already.
	fewSamples   = 200
	stallPercent = 30
	quietSamples = 16 // of the run without stalls
	// secondSamples run in Icarus, one where a sample takes more than slowSample cycles; gateSamples run as gates.
	secondSamples, slowSample, gateSamples = 2, 5000, 20
	// Where the runs would simulate more cycles than this, runs behind the first have laterSamples samples; and where
	// the first alone does, it has fewer random ones.
	runCycles    = 12_000_000
	laterSamples = 1000
)

var stallSeeds = []uint64{1, 2, 3}

// combination is one line of the table. The empty plan is the default one.
type combination struct{ Model, File, Plan string }

func (c combination) String() string { return c.Model + "/" + c.File + " " + c.planName() }

func (c combination) planName() string {
	if c.Plan == "" {
		return "default"
	}
	return c.Plan
}

// entry is a combination and what is known of its circuit: its digest, the first combination that has it, and the
// cycles of a sample. Design is the digest of what is emitted.
type entry struct {
	combination
	circuit, design string
	like            *entry
	ii              int
	failure         string
}

// extraPlans are shown on one file of each model.
var extraPlans = []string{"mixed", "wrap", "pack", "serial", "unroll"}

// inHardware are the files of the examples that match a pattern, without those of transformers, which run in float.
func inHardware(pattern string) ([]string, error) {
	files, err := filepath.Glob(examples + "*/" + pattern)
	return slices.DeleteFunc(files, func(f string) bool {
		return slices.Contains([]string{"bert-tiny-like", "digits-vit", "tiny-bert", "tiny-gpt2", "tiny-llama"},
			filepath.Base(filepath.Dir(f)))
	}), err
}

// combinations are all files of all examples under all plans, the extra ones on one file only.
func combinations(t *testing.T) []*entry {
	t.Helper()
	var all []*entry
	files, err := inHardware("*.onnx")
	plans, planErr := filepath.Glob(examples + "plans/*.toml")
	if err != nil || planErr != nil || len(files) < 11 || len(plans) < 8 {
		t.Fatalf("%d files, %d plans, %v, %v", len(files), len(plans), err, planErr)
	}
	for _, f := range files {
		model := filepath.Base(filepath.Dir(f))
		for _, p := range append([]string{""}, plans...) {
			plan := strings.TrimSuffix(filepath.Base(p), ".toml")
			if p == "" {
				plan = ""
			}
			extra := slices.Contains(extraPlans, plan)
			tooWide := plan == "wide" && slices.Contains([]string{"digits-lstm", "digits-gru"}, model) // 8 inputs, 16 lanes
			if (!extra || filepath.Base(f) == "model.onnx") && !tooWide {
				all = append(all, &entry{combination: combination{model, filepath.Base(f), plan}})
			}
		}
	}
	return all
}

// circuits compiles every combination and finds those whose scheduled graphs are equal but for names and places.
func circuits(t *testing.T, all []*entry) {
	t.Helper()
	inParallel(all, func(e *entry) {
		j, err := compile(t.Context(), e.Model, e.File, e.Plan)
		if err != nil {
			e.failure = err.Error()
			return
		}
		e.circuit, e.ii = circuit(j.HW.Scheduled), j.HW.Schedule.II()
		e.design = designDigest(j.HW.Design)[:designDigits]
	})
	first := map[string]*entry{}
	for _, e := range all {
		switch known := first[e.circuit]; {
		case e.failure != "":
		case known == nil:
			first[e.circuit] = e
		default:
			e.like = known
		}
	}
}

// inParallel works on all entries, on all processors.
func inParallel[T any](all []T, work func(T)) {
	queue := make(chan T)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for e := range queue {
				work(e)
			}
		})
	}
	for _, e := range all {
		queue <- e
	}
	close(queue)
	workers.Wait()
}

// TestResults proves every example under every plan, on all stored samples and random ones, and holds docs/results.md
// to what it finds: -update writes each line as soon as it is found. Lines of designs that are left out, by -run,
// -stale or -within, stay as they are. An outcome is found in the cache where design, samples and this very test
// program are the same.
func TestResults(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	program := programDigest(t)
	all := combinations(t)
	circuits(t, all)
	page := readResults(t, all)
	start, done := time.Now(), atomic.Int64{}
	queue := slices.SortedStableFunc(slices.Values(all), func(a, b *entry) int { return b.weight() - a.weight() })
	if *within > 0 { // many in that time: circuits that no other file has, and not those that take long to build
		slices.Reverse(queue)
		last := func(e *entry) int { return 2*rtl.Flag(e.like != nil) + rtl.Flag(e.Plan == "unroll") }
		slices.SortStableFunc(queue, func(a, b *entry) int { return last(a) - last(b) })
	}
	if *stale {
		queue = slices.DeleteFunc(queue, page.current)
	}
	inParallel(queue, func(e *entry) {
		if *within > 0 && time.Since(start) > *within {
			return
		}
		t.Run(strings.ReplaceAll(e.String(), " ", "/"), func(t *testing.T) {
			o, cached := prove(t, e, program)
			if o.Failure != "" {
				t.Error(o.Failure)
			}
			fmt.Fprintf(os.Stderr, "%3d of %d, %5.0f s: %s: %s%s\n", done.Add(1), len(queue),
				time.Since(start).Seconds(), e, o.verdict(), map[bool]string{true: " (earlier run)"}[cached])
			page.set(t, e, o)
		})
	})
	page.write(t)
	if have, err := os.ReadFile(resultsPath); err != nil || string(have) != page.text() {
		t.Errorf("docs/results.md is not what was found: run `%s` (%v)", updateCommand, err)
	}
	for _, e := range all {
		if !*stale && *within == 0 && !page.current(e) {
			t.Errorf("%s: docs/results.md has no line of design %s", e, e.design)
		}
	}
}

// weight orders the combinations: new circuits first, those that take long before the others, so that none is left over
// at the end.
func (e *entry) weight() int {
	if e.like != nil {
		return e.ii - 1<<30
	}
	return e.ii
}

// samples are how many random ones the first run has, and how many samples the others have at most, 0 for all.
func (e *entry) samples(stored int) (random, later int) {
	if e.like != nil {
		return fewSamples, 0
	}
	random = randomSamples
	if cycles := (stored + random) * e.ii; cycles*len(stallSeeds) > runCycles {
		later = laterSamples
		random = max(min(random, 2*runCycles/max(e.ii, 1)-stored), fewSamples)
	}
	return random, later
}
