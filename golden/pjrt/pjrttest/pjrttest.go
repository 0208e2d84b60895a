// SPDX-License-Identifier: Apache-2.0

// Package pjrttest lets tests run StableHLO programs: the test binary starts itself as the worker process.
//
//	func TestMain(m *testing.M) { pjrttest.Main(m) }
//
//	func TestAdd(t *testing.T) {
//		b := hlo.New("add")
//		...
//		results := pjrttest.Run(t, b, x, y)
package pjrttest

import (
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"lathe/golden/pjrt"
	"lathe/internal/tools"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
)

// workerArg is the argument that makes the test binary a worker.
const workerArg = "pjrt-worker"

// Main runs the tests, or the worker where the process was started as one. It does not return.
func Main(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == workerArg {
		os.Exit(work(os.Stdin, os.Stdout, os.Args[2]))
	}
	os.Exit(m.Run())
}

func work(in io.Reader, out io.Writer, plugin string) int {
	if err := pjrt.Worker(in, out, plugin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Config starts this test binary as a worker with the installed plugin; without the plugin the test is skipped.
func Config(t testing.TB) pjrt.Config {
	t.Helper()
	plugin := tools.NeedPlugin(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return pjrt.Config{Command: []string{self, workerArg}, Plugin: plugin, Timeout: 5 * time.Minute}
}

var (
	once   sync.Once
	shared *pjrt.Engine
	failed error
)

// Engine returns the engine that all tests of this process share; its child ends with the process.
func Engine(t testing.TB) *pjrt.Engine {
	t.Helper()
	cfg := Config(t)
	once.Do(func() { shared, failed = pjrt.Start(t.Context(), cfg) })
	if failed != nil {
		t.Fatal(failed)
	}
	return shared
}

// Run compiles the program of b and runs it once.
func Run(t testing.TB, b *hlo.Builder, args ...hlo.Array) []hlo.Array {
	t.Helper()
	program := b.Program()
	if program == nil {
		t.Fatal(b.Err())
	}
	p, err := Engine(t).Compile(t.Context(), program)
	if err != nil {
		t.Fatalf("%v\n%s", err, text.Print(program))
	}
	defer p.Drop(t.Context())
	out, err := p.Run(t.Context(), args)
	if err != nil {
		t.Fatalf("%v\n%s", err, text.Print(program))
	}
	return out
}
