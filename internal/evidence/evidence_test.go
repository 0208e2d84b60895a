// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/emit/circuit"
)

const docs = "../../docs"

// kept reads the evidence of the project.
func kept(t *testing.T) *Evidence {
	t.Helper()
	e, err := Read(filepath.Join(docs, "evidence"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPrinted holds docs/results.md to the lines that it is printed from, and these to what is written of them.
func TestPrinted(t *testing.T) {
	e := kept(t)
	page, err := os.ReadFile(filepath.Join(docs, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Page(); got != string(page) {
		t.Error("docs/results.md is not what docs/evidence says: run `scripts/measure print`")
	}
	dir := t.TempDir()
	if err := e.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name := range e.texts() {
		have, err := os.ReadFile(filepath.Join(docs, "evidence", name))
		got, gotErr := os.ReadFile(filepath.Join(dir, name))
		if err != nil || gotErr != nil || string(have) != string(got) {
			t.Errorf("%s is written otherwise: %v, %v", name, err, gotErr)
		}
	}
	for _, u := range e.Uses {
		if u.Failure == "" && (u.Circuit == "" || u.Answers == "") {
			t.Errorf("%s has no circuit", u)
		}
	}
}

func TestBrokenLines(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{sweepFile, "{", "unexpected end"}, {edgesFile, "{}\nx\n", edgesFile + ":2"},
		{proofsFile, "{\"circuit\":\"a\",\"seed\":1}\n", proofsFile + ":1"}, {usesFile, "[]\n", usesFile + ":1"},
	} {
		dir := t.TempDir()
		if err := (&Evidence{}).Write(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.name), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// sample is evidence of a sweep at commit s: a and b stand by it, c by a later proof, d by an edge to what b was, e and
// f by nothing, f since it answers otherwise, g is not compiled, h has failed.
func sample() *Evidence {
	line := func(circuit, commit string) Proof {
		return Proof{Circuit: circuit, Commit: commit, Answers: "x", Stored: 10, Random: 90, II: 4,
			Codes: map[string]int{"rtl": 100, "pjrt": 50}}
	}
	failed := line("h", "t")
	failed.Failure = "2 of 100 codes differ"
	use := func(file, circuit string) Use {
		return Use{Model: "m", File: file, Plan: "default", Circuit: circuit, Answers: "x"}
	}
	e := &Evidence{Sweep: Sweep{Commit: "s"}, Proofs: []Proof{line("a", "s"), line("b", "s"), line("c", "t"), failed,
		line("old", "s")}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		e.Uses = append(e.Uses, use(name+".onnx", name))
	}
	e.Uses[3].As = "b"
	e.Uses[5].Circuit, e.Uses[5].Answers = "a", "y"
	e.Uses[6] = Use{Model: "m", File: "g.onnx", Plan: "b16", Failure: "L0412: no"}
	e.Clocks = []Clock{{Model: "m", Plan: "serial", MHz: 1.5, Median: 1, Rate: 2, LUT: 3, FF: 4, DSP: 5, BRAM: 6}}
	return e
}

func TestStands(t *testing.T) {
	e := sample()
	for i, want := range []string{"a", "b", "c", "b", "", "", "", "h"} {
		got := ""
		if p := e.Of(e.Uses[i]); p != nil {
			got = p.Circuit
		}
		if got != want {
			t.Errorf("%s stands by %q, want %q", e.Uses[i], got, want)
		}
	}
	if changed, proven := e.Since(); changed != 5 || proven != 2 { // c, d, e, f, h; of them c and d
		t.Errorf("%d changed, %d proven", changed, proven)
	}
	page := e.Page()
	for _, want := range []string{"3 circuits. Codes", "4 of 8 designs", "since then 5 circuits changed, 2 of them proven",
		"failed: 2.", "| 8 bits | 3 (3 designs without) | 90 | 300 | 150 | 0 |  | 0 | 0 | 4 |  |  |",
		"e.onnx default, f.onnx default", "**Not proven**: m/h.onnx default: 2 of 100", "m/g.onnx b16: L0412: no",
		"Routed for ecp5-85k, plan serial: 1.5 MHz, 3 LUT, 4 FF, 5 DSP, 6 BRAM.\n",
		"stalling in 30 % of all cycles, once for each of 3 seeds"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	e.Clean()
	if len(e.Proofs) != 4 {
		t.Errorf("%d lines are needed", len(e.Proofs))
	}
	e.Set(Proof{Circuit: "e", Answers: "x"})
	e.Set(Proof{Circuit: "a", Answers: "y"})
	e.Set(Proof{Circuit: "a", Answers: "x", Commit: "t"})
	if len(e.Proofs) != 6 || e.Of(e.Uses[0]).Commit != "t" || e.Of(e.Uses[4]) == nil || e.Of(e.Uses[5]) == nil {
		t.Errorf("lines are not set: %+v", e.Proofs)
	}
}

// TestChanged finds modules that are other ones than at the sweep, with those around them, unless an edge says that
// they are equal.
func TestChanged(t *testing.T) {
	lib := circuit.Library{"top": {Tokens: "1", Deps: []string{"leaf"}}, "leaf": {Tokens: "1"}, "other": {Tokens: "1"}}
	e := &Evidence{Sweep: Sweep{Modules: lib.Hashes(nil)}}
	if got := e.Changed(lib); got != nil {
		t.Errorf("changed: %v", got)
	}
	lib["leaf"] = circuit.Module{Tokens: "2"}
	if got := e.Changed(lib); !slices.Equal(got, []string{"leaf", "top"}) {
		t.Errorf("changed: %v", got)
	}
	e.Edges = []circuit.Edge{{Module: "leaf", Old: e.Sweep.Modules["leaf"], New: lib.Hashes(nil)["leaf"]}}
	if got := e.Changed(lib); got != nil {
		t.Errorf("proven, but changed: %v", got)
	}
}

func TestClocks(t *testing.T) {
	e := sample()
	e.SetClock(Clock{Model: "n", Plan: "serial", Failure: "too large"})
	page := e.ClocksPage([]string{"m", "n", "o"}, "old\n"+unrolled+"kept\n")
	for _, want := range []string{
		"| m | serial | 1.5 | 1.0 | 2 | 3 | 4 | 5 | 6 |  | 0 % |\n| n | serial | too large | | |",
		"\nNot routed yet: o.\n" + unrolled + "kept\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if got := e.clock("n") + e.clock("o"); got != "" {
		t.Errorf("a sentence about what was not routed: %q", got)
	}
	e.SetClock(Clock{Model: "m"})
	if len(e.Clocks) != 2 || e.Clock("m").MHz != 0 {
		t.Errorf("a clock is not set: %+v", e.Clocks)
	}
}
