// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/tools"
)

// TestFolderSees breaks a design after its testbench was made, in ways that the design does not see by itself: the
// folder must, and without a break must not.
func TestFolderSees(t *testing.T) {
	tools.Need(t, "iverilog", "make")
	for _, c := range []struct {
		name, want string
		edit       func(t *testing.T, j *driver.Job)
	}{
		{"nothing", "PASS: 20 samples, 100 beats compared", func(*testing.T, *driver.Job) {}},
		{"a bit of a weight, checksum adapted", "FAIL: m_axis: sample ", func(t *testing.T, j *driver.Job) {
			flipBit(t, j, "n_0_weights.mem", 1, true)
		}},
		{"weights swapped in the graph that is printed", "FAIL: m_axis: sample ", func(t *testing.T, j *driver.Job) {
			extra := j.HW.Design.Extra
			swapWeights(t, j, "0")
			j.HW.Design.Extra = extra
		}},
		{"no TLAST", "TLAST is 0", func(t *testing.T, j *driver.Job) {
			replace(t, j, j.HW.Design.Top+".v", ".out_last(m_axis_tlast)", ".out_last()")
			replace(t, j, j.HW.Design.Top+".v", "stream_last #(", "assign m_axis_tlast = 1'b0;\n  stream_last #(")
		}},
		{"valid without end", "FAIL: ", func(t *testing.T, j *driver.Job) {
			replace(t, j, j.HW.Design.Top+".v", ".out_valid(m_axis_tvalid)", ".out_valid()")
			replace(t, j, j.HW.Design.Top+".v", "stream_last #(", "assign m_axis_tvalid = 1'b1;\n  stream_last #(")
		}},
		{"an output that never comes", "FAIL: nothing moved in ", func(t *testing.T, j *driver.Job) {
			replace(t, j, j.HW.Design.Top+".v", ".out_valid(m_axis_tvalid)", ".out_valid()")
			replace(t, j, j.HW.Design.Top+".v", "stream_last #(", "assign m_axis_tvalid = 1'b0;\n  stream_last #(")
		}},
		{"unknown bits", "FAIL: m_axis: sample 0, beat 0, lane ", func(t *testing.T, j *driver.Job) {
			replace(t, j, j.HW.Design.Top+".v", "assign m_axis_tdata = ", "assign m_axis_tdata = 8'bx | ")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := job(t, "jets-mlp", "model.onnx", "", 20)
			if err := j.HW.Complete(t.Context(), "model.onnx", j.Samples); err != nil {
				t.Fatal(err)
			}
			c.edit(t, j)
			folderSays(t, j, c.want)
		})
	}
}

// folderSays runs the testbench of a folder in Icarus.
func folderSays(t *testing.T, j *driver.Job, want string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := driver.Write(j.HW.Design, dir); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "make", "-C", dir, "icarus").CombinedOutput()
	if (err == nil) != strings.HasPrefix(want, "PASS") || !bytes.Contains(said, []byte(want)) {
		t.Errorf("%v: want %q in\n%s", err, want, said)
	}
}

// TestFolderTokens has folders whose samples are sequences, or frames of changing length, prove themselves token by
// token.
func TestFolderTokens(t *testing.T) {
	tools.Need(t, "iverilog", "make")
	decoder := func(t *testing.T) *driver.Job {
		return decoderJob(t, "../../frontend/hf/testdata/gpt2", "", 6, 37, true)
	}
	frames := func(t *testing.T) *driver.Job {
		j, err := lengthsOf(t, "bert", "")
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	cases := []struct {
		name, want          string
		job                 func(*testing.T) *driver.Job
		file, old, replaced string
	}{
		{"decoder", "PASS: 4 sequences, 777 beats compared", decoder, "", "", ""},
		{"tokens that are not counted", "position is 0 and error 0, want 1 and 0", decoder, "stream_session.sv",
			"position <= position + PW'(1)", "position <= position"},
		{"frames", "PASS: 6 frames, ", frames, "", "", ""},
		{"room for a token more", "want 6 and 1", decoder, "stream_session.sv", "error <= wrong", "error <= 1'b0"},
		{"a sequence that never ends", "token 5, beat 36: TLAST is 0", decoder, "stream_answer.sv", "assign out_last = ",
			"assign out_last = 1'b0 && "},
		{"frames of the most tokens", "FAIL: ", frames, "stream_frames.sv", "in_last || full", "full"},
	}
	for _, c := range cases[:tools.Sample(3, len(cases))] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := c.job(t)
			if err := j.HW.Complete(t.Context(), "folder", j.Samples); err != nil {
				t.Fatal(err)
			}
			if c.file != "" {
				replace(t, j, c.file, c.old, c.replaced)
			}
			folderSays(t, j, c.want)
		})
	}
}

// TestProtected keeps what is not of a design, in folders below too; what make built is not kept.
func TestProtected(t *testing.T) {
	j := job(t, "jets-mlp", "model.onnx", "", 2)
	if err := j.HW.Complete(t.Context(), "model.onnx", j.Samples); err != nil {
		t.Fatal(err)
	}
	const tag = "Signature: 8a477f597d28d172789f06886806bc55\n"
	for _, c := range []struct {
		file, text string
		kept       bool
	}{
		{"build/CACHEDIR.TAG", tag, false}, {"vivado/build/CACHEDIR.TAG", tag, false}, {"build/notes.txt", "mine", true},
		{"route.json", "{}", false},
		{"tb/notes.txt", "mine", true}, {"notes/tb.txt", "mine", true}, {"tb/design.json", "mine", true},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		if err := driver.Write(j.HW.Design, dir); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := driver.Write(j.HW.Design, dir)
		if c.kept != (diag.CodeOf(err) == "L0626") || !c.kept && err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		if _, err := os.Stat(path); c.kept != (err == nil) {
			t.Errorf("%s: afterwards %v", c.file, err)
		}
	}
}
