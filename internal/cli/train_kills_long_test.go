// SPDX-License-Identifier: Apache-2.0

//go:build long

package cli_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// untilItGrows waits until a file has more bytes than now, at most so long.
func untilItGrows(path string, most time.Duration) {
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for was, waited := size(), time.Duration(0); size() == was && waited < most; waited += time.Millisecond {
		time.Sleep(time.Millisecond)
	}
}

// TestTrainKilled kills training twenty times at random moments, half of the times without a word. The same command
// goes on each time, and what comes out in the end has the bits of a run that nobody disturbed.
func TestTrainKilled(t *testing.T) {
	plugin := needed(t, "plugin")
	digits, err := filepath.Abs(filepath.Join("..", "..", "examples", "digits-mlp"))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	plan := filepath.Join(work, "plan.toml")
	text := "[train]\nepochs = 400\n[prune]\nsparsity = 0.6\nschedule = \"cubic\"\n"
	if err := os.WriteFile(plan, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	begin := func(out string) (*exec.Cmd, *bytes.Buffer) {
		c := exec.Command(filepath.Join(programs, "lathe"), "train", digits+"/model.onnx", "--data", digits+"/train.npz",
			"--labels", digits+"/train_labels.npy", "--bits", "3", "--plan", plan, "-o", filepath.Join(work, out))
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		c.Env = append(os.Environ(), "LATHE_PJRT_PLUGIN="+plugin)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, &said
	}
	started := time.Now()
	c, said := begin("whole.lathe")
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	whole := time.Since(started)
	random := rand.New(rand.NewPCG(14, 49))
	for i := range 20 {
		c, _ := begin("killed.lathe")
		untilItGrows(filepath.Join(work, "killed.train", "train.jsonl"), whole)
		time.Sleep(time.Duration(random.Int64N(int64(whole / 40))))
		if err := c.Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[i%2]); err != nil {
			t.Logf("kill %d came too late: %v", i, err)
		}
		c.Wait()
	}
	c, said = begin("killed.lathe")
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !strings.Contains(said.String(), "went on from step") {
		t.Errorf("nothing was interrupted: %s", said)
	}
	want, err := os.ReadFile(filepath.Join(work, "whole.lathe"))
	got, e := os.ReadFile(filepath.Join(work, "killed.lathe"))
	if err != nil || e != nil || !bytes.Equal(got, want) {
		t.Error("the bits differ from those of a run without interruptions")
	}
	t.Logf("a run of %v, killed twenty times: %s", whole.Round(time.Millisecond), said)
}
