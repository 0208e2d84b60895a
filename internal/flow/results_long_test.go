// SPDX-License-Identifier: Apache-2.0

//go:build long

package flow_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/emit"
	"lathe/golden/pjrt/pjrttest"
	"lathe/golden/ref"
	"lathe/internal/flow"
	"lathe/internal/tools"
	"lathe/ir/text"
	"lathe/sim"
)

var update = flag.Bool("update", false, "write docs/results.md")

const (
	randomSamples = 5000
	stallPercent  = 30
	quietSamples  = 16 // of the run without stalls
)

var stallSeeds = []uint64{1, 2, 3}

// plans of the table; the empty one is the default plan. Unrolled networks are the multi-layer perceptrons only.
var plans = []string{"", "w4", "b16", "mixed", "wrap", "serial", "wide", "uneven", "unroll"}

// combination is one line of the table.
type combination struct{ Model, File, Plan string }

func (c combination) String() string { return c.Model + "/" + c.File + " " + c.planName() }

func (c combination) planName() string {
	if c.Plan == "" {
		return "default"
	}
	return c.Plan
}

// outcome is what a combination has shown; it is kept between runs.
type outcome struct {
	combination
	Stored, Random int
	Check          *flow.Check
}

// combinations are all models with all variants under all plans.
func combinations(t *testing.T) []combination {
	t.Helper()
	var all []combination
	for _, model := range []string{"digits-mlp", "digits-cnn", "digits-dscnn", "digits-resnet", "jets-mlp", "digits-qdq",
		"digits-qdq-perchannel", "digits-qdq-mlp", "digits-qonnx"} {
		files, err := filepath.Glob(examples + model + "/*.onnx")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d models, %v", model, len(files), err)
		}
		for _, f := range files {
			for _, plan := range plans {
				if plan != "unroll" || strings.HasSuffix(model, "mlp") {
					all = append(all, combination{model, filepath.Base(f), plan})
				}
			}
		}
	}
	return all
}

// TestResults proves every example under every plan, on all stored samples and random ones, and holds docs/results.md
// to what it finds. An outcome is found in the cache where design, samples and this very test program are the same.
func TestResults(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	program := programDigest(t)
	all := combinations(t)
	rows := make([]*outcome, len(all))
	start, finished := time.Now(), 0
	var mu sync.Mutex
	queue := make(chan int)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := range queue {
				t.Run(strings.ReplaceAll(all[i].String(), " ", "/"), func(t *testing.T) {
					o, cached := prove(t, all[i], program)
					mu.Lock()
					defer mu.Unlock()
					rows[i] = o
					finished++
					fmt.Fprintf(os.Stderr, "%3d of %d, %5.0f s: %s: %d mismatches%s\n", finished, len(all),
						time.Since(start).Seconds(), all[i], o.Check.Mismatches, map[bool]string{true: " (earlier run)"}[cached])
				})
			}
		})
	}
	for _, i := range longestFirst(all) {
		queue <- i
	}
	close(queue)
	workers.Wait()
	if t.Failed() {
		t.Fatal("no table: a combination failed")
	}
	if slices.Contains(rows, nil) {
		t.Log("no table: -run has left combinations out")
		return
	}
	page := resultsPage(rows)
	fmt.Print(page)
	const path = "../../docs/results.md"
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != page {
		t.Errorf("docs/results.md is not what was found: run `%s` (%v)", updateCommand, err)
	}
}

// longestFirst orders the combinations by how long they take, so that none is left over at the end.
func longestFirst(all []combination) []int {
	weight := func(c combination) int {
		switch {
		case c.Plan == "serial" && strings.HasSuffix(c.Model, "cnn"):
			return 2
		case c.Plan == "unroll":
			return 1
		}
		return 0
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return weight(all[b]) - weight(all[a]) })
	return order
}

// prove compares the engines on one combination, and has the other tools read its design.
func prove(t *testing.T, c combination, program string) (o *outcome, cached bool) {
	e := engines(t)
	j := job(t, c.Model, c.File, c.Plan, 0)
	o = &outcome{combination: c, Stored: len(j.Samples), Random: randomSamples}
	extra, err := flow.RandomSamples(j.HW.Scheduled, randomSamples, 1)
	if err != nil {
		t.Fatal(err)
	}
	j.Samples = append(j.Samples, extra...)
	j.Seeds, j.Stalls = stallSeeds, stallPercent
	again := job(t, c.Model, c.File, c.Plan, 1).HW.Design
	if !reflect.DeepEqual(j.HW.Design, again) {
		t.Fatal("two emissions of one model under one plan differ")
	}
	path := filepath.Join(e.Cache, "results", resultKey(program, c, j)+".json")
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, o) == nil {
		return o, true
	}
	readable(t, e.Cache, j.HW.Design)
	if o.Check, err = e.Verify(t.Context(), *j); err != nil {
		t.Fatal(err)
	}
	judge(t, o)
	if t.Failed() {
		t.FailNow()
	}
	keep(t, path, o)
	return o, false
}

// judge fails the test where a code differs, where an engine was compared on fewer codes than it should, or where a
// kind of stall never happened.
func judge(t *testing.T, o *outcome) {
	t.Helper()
	c := o.Check
	if c.Mismatches != 0 {
		t.Errorf("%d of %d codes differ: %v", c.Mismatches, c.Outputs, c.First)
	}
	quiet := quietSamples * (c.Outputs / c.Samples)
	if c.Compared["pjrt"] != c.Outputs || c.Compared["rtl"] != len(stallSeeds)*c.Outputs+quiet || c.Outputs == 0 {
		t.Errorf("of %d outputs were compared: %v", c.Outputs, c.Compared)
	}
	if c.Stalls.Starved == 0 || c.Stalls.Blocked == 0 {
		t.Errorf("a kind of stall never happened: %+v", c.Stalls)
	}
}

// readable demands that Verilator finds nothing to warn of, and that Icarus and Yosys take the design.
func readable(t *testing.T, cache string, d *emit.Design) {
	t.Helper()
	if err := sim.Lint(t.Context(), cache, d.Top, d.Files); err != nil {
		t.Error(err)
	}
	if err := sim.Elaborate(t.Context(), cache, d.Top, d.Files); err != nil {
		t.Error(err)
	}
	if err := sim.Yosys(t.Context(), sim.DesignSpec(d, cache, false, false)); err != nil {
		t.Error(err)
	}
}

// keep writes an outcome under a temporary name, then renames it: an interrupted run leaves no half of one.
func keep(t *testing.T, path string, o *outcome) {
	t.Helper()
	data, err := json.Marshal(o)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path+".part", data, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// resultKey is the digest of all that an outcome depends on.
func resultKey(program string, c combination, j *flow.Job) string {
	h := sha256.New()
	fmt.Fprintln(h, program, c, j.Stalls, j.Seeds, len(j.Floats), j.Labels)
	io.WriteString(h, text.Print(j.HW.Float))
	io.WriteString(h, text.Print(j.HW.Scheduled))
	for _, f := range slices.Concat(j.HW.Design.Files, j.HW.Design.Docs) {
		fmt.Fprintf(h, "%s %d %s", f.Name, len(f.Data), f.Data)
	}
	for _, samples := range [][]ref.Sample{j.Samples, j.Floats} {
		hashSamples(h, samples)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

func hashSamples(h hash.Hash, samples []ref.Sample) {
	for _, s := range samples {
		for _, v := range s {
			fmt.Fprintln(h, v.Codes, v.Floats)
		}
	}
}

// programDigest stands for everything that decides an outcome besides design and samples: this program, which holds
// all code of the project, the PJRT plugin, and the versions of the tools.
func programDigest(t *testing.T) string {
	t.Helper()
	h := sha256.New()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{self, pjrttest.Config(t).Plugin} {
		f, err := os.Open(path)
		if err == nil {
			_, err = io.Copy(h, f)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"verilator --version", "g++ --version", "iverilog -V", "yosys -V"} {
		name, flag, _ := strings.Cut(tool, " ")
		out, err := exec.Command(name, flag).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		h.Write(out)
	}
	return hex.EncodeToString(h.Sum(nil))
}
