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

// interruptions are commands that take a while. %d is examples/digits-cnn, %o a path that does not exist.
var interruptions = []struct{ needs, line string }{
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
		for k := range moments {
			after := time.Duration(random.Int64N(int64(latest)))
			t.Run(fmt.Sprintf("%s_%d", strings.Fields(c.line)[0], i*moments+k), func(t *testing.T) {
				t.Parallel()
				interrupt(t, c.needs, c.line, after, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[(i+k)%2])
			})
		}
	}
}

func interrupt(t *testing.T, needs, line string, after time.Duration, signal syscall.Signal) {
	plugin := needed(t, needs)
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
	if strings.Contains(needs, "nvrtc") {
		if err := os.Symlink(filepath.Join(tools.CacheDir(t), "cuda"), filepath.Join(work, "cache", "cuda")); err != nil {
			t.Fatal(err)
		}
	}
	line = strings.NewReplacer("%d", digits, "%o", filepath.Join(work, "out", "result")).Replace(line)
	var said bytes.Buffer
	cmd := exec.Command(filepath.Join(programs, "lathe"), strings.Fields(line)...)
	mark := "LATHE_TEST_MARK=" + work
	cmd.Env = append(os.Environ(), mark, "LATHE_CACHE="+filepath.Join(work, "cache"), "LATHE_PJRT_PLUGIN="+plugin,
		"TMPDIR="+filepath.Join(work, "tmp"))
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	sent := time.Now()
	_ = cmd.Process.Signal(signal) // it may have ended
	err = cmd.Wait()
	t.Logf("%v after %v: ended %v later", signal, after.Round(time.Millisecond), time.Since(sent).Round(time.Millisecond))
	var exit *exec.ExitError
	switch {
	case err == nil:
		return // it was faster
	case errors.As(err, &exit) && said.Len() == 0 && exit.Sys().(syscall.WaitStatus).Signal() == signal:
		// before the program began to listen
	case !errors.As(err, &exit) || exit.ExitCode() != 128+int(signal) ||
		!strings.HasSuffix(said.String(), "lathe: interrupted\n"):
		t.Errorf("%v\n%s", err, said.String())
	}
	if left := marked(t, mark); left != "" {
		t.Errorf("processes are left:\n%s", left)
	}
	for _, pattern := range []string{"out/*", "out/.*", "tmp/*", "tmp/.*", "cache/sim/making-*", "cache/sim/failed-*"} {
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
