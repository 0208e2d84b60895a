// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/golden/pjrt/pjrttest"
	"lathe/golden/ref"
	"lathe/internal/driver"
	"lathe/ir/text"
	"lathe/sim"
)

// outcome is what a combination has shown; it is kept between runs.
type outcome struct {
	combination
	// Like names the combination whose circuit this one has.
	Like                  string
	Stored, Random, Later int
	Check                 *driver.Check
	// Failure says why there is no proof; "" if there is one.
	Failure string
}

func (o *outcome) verdict() string {
	if o.Failure != "" {
		return o.Failure
	}
	return fmt.Sprintf("%d mismatches", o.Check.Mismatches)
}

// prove compares the engines on one combination, and has the other tools read its design.
func prove(t *testing.T, e *entry, program string) (o *outcome, cached bool) {
	o = &outcome{combination: e.combination, Failure: e.failure}
	if e.like != nil {
		o.Like = e.like.String()
	}
	if e.failure != "" {
		return o, false
	}
	cached, err := o.run(t, e, program)
	if err != nil {
		o.Failure = err.Error()
	}
	return o, cached
}

func (o *outcome) run(t *testing.T, e *entry, program string) (cached bool, err error) {
	j, err := compile(t.Context(), e.Model, e.File, e.Plan)
	if err != nil {
		return false, err
	}
	again, err := compile(t.Context(), e.Model, e.File, e.Plan)
	if err != nil {
		return false, err
	}
	if designDigest(j.HW.Design) != designDigest(again.HW.Design) {
		return false, fmt.Errorf("two emissions of one model under one plan differ")
	}
	o.Stored = len(j.Samples)
	o.Random, o.Later = e.samples(o.Stored)
	extra, err := driver.RandomSamples(j.HW.Scheduled, o.Random, 1)
	if err != nil {
		return false, err
	}
	j.Samples = append(j.Samples, extra...)
	j.Seeds, j.Stalls, j.Later = stallSeeds, stallPercent, o.Later
	if e.like != nil {
		j.Seeds = stallSeeds[:1]
	}
	j.Second.Frames = secondSamples
	if e.ii > slowSample {
		j.Second.Frames = 1
	}
	if gateLevel(e) {
		j.Second.Gates = gateSamples
	}
	engines := engines(t)
	path := filepath.Join(engines.Cache, "results", resultKey(program, o, j)+".json")
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, o) == nil {
		return true, nil
	}
	if err := readable(t, engines.Cache, j.HW.Design); err != nil {
		return false, err
	}
	if o.Check, err = engines.Verify(t.Context(), *j); err != nil {
		return false, err
	}
	if err := o.judge(j); err != nil {
		return false, err
	}
	return false, keep(path, o)
}

// gateLevel says which designs also run as gates: one of each kind.
func gateLevel(e *entry) bool {
	return e.File == "model.onnx" && e.like == nil && slices.Contains([]string{"", "mx"}, e.Plan)
}

// judge finds codes that differ, an engine that was compared on fewer codes than it should, cycles that were not
// predicted, a kind of stall that never happened.
func (o *outcome) judge(j *driver.Job) error {
	c := o.Check
	if c.Mismatches != 0 {
		return fmt.Errorf("%d of %d codes differ: %v", c.Mismatches, c.Outputs, c.First)
	}
	each := 0 // codes of a sample, and the scales of its blocks
	for _, out := range j.HW.Scheduled.Out {
		each += out.Node.Type.Elems() + out.Node.Type.Blocks()
	}
	want := map[string]int{"pjrt": c.Samples * each, "rtl": (c.Quiet + c.Samples) * each,
		"icarus": j.Second.Frames * each}
	for range j.Seeds[1:] {
		if o.Later > 0 {
			want["rtl"] += min(o.Later, c.Samples) * each
		} else {
			want["rtl"] += c.Samples * each
		}
	}
	if j.Second.Gates > 0 {
		want["gates"] = j.Second.Gates * each
	}
	for engine, n := range want {
		if c.Compared[engine] != n || n == 0 {
			return fmt.Errorf("%s was compared on %d codes, not on %d", engine, c.Compared[engine], n)
		}
	}
	if ii := j.HW.Interval(); c.II != ii {
		return fmt.Errorf("a sample takes %g cycles, promised are %g", c.II, ii)
	}
	if c.Stalls.Starved == 0 || c.Stalls.Blocked == 0 {
		return fmt.Errorf("a kind of stall never happened: %+v", c.Stalls)
	}
	return nil
}

// readable demands that Verilator finds nothing to warn of, and that Icarus and Yosys take the design.
func readable(t *testing.T, cache string, d *emit.Design) error {
	if err := sim.Lint(t.Context(), cache, d.Top, d.Files); err != nil {
		return err
	}
	if err := sim.Elaborate(t.Context(), cache, d.Top, d.Files); err != nil {
		return err
	}
	return sim.Yosys(t.Context(), sim.DesignSpec(d, cache, false, false))
}

// keep writes an outcome under a temporary name, then renames it: an interrupted run leaves no half of one.
func keep(path string, o *outcome) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// resultKey is the digest of all that an outcome depends on.
func resultKey(program string, o *outcome, j *driver.Job) string {
	h := sha256.New()
	fmt.Fprintln(h, program, o.combination, o.Like, o.Random, j.Later, j.Second, j.Stalls, j.Seeds)
	fmt.Fprintln(h, len(j.Floats), j.Labels)
	io.WriteString(h, text.Print(j.HW.Float))
	io.WriteString(h, text.Print(j.HW.Scheduled))
	io.WriteString(h, designDigest(j.HW.Design))
	for _, samples := range [][]ref.Sample{j.Samples, j.Floats} {
		hashSamples(h, samples)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// designDigest stands for every byte of a design.
func designDigest(d *emit.Design) string {
	h := sha256.New()
	for _, f := range slices.Concat(d.Files, d.Docs) {
		fmt.Fprintf(h, "%s %d %s", f.Name, f.Size(), f.Bytes())
	}
	return hex.EncodeToString(h.Sum(nil))
}

func hashSamples(h hash.Hash, samples []ref.Sample) {
	for _, s := range samples {
		for _, v := range s {
			fmt.Fprintln(h, v.Codes, v.BlockScales, v.Floats)
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
