// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/sim/nvrtc"
)

// TestMain lets this test be the worker too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "worker" {
		if err := nvrtc.Worker(os.Stdin, os.Stdout, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// apart opens a compiler that compiles in processes of its own.
func apart(t *testing.T) *nvrtc.Compiler {
	t.Helper()
	c := open(t, "")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.Worker = []string{self, "worker"}
	return c
}

// handler is what the kernel knows of the handler of a signal: its address, flags, restorer and mask.
func handler(t *testing.T, s syscall.Signal) (h [4]uintptr) {
	t.Helper()
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&h)), 8, 0, 0)
	if e != 0 {
		t.Fatal(e)
	}
	return h
}

// TestSignals: a compilation leaves the handlers of signals as they were, since Go cannot take a signal without them.
// It runs in a process in which no other test has compiled.
func TestSignals(t *testing.T) {
	c := apart(t)
	const alone = "-test.run=^TestSignals$"
	if !slices.Contains(os.Args, alone) {
		if out, err := exec.CommandContext(t.Context(), c.Worker[0], alone).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(caught)
	all := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGXFSZ}
	var before [3][4]uintptr
	for i, s := range all {
		before[i] = handler(t, s)
	}
	if before[0][1] == 0 {
		t.Fatal("SIGINT has no handler: nothing is tested")
	}
	if _, err := c.Compile(t.Context(), "k.cu", `extern "C" __global__ void k() {}`, "sm_80"); err != nil {
		t.Fatal(err)
	}
	for i, s := range all {
		if after := handler(t, s); after != before[i] {
			t.Errorf("%v: %#x, before %#x", s, after, before[i])
		}
	}
}

// TestWorker: a process of its own makes the same code and the same complaints.
func TestWorker(t *testing.T) {
	here, there := open(t, ""), apart(t)
	source := dequant(t)
	for _, arch := range []string{"sm_90", cuda.PortablePTX} {
		want, errHere := here.Compile(t.Context(), "dequant.cu", source, arch)
		got, errThere := there.Compile(t.Context(), "dequant.cu", source, arch)
		if err := errors.Join(errHere, errThere); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Cubin, want.Cubin) || !bytes.Equal(got.PTX, want.PTX) || got.Log != want.Log {
			t.Errorf("%s: otherwise than here", arch)
		}
	}
	_, want := here.Compile(t.Context(), "k.cu", "int x", "sm_90")
	_, got := there.Compile(t.Context(), "k.cu", "int x", "sm_90")
	if diag.CodeOf(got) != "L0936" || got.Error() != want.Error() {
		t.Errorf("%v, here %v", got, want)
	}
}

// TestWorkerEnds: an interruption ends a compilation; a worker that fails is named.
func TestWorkerEnds(t *testing.T) {
	c := apart(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	c.Worker = []string{"sh", "-c", "exec sleep 600"}
	if _, err := c.Compile(ctx, "k.cu", "int x;", "sm_90"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for _, w := range []struct{ script, says string }{
		{"echo no room >&2; exit 3", "exit status 3: no room"}, {"kill -KILL $$", "signal: killed"},
		{"exit 0", "does not answer"},
	} {
		c.Worker = []string{"sh", "-c", w.script}
		_, err := c.Compile(t.Context(), "k.cu", "int x;", "sm_90")
		if diag.CodeOf(err) != "L0940" || !strings.Contains(err.Error(), w.says) {
			t.Errorf("%s: %v", w.script, err)
		}
	}
}
