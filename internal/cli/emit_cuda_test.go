// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"testing"

	"lathe/emit/cuda"
)

// TestPrintKernels: the table begins with the node, counts as report.json does, and what is spilled is told of each
// kernel and architecture, once.
func TestPrintKernels(t *testing.T) {
	d := &cuda.Design{Buffers: []cuda.Buffer{{Name: "tables"}, {Name: "x", Bytes: 8}}, Units: []cuda.Unit{
		{Kernel: "wide", Node: "fc1", Op: "linear", Format: "fp32", Blocks: 3, Threads: 128, Bytes: 9, Flops: 7},
		{Kernel: "wide", Node: "fc2", Op: "linear", Format: "fp32", Blocks: 2, Rows: 100, Tile: 64, Threads: 64},
		{Kernel: "slim", Node: "act", Op: "relu", Format: "fp32", Blocks: 1, Threads: 32}}}
	binaries := []cuda.Binary{
		{Arch: "sm_80", File: "a", Kernels: []cuda.Usage{{Kernel: "wide", Registers: 90, Spill: 8, Stack: 16}}},
		{Arch: "sm_90", File: "b", Kernels: []cuda.Usage{{Kernel: "wide", Registers: 70}, {Kernel: "slim", Registers: 9}}},
		{Arch: "compute_80", File: "c"}}
	var out, err bytes.Buffer
	a := &App{Out: &out, Err: &err}
	if e := a.printKernels(d, binaries, "m", "dir"); e != nil {
		t.Fatal(e)
	}
	want := "node  op      format  blocks  threads  bytes  flops  registers  kernel\n" +
		"fc1   linear  fp32    3       128      9      7      90         wide\n" +
		"fc2   linear  fp32    4       64       0      0      90         wide\n" +
		"act   relu    fp32    1       32       0      0      9          slim\n\n" +
		"blocks, bytes and flops of one sample, threads of a block; registers of a thread, the most of sm_80, sm_90\n" +
		"3 kernels in dir: kernels.cu, a, b, c\n0 bytes of constants, 8 bytes of buffers a sample\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out.String(), want)
	}
	want = "warning: fc1, kernel wide: for sm_80 a thread spills 8 bytes of registers and has 16 bytes of stack\n"
	if err.String() != want {
		t.Errorf("warned %q, want %q", err.String(), want)
	}
}
