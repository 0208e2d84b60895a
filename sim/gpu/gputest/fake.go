// SPDX-License-Identifier: Apache-2.0

// Package gputest stands in for a GPU in tests: a libcuda.so.1 of its own, built by g++, that checks and records calls,
// executes a few kernels by name, and fails where a test tells it to.
package gputest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"lathe/internal/tools"
)

//go:embed testdata/fakecuda.cc
var source []byte

// Fake is a stand-in for the driver with a state of its own.
type Fake struct {
	Path string // of the shared library

	fail   func(name string, skip, code int32)
	failAt func(n, code int32)
	set    func(name string, value int64)
	calls  func() int32
	taken  func() int32
	live   func(out *byte, size int32) int32
	log    func(out *byte, size int32) int32
	reset  func()
}

// New builds the stand-in, or takes the build of an earlier test, and loads a copy that the test shares with nobody.
func New(t testing.TB) *Fake {
	t.Helper()
	tools.Need(t, "g++")
	built, err := build(tools.CacheDir(t))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(built)
	f := &Fake{Path: filepath.Join(t.TempDir(), "libcuda.so.1")}
	if err == nil {
		err = os.WriteFile(f.Path, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	handle, err := purego.Dlopen(f.Path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	purego.RegisterLibFunc(&f.fail, handle, "fake_fail")
	purego.RegisterLibFunc(&f.failAt, handle, "fake_fail_at")
	purego.RegisterLibFunc(&f.set, handle, "fake_set")
	purego.RegisterLibFunc(&f.calls, handle, "fake_calls")
	purego.RegisterLibFunc(&f.live, handle, "fake_live")
	purego.RegisterLibFunc(&f.log, handle, "fake_log")
	purego.RegisterLibFunc(&f.taken, handle, "fake_taken")
	purego.RegisterLibFunc(&f.reset, handle, "fake_reset")
	return f
}

// build compiles the stand-in into dir under a name that its source decides.
func build(dir string) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("fakecuda-%x.so", sha256.Sum256(source)))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(dir, "fakecuda-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	in, out := filepath.Join(work, "fakecuda.cc"), filepath.Join(work, "fakecuda.so")
	if err := os.WriteFile(in, source, 0o644); err != nil {
		return "", err
	}
	text, err := exec.Command("g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-o", out, in).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("g++: %v\n%s", err, text)
	}
	return path, os.Rename(out, path)
}

// Fail has the call of a function after skip others of it return code.
func (f *Fake) Fail(name string, skip, code int) { f.fail(name, int32(skip), int32(code)) }

// FailAt has call number n, counted from 0 over all functions, return code.
func (f *Fake) FailAt(n, code int) { f.failAt(int32(n), int32(code)) }

// Set changes what the stand-in is: "devices", "driver" (12090), "major", "minor", "ptx" (the newest version that it
// takes, 88), "memory" (bytes), "l2" (bytes), "local" (bytes a thread of every kernel), "threads",
// "slow" (a factor of all times, 1).
func (f *Fake) Set(name string, value int64) { f.set(name, value) }

// Reset forgets calls, failures and settings.
func (f *Fake) Reset() { f.reset() }

// Calls counts the calls so far.
func (f *Fake) Calls() int { return int(f.calls()) }

// Live counts what is allocated, and lists it.
func (f *Fake) Live() (int, string) {
	var out [256]byte
	n := f.live(&out[0], int32(len(out)))
	text, _, _ := strings.Cut(string(out[:]), "\x00")
	return int(n), text
}

// Taken counts what was still allocated when the context was released, and went with it.
func (f *Fake) Taken() int { return int(f.taken()) }

// Log lists the calls so far, as name(arguments).
func (f *Fake) Log() []string {
	out := make([]byte, f.log(nil, 0))
	f.log(&out[0], int32(len(out)))
	return strings.Split(strings.TrimRight(string(out), "\n\x00"), "\n")
}

func arch(n int) string { return fmt.Sprintf("sm_%d", n) }

// Cubin is the header of a cubin for an architecture such as 90, with kernels that take what their declarations say:
// "copy_words(.param .u64 to, .param .u64 from, .param .u32 n)".
func Cubin(arch int, kernels ...string) []byte {
	out := make([]byte, 64)
	copy(out, "\x7fELF")
	binary.LittleEndian.PutUint32(out[48:], uint32(arch))
	for _, k := range kernels {
		out = append(out, ".entry "+k+"\n"...)
	}
	return append(out, 0)
}

// PTX is a module in a version such as "7.4", with such kernels that do nothing.
func PTX(version string, kernels ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n.target sm_80\n.address_size 64\n", version)
	for _, k := range kernels {
		fmt.Fprintf(&b, ".visible .entry %s\n{\n\tret;\n}\n", k)
	}
	return []byte(b.String())
}
