// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/cuda/cases"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/sim/gpu/gputest"
)

func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), args, &out, &err)
	return status, out.String(), err.String()
}

func TestList(t *testing.T) {
	status, out, _ := call(t, "list", "-match", "dequant/bf16")
	if status != 0 || !strings.Contains(out, "dequant/bf16/n=234881024 ") || strings.Contains(out, "f32") {
		t.Errorf("%d\n%s", status, out)
	}
	for _, args := range [][]string{{}, {"dance"}, {"list", "-flag"}, {"list", "more"}} {
		if status, _, _ := call(t, args...); status != 2 {
			t.Errorf("%q: status %d", args, status)
		}
	}
	if status, _, err := call(t, "list", "-match", "no such case"); status != 1 || !strings.Contains(err, "no case has") {
		t.Errorf("%d, %s", status, err)
	}
}

// TestNoGPU says in one line what is missing.
func TestNoGPU(t *testing.T) {
	dir := t.TempDir()
	for what, args := range map[diag.Code][]string{
		"L0935": {"build", "-toolchain", dir, "-pack", dir},
		"L0988": {"run", "-pack", dir},
	} {
		if status, _, err := call(t, args...); status != 1 || !strings.Contains(err, string(what)) {
			t.Errorf("%q: %d, %s", args, status, err)
		}
	}
}

// TestRun packs a case and runs it on a stand-in that cannot compute it: the case fails, with a record, and is not run
// again.
func TestRun(t *testing.T) {
	f := gputest.New(t)
	f.Set("major", 13) // so that it takes the PTX
	f.Set("slow", 10000)
	dir := t.TempDir()
	pack, out := filepath.Join(dir, "pack"), filepath.Join(dir, "out")
	status, text, stderr := call(t, "build", "-toolchain", tools.NeedNVRTC(t), "-pack", pack, "-archs", "sm_90",
		"-commit", "c0ffee", "-match", "dequant/bf16")
	if status != 0 || !strings.Contains(text, "1 programs for ") {
		t.Fatalf("%d\n%s%s", status, text, stderr)
	}
	args := []string{"run", "-pack", pack, "-out", out, "-library", f.Path, "-match", "dequant/bf16/n=4113"}
	status, text, stderr = call(t, args...)
	if status != 1 || !strings.Contains(text, "dequant/bf16/n=4113: failed: ") || !strings.Contains(text, " 1 failed") ||
		!strings.Contains(stderr, "wrong or failed") {
		t.Errorf("%d\n%s%s", status, text, stderr)
	}
	records, err := os.ReadFile(filepath.Join(out, "fake-h200.jsonl"))
	if err != nil || !bytes.Contains(records, []byte(`"commit":"c0ffee"`)) ||
		!bytes.Contains(records, []byte("PTX sm_80")) {
		t.Errorf("%v\n%s", err, records)
	}
	if status, text, _ = call(t, args...); status != 0 || !strings.Contains(text, "1 had their line before") {
		t.Errorf("again: %d\n%s", status, text)
	}
	status, text, stderr = call(t, "run", "-pack", pack, "-out", out, "-emulated", "-match", "dequant/bf16")
	if status != 0 || !strings.Contains(text, "dequant/bf16/n=4113: checked") || strings.Contains(text, "16777216") {
		t.Errorf("emulated: %d\n%s%s", status, text, stderr)
	}
	if n, what := f.Live(); n != 0 {
		t.Error("left over: " + what)
	}
	status, _, stderr = call(t, "run", "-pack", pack, "-out", out, "-library", "libcuda-of-no-machine.so.1")
	if status != 1 || !strings.Contains(stderr, "L0975") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// TestPredict adds what is missing, changes nothing that is there, and knows the cases of the file of the project.
func TestPredict(t *testing.T) {
	dir := t.TempDir()
	var texts [2][]byte
	for i, commit := range []string{"a", "b"} {
		status, out, stderr := call(t, "predict", "-out", dir, "-match", "dequant/bf16", "-commit", commit)
		if status != 0 || strings.Contains(out, " 0 of them new") != (i == 1) {
			t.Fatalf("%d\n%s%s", status, out, stderr)
		}
		var err error
		if texts[i], err = os.ReadFile(filepath.Join(dir, predictionsName)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Contains(texts[0], []byte(`"commit":"a"`)) || !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("%s\nbecame\n%s", texts[0], texts[1])
	}
	text, err := os.ReadFile(filepath.Join("../../docs/measurements", predictionsName))
	if err != nil {
		t.Fatal(err)
	}
	var all []cases.Prediction
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	_, known, _ := call(t, "list", "-json")
	for _, p := range all {
		name, err := json.Marshal(p.Case)
		if err != nil || !strings.Contains(known, `"case":`+string(name)) {
			t.Errorf("%s is predicted, and no case (%v)", p.Case, err)
		}
	}
}
