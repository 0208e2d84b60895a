// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/evidence"
	"lathe/internal/tools"
)

// prover has outcomes of its own, and the compiled simulations of all tests.
func prover(t *testing.T) *Prover {
	t.Helper()
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	cache, shared := t.TempDir(), filepath.Join(tools.CacheDir(t), "sim")
	if err := os.MkdirAll(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared, filepath.Join(cache, "sim")); err != nil {
		t.Fatal(err)
	}
	return &Prover{Examples: examples, Commit: "one", Version: "v",
		Engines: driver.Engines{Cache: cache, PJRT: pjrttest.Config(t), Now: time.Now}}
}

// TestProve proves a circuit, and takes its outcome in the place of another run while the version is the same: not the
// name of the state of the sources, nor where an engine is missing.
func TestProve(t *testing.T) {
	t.Parallel()
	p, u := prover(t), evidence.Use{Model: "jets-mlp", File: "model.onnx", Plan: "wide"}
	first := p.Prove(t.Context(), u)
	if first.Failure != "" || first.Mismatches != 0 || first.Circuit == "" || first.Answers == "" ||
		first.Commit != "one" {
		t.Fatalf("%+v", first)
	}
	if first.Random != randomSamples || first.Stored < 100 || first.Later != 0 {
		t.Errorf("%d random samples, %d stored, %d later", first.Random, first.Stored, first.Later)
	}
	outputs := first.Codes["pjrt"] / (first.Random + first.Stored)
	if outputs != 5 || first.Codes["icarus"] != secondSamples*outputs ||
		first.Codes["rtl"] < len(evidence.StallSeeds)*first.Codes["pjrt"] {
		t.Errorf("codes of %d outputs: %v", outputs, first.Codes)
	}
	outcomes := func() []string {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(p.Engines.Cache, "proofs", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if len(outcomes()) != 1 {
		t.Fatalf("outcomes: %v", outcomes())
	}
	kept := first
	kept.Latency = 12345 // as no run would have it
	data, err := json.Marshal(kept)
	if err == nil {
		err = os.WriteFile(outcomes()[0], data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Engines.PJRT.Plugin, p.Commit, kept.Commit = "/nowhere.so", "two", "two"
	if got := p.Prove(t.Context(), u); !reflect.DeepEqual(got, kept) {
		t.Errorf("the outcome is not taken: %+v, want %+v", got, kept)
	}
	p.Version = "w"
	if got := p.Prove(t.Context(), u); got.Failure == "" || got.Circuit != first.Circuit || got.Latency == kept.Latency {
		t.Errorf("without PJRT, under another version: %+v", got)
	}
	if len(outcomes()) != 1 {
		t.Errorf("a failure is kept: %v", outcomes())
	}
}

// TestProveNothing has the line of a use that cannot be compiled say why.
func TestProveNothing(t *testing.T) {
	p := &Prover{Examples: examples, Commit: "one"}
	got := p.Prove(t.Context(), evidence.Use{Model: "jets-mlp", File: "model.onnx", Plan: "nowhere"})
	if !strings.Contains(got.Failure, "nowhere") || got.Circuit != "" || got.Commit != "one" {
		t.Errorf("%+v", got)
	}
}
