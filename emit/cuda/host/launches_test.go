// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lathe/cuda"
	emit "lathe/emit/cuda"
	"lathe/emit/cuda/host"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/sim/gpu/gputest"
)

// unusual is a design with every kind of argument and grid that a Design can have.
func unusual() *emit.Design {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 12)}
	y := &ir.Node{Name: "y?\"\\", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 3)}
	const in, out, a, b = 1, 2, 3, 4
	number := emit.Arg{Buffer: -1, Size: 4}
	value, rows, padded := number, number, number
	value.Value = 0xfffffff7
	rows.PerSample, rows.Value = 7, 3
	padded.PerSample, padded.Multiple = 5, 16
	wide := emit.Arg{Buffer: -1, Size: 8, Value: 1 << 40}
	return &emit.Design{Name: "3 odd-names", Stage: ir.StageFloat, Tables: make([]byte, 1000),
		Buffers: []emit.Buffer{{Name: "tables", Bytes: 1000}, {Name: "x", Bytes: 48}, {Name: "y", Bytes: 12},
			{Name: "a", Bytes: 100}, {Name: "b", Bytes: 7}},
		Inputs:  []emit.Port{{Name: "x", Node: x, Codes: in, Scales: -1, Store: "f32"}},
		Outputs: []emit.Port{{Name: y.Name, Node: y, Codes: out, Scales: -1, Store: "f32"}},
		Units: []emit.Unit{
			{Kernel: "one", Blocks: 3, Threads: 64, MaxSamples: 2, Args: []emit.Arg{{Buffer: 0, Offset: 512},
				{Buffer: in, Each: 48}, {Buffer: a, Offset: 20, Each: 64}, value}},
			{Kernel: "two", Blocks: 2, Rows: 9, Tile: 16, Threads: 128, Shared: 100_000, MaxSamples: 65535,
				Args: []emit.Arg{rows, {Buffer: b, Each: 7}, padded, wide}},
			{Kernel: "one", Blocks: 1, Threads: 32, MaxSamples: 3, Args: []emit.Arg{{Buffer: 0}, {Buffer: a, Each: 100},
				{Buffer: out, Each: 12}, number}},
		}}
}

// TestLaunches compares the launches of the library with those of the Design.
func TestLaunches(t *testing.T) {
	tools.Need(t, "gcc", "make")
	d := unusual()
	b := &built{emulated: gputest.Emulated(t, drivers), dir: filepath.Join(t.TempDir(), "out")}
	ptx := gputest.PTX("7.4", "one(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 d)",
		"two(.param .u32 a, .param .u64 b, .param .u32 c, .param .u64 d)")
	binaries := []emit.Binary{{Arch: cuda.PortablePTX, File: emit.PTXFile, Data: ptx}}
	if err := driver.WriteCUDA(d, binaries, "", host.Samples{}, b.dir); err != nil {
		t.Fatal(err)
	}
	b.run(t, "make", "CC=gcc", "CFLAGS="+strict)
	script, err := filepath.Abs(filepath.Join("testdata", "launches.py"))
	if err != nil {
		t.Fatal(err)
	}
	const batch = 5
	text := b.run(t, tools.NeedNumPy(t), "-B", script, fmt.Sprint(batch))
	var have []string
	at := make([]uint64, len(d.Buffers))
	for line := range strings.Lines(text) {
		if _, launch, ok := strings.Cut(line, "launch "); ok {
			have = append(have, strings.TrimSpace(launch))
		} else if _, err := fmt.Sscanf(line, "at %d %d %d", &at[1], &at[2], &at[3]); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	at[4] = at[3] + 512 // behind 5 * 100 bytes, at a multiple of 256
	launches := d.Launches(batch)
	if len(have) != len(launches) {
		t.Fatalf("%d launches, want %d:\n%s", len(have), len(launches), text)
	}
	for i, l := range launches {
		if i == 0 { // where the weights are, only the library knows
			at[0] = weights(t, have[0]) - 512
		}
		packed, err := l.Pack(at)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%s %d %d %d %d %d %x", l.Kernel, l.Grid[0], l.Grid[1], l.Grid[2], l.Block[0], l.Shared, packed)
		if have[i] != want {
			t.Errorf("launch %d is\n%s, want\n%s", i, have[i], want)
		}
	}
}

// weights is the first argument of a launch, an address.
func weights(t *testing.T, launch string) uint64 {
	t.Helper()
	bytes := make([]byte, 0, 8)
	if _, err := fmt.Sscanf(launch[strings.LastIndexByte(launch, ' ')+1:], "%16x", &bytes); err != nil || len(bytes) != 8 {
		t.Fatalf("%v: %q", err, launch)
	}
	v := uint64(0)
	for i, b := range bytes {
		v |= uint64(b) << (8 * i)
	}
	return v
}
