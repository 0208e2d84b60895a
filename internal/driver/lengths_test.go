// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/lower/plan"
)

// lengthsFile writes samples of random ids, and how many tokens each has.
func lengthsFile(t *testing.T, samples, tokens, words int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(6, uint64(words)))
	var ids, lengths []int64
	for range samples {
		for range tokens {
			ids = append(ids, int64(r.IntN(words)))
		}
		lengths = append(lengths, int64(1+r.IntN(tokens)))
	}
	path := filepath.Join(t.TempDir(), "ids.npz")
	if err := npz.Write(path, []npz.Array{npz.Int64Array("input_ids", []int{samples, tokens}, ids),
		npz.Int64Array("lengths", []int{samples}, lengths)}); err != nil {
		t.Fatal(err)
	}
	return path
}

// lengthsOf is a model under a plan, as a design that takes frames of 1 to 8 tokens.
func lengthsOf(t *testing.T, model, text string) (*driver.Job, error) {
	t.Helper()
	arrays, dynamic := lengthsFile(t, 6, 8, 30), "dynamic"
	s := driver.Source{Model: "../../frontend/hf/testdata/" + model, Plan: planFile(t, text), Calibrate: arrays,
		Arrays: arrays, Settings: plan.Settings{Lengths: &dynamic}, Transformer: source.Transformer{Seq: 8}}
	hw, err := emits(t.Context(), s)
	if err != nil {
		return nil, err
	}
	f, err := npz.Read(arrays)
	if err != nil {
		t.Fatal(err)
	}
	j := &driver.Job{HW: hw, Stalls: 30, Seeds: []uint64{1, 2, 3}}
	j.Samples, _, err = driver.Samples(hw.Scheduled, f)
	return j, err
}

// provesLengths holds a design to the reference, frames of many lengths in three runs with stalls.
func provesLengths(t *testing.T, model, plan string, icarus int) {
	t.Helper()
	e := engines(t)
	j, err := lengthsOf(t, model, plan)
	if err != nil {
		t.Fatal(err)
	}
	j.Second.Frames = icarus
	check, err := e.Verify(t.Context(), *j)
	if err != nil {
		t.Fatal(err)
	}
	l := check.Lengths
	if check.Mismatches != 0 || check.Compared["rtl"] == 0 || l.Tokens != 8 || l.Short < 60 || len(l.Pace) != 3 {
		t.Fatalf("%d of %v codes differ: %v, %+v", check.Mismatches, check.Compared, check.First, l)
	}
	for _, w := range check.Warnings {
		if strings.Contains(w, "predicted") || strings.Contains(w, "stall") {
			t.Error(w)
		}
	}
	if whole := l.Pace[2].Cycles; model != "bert" && l.Pace[0].Cycles > whole*0.3 {
		t.Errorf("frames of 2 tokens take %v cycles, those of 8 %v", l.Pace[0].Cycles, whole)
	}
}

// TestLengths proves an encoder with a pooler beside its tokens; other models and plans take longer.
func TestLengths(t *testing.T) { provesLengths(t, "bert", "", 2) }

// lengthsFail plants a fault: verify must turn red and name the node.
func lengthsFail(t *testing.T, model, node, file, old, with string) {
	t.Helper()
	e := engines(t)
	e.NoPJRT = true
	j, err := lengthsOf(t, model, "")
	if err != nil {
		t.Fatal(err)
	}
	j.Seeds = j.Seeds[:1]
	replace(t, j, file, old, with)
	check, err := e.Verify(t.Context(), *j)
	if err != nil {
		t.Fatal(err)
	}
	if check.Mismatches == 0 || !strings.Contains(check.First[len(check.First)-1].Node, node) {
		t.Errorf("%d mismatches, %v; want one at %s", check.Mismatches, check.First, node)
	}
}

// TestLengthsCanFail has softmax take frames for a token too short.
func TestLengthsCanFail(t *testing.T) {
	lengthsFail(t, "bert", ".weights", "op_softmax_framed.sv", "assign bound = J_W'(tokens)",
		"assign bound = J_W'(tokens) - J_W'(1)")
}

// TestLengthsRefused names what cannot take frames of changing length.
func TestLengthsRefused(t *testing.T) {
	for _, c := range []struct{ model, plan, want string }{
		{"bert", "[fold]\nlayers = \"loop\"", "on their way round"},
		{"bert", "[memory]\nweights = \"external\"", "memory outside"},
		{"bert", "[quantize]\ndata = \"mxint(8,8)\"\nweight = \"mxint(8,8)\"\n[[quantize.rule]]\nop = \"attend_sum\"\n" +
			"data_in = \"mxint(8,8)\"", "blocks of values span tokens"},
	} {
		_, err := lengthsOf(t, c.model, c.plan)
		if diag.CodeOf(err) != "L0437" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s under %q: %v", c.model, c.plan, err)
		}
	}
}

// TestLengthsMasks refuses masks that are no lengths.
func TestLengthsMasks(t *testing.T) {
	j, err := lengthsOf(t, "bert", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, bits := range [][]int64{{1, 1, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 1, 1, 1, 1, 1, 1}} {
		copy(j.Samples[3][1].Codes, bits)
		_, err = (driver.Engines{NoPJRT: true, Now: engines(t).Now}).Verify(context.Background(), *j)
		if diag.CodeOf(err) != "L0917" || !strings.Contains(err.Error(), "sample 3") {
			t.Errorf("%v: %v", bits, err)
		}
	}
}
