// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/emit/circuit"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/evidence"
	"lathe/rtl"
)

const (
	examples    = "../../../examples"
	evidenceDir = "../../../docs/evidence"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// TestUses: docs/evidence has the examples under the plans that there are.
func TestUses(t *testing.T) {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	uses, err := Uses(examples)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(uses, e.Uses, func(a, b evidence.Use) bool { return a.String() == b.String() }) {
		t.Errorf("%d designs of examples, docs/evidence has others: run `scripts/measure results`", len(uses))
	}
	if _, err := Uses(t.TempDir()); err == nil {
		t.Error("an empty folder has examples")
	}
}

// edited is the design of d with the text of a library module changed; ok says that it has the module.
func edited(t *testing.T, d *Design, module, old, text string) (c *circuit.Circuit, ok bool) {
	t.Helper()
	files := slices.Clone(d.job.HW.Design.Files)
	for i, f := range files {
		if f.Name == module+".sv" {
			if !bytes.Contains(f.Data, []byte(old)) {
				t.Fatalf("%s does not contain %q", module, old)
			}
			files[i], ok = rtl.File{Name: f.Name, Data: bytes.Replace(f.Data, []byte(old), []byte(text), 1)}, true
		}
	}
	c, err := circuit.Of(&emit.Design{Top: d.job.HW.Design.Top, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return c, ok
}

// TestEdits changes library modules under designs of several kinds: a comment leaves every line of evidence as it is, a
// token makes stale exactly the designs that instantiate the module, and an edge has all of them stand again.
func TestEdits(t *testing.T) {
	var all []*Design
	for _, u := range []evidence.Use{{Model: "jets-mlp", File: "model.onnx", Plan: Default},
		{Model: "digits-cnn", File: "model.onnx", Plan: Default}, {Model: "digits-mlp", File: "model.onnx", Plan: "mx"},
		{Model: "digits-lstm", File: "model.onnx", Plan: Default}} {
		d := Compile(t.Context(), examples, u, nil)
		if d.Failure != "" {
			t.Fatal(d.Failure)
		}
		all = append(all, d)
	}
	for _, c := range []struct {
		module, old, text string
		changes           bool
		in                int // designs
	}{
		{"stream_skid", "full-throughput register slice", "a slice of registers", false, 4},
		{"stream_skid", "spare_valid <= 1'b1", "spare_valid <= 1'b0", true, 4},
		{"op_maxpool", "endmodule", "wire unused; endmodule", true, 1},
		{"op_conv", "endmodule", "wire unused; endmodule", true, 1},
		{"mx_linear", "endmodule", "wire unused; endmodule", true, 1},
		{"op_log_softmax", "endmodule", "wire unused; endmodule", true, 0},
		{"num_requant", "endmodule", "// nothing\n endmodule", false, 4},
	} {
		in := 0
		for _, d := range all {
			now, has := edited(t, d, c.module, c.old, c.text)
			in += rtl.Flag(has)
			if stale := now.Digest(nil) != d.Use.Circuit; stale != (has && c.changes) {
				t.Errorf("%s: %q for %q in %s: stale %v", d, c.text, c.old, c.module, stale)
			}
			edge := circuit.Edge{Module: c.module, Old: d.Circuit.Library.Hashes(nil)[c.module],
				New: now.Library.Hashes(nil)[c.module]}
			if now.Digest([]circuit.Edge{edge}) != d.Use.Circuit {
				t.Errorf("%s: does not stand over a proven change of %s", d, c.module)
			}
		}
		if in != c.in {
			t.Errorf("%d designs have %s, want %d", in, c.module, c.in)
		}
	}
}

// TestSameCircuit: two files of a model are one circuit.
func TestSameCircuit(t *testing.T) {
	a := Compile(t.Context(), examples, evidence.Use{Model: "jets-mlp", File: "model.onnx", Plan: Default}, nil)
	b := Compile(t.Context(), examples, evidence.Use{Model: "jets-mlp", File: "model_legacy.onnx", Plan: Default}, nil)
	if a.Failure+b.Failure != "" || a.Use.Circuit != b.Use.Circuit || a.Answers != b.Answers {
		t.Errorf("%+v and %+v", a.Use, b.Use)
	}
	none := Compile(t.Context(), examples, evidence.Use{Model: "jets-mlp", File: "none.onnx", Plan: Default}, nil)
	if none.Failure == "" || none.Circuit != nil {
		t.Errorf("a file that is not there: %+v", none.Use)
	}
}

// TestCover chooses few designs that show every class of parameters of a changed module.
func TestCover(t *testing.T) {
	lib := circuit.Library{"op": {Deps: []string{"num"}}, "num": {}, "fifo": {}}
	design := func(name string, ii int, params ...string) *Design {
		u := circuit.Unit{Module: "op"}
		for i := 0; i < len(params); i += 2 {
			u.Params = append(u.Params, rtl.Param{Name: params[i], Value: params[i+1]})
		}
		c := &circuit.Circuit{Units: []circuit.Unit{u, {Module: "fifo"}}, Library: lib}
		return &Design{Use: evidence.Use{Model: name}, Circuit: c, II: ii}
	}
	all := []*Design{design("slow", 9, "W", "8", "S", "0"), design("fast", 1, "W", "12", "S", "0"),
		design("signed", 5, "W", "8", "S", "1"), design("text", 5, "M", `"block"`), {Use: evidence.Use{Model: "failed"}}}
	chosen, shown, classes := Cover(all, []string{"num"}, 0)
	var names []string
	for _, d := range chosen {
		names = append(names, d.Model)
	}
	// Classes: op alone, W a number, S 0, S 1, M "block".
	if !slices.Equal(names, []string{"fast", "signed", "text"}) || shown != 5 || classes != 5 {
		t.Errorf("%v show %d of %d", names, shown, classes)
	}
	if chosen, shown, classes = Cover(all, []string{"num"}, 1); len(chosen) != 1 || shown != 3 || classes != 5 {
		t.Errorf("one design: %d of %d", shown, classes)
	}
	if chosen, _, _ = Cover(all, nil, 0); chosen != nil {
		t.Error("nothing has changed, and something is chosen")
	}
}

// TestEqual records an edge of a module that has changed, and of no other.
func TestEqual(t *testing.T) {
	library, err := circuit.All()
	if err != nil {
		t.Fatal(err)
	}
	e := &evidence.Evidence{Sweep: evidence.Sweep{Commit: "s", Modules: library.Hashes(nil)}}
	e.Sweep.Modules["num_dsp"] = "before"
	delete(e.Sweep.Modules, "stream_skid")
	for _, module := range []string{"none", "stream_skid", "stream_fifo"} {
		if err := Equal(e, module, "prove"); err == nil || !strings.Contains(err.Error(), module) {
			t.Errorf("%s: %v", module, err)
		}
	}
	if err := Equal(e, "num_dsp", "prove it"); err != nil {
		t.Fatal(err)
	}
	want := circuit.Edge{Module: "num_dsp", Old: "before", New: library.Hashes(nil)["num_dsp"], Proof: "prove it"}
	if len(e.Edges) != 1 || e.Edges[0] != want || slices.Contains(e.Changed(library), "num_dsp") {
		t.Errorf("edges %+v", e.Edges)
	}
}
