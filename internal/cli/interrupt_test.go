// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/tools"
)

// interruption is a command that takes a while, and the tools without which it does not run.
type interruption struct{ needs, line string }

// interruptions are such commands. %d is examples/digits-cnn, %f the folder of fixtures, %o a path that does not exist.
var interruptions = []interruption{
	{"", "inspect %d/model.onnx --svg %o"},
	{"", "quantize %d/model.onnx --calibrate %d/calib.npz -o %o.lathe --explain"},
	{"", "plan %d/model.onnx --calibrate %d/calib.npz --fps 1e5"},
	{"", "emit-verilog %d/model.onnx --calibrate %d/calib.npz -o %o --fps 1e5"},
	{"verilator g++ plugin yosys", "verify %d/model.onnx --calibrate %d/calib.npz --inputs %d/inputs.npz -o %o"},
	{"verilator g++ plugin yosys", "report %d/model.onnx --calibrate %d/calib.npz -o %o.html"},
	{"yosys", "area %d/model.onnx --calibrate %d/calib.npz"},
	{"verilator g++", "run %d/model.onnx --calibrate %d/calib.npz --inputs %d/inputs.npz -o %o.npz --engine rtl"},
	{"plugin", "run %d/model.onnx --inputs %d/inputs.npz -o %o.npz --engine pjrt"},
	{"nvrtc", "run %d/model.onnx --inputs %d/inputs.npz -o %o.npz --engine cuda"},
	{"nvrtc", "emit-cuda %d/model.onnx -o %o"},
}

// TestInterruptions sends SIGINT or SIGTERM to each command at a random moment. It must end with the status of the
// signal, unless it had ended, and leave neither a process nor a file.
func TestInterruptions(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 1))
	for i, c := range interruptions {
		after := time.Duration(random.Int64N(int64(2 * time.Second)))
		t.Run(fmt.Sprintf("%s_%d", strings.Fields(c.line)[0], i), func(t *testing.T) {
			t.Parallel()
			interrupt(t, c, after, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2])
		})
	}
}

// interrupt runs a command and sends it a signal after some time. It returns how long the command ran until then, and
// how long it took to obey.
func interrupt(t *testing.T, c interruption, after time.Duration, signal syscall.Signal) (ran, obeyed time.Duration) {
	plugin := needed(t, c.needs)
	work := t.TempDir()
	digits, err := filepath.Abs(filepath.Join("..", "..", "examples", "digits-cnn"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"out", "tmp", "cache"} {
		if err := os.Mkdir(filepath.Join(work, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(c.needs, "nvrtc") {
		if err := os.Symlink(filepath.Join(tools.CacheDir(t), "cuda"), filepath.Join(work, "cache", "cuda")); err != nil {
			t.Fatal(err)
		}
	}
	line := strings.NewReplacer("%d", digits, "%f", fixtures, "%o", filepath.Join(work, "out", "result")).Replace(c.line)
	var said bytes.Buffer
	cmd := exec.Command(filepath.Join(programs, "lathe"), strings.Fields(line)...)
	mark := "LATHE_TEST_MARK=" + work
	cmd.Env = append(os.Environ(), mark, "LATHE_CACHE="+filepath.Join(work, "cache"), "LATHE_PJRT_PLUGIN="+plugin,
		"TMPDIR="+filepath.Join(work, "tmp"))
	cmd.Stderr = &said
	started := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
		ran = time.Since(started)
		if err != nil {
			t.Errorf("%v without a signal\n%s", err, said.String())
		}
		emptied(t, work, mark, "tmp")
		return ran, 0
	case <-time.After(after):
	}
	sent := time.Now()
	_ = cmd.Process.Signal(signal) // it may be ending
	err = <-ended
	ran, obeyed = sent.Sub(started), time.Since(sent)
	t.Logf("%v after %v: ended %v later", signal, after.Round(time.Millisecond), obeyed.Round(time.Millisecond))
	var exit *exec.ExitError
	switch {
	case err == nil:
		return ran, 0 // it was faster
	case errors.As(err, &exit) && said.Len() == 0 && exit.Sys().(syscall.WaitStatus).Signal() == signal:
		// before the program began to listen
	case !errors.As(err, &exit) || exit.ExitCode() != 128+int(signal) ||
		!strings.HasSuffix(said.String(), "lathe: interrupted\n"):
		t.Errorf("%v\n%s", err, said.String())
	}
	emptied(t, work, mark, "out", "tmp")
	return ran, obeyed
}

// emptied demands that a command has left no process with its mark, nothing in folders of work, and no half of a
// simulator in its cache.
func emptied(t *testing.T, work, mark string, folders ...string) {
	if left := marked(t, mark); left != "" {
		t.Errorf("processes are left:\n%s", left)
	}
	patterns := []string{"cache/sim/making-*", "cache/sim/failed-*"}
	for _, dir := range folders {
		patterns = append(patterns, filepath.Join(dir, "*"))
	}
	for _, pattern := range patterns {
		if files, _ := filepath.Glob(filepath.Join(work, pattern)); len(files) > 0 {
			t.Errorf("files are left: %v", files)
		}
	}
}

// marked lists the processes that have a variable in their environment, after those that are ending have ended.
func marked(t *testing.T, mark string) (left string) {
	for range 100 {
		left = ""
		files, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil || len(files) == 0 {
			t.Fatal("no /proc to look for processes in")
		}
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && bytes.Contains(text, []byte(mark)) {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
				left += fmt.Sprintf("%s %q\n", f, line)
			}
		}
		if left == "" {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}
