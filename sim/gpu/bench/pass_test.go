// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"testing"

	emit "lathe/emit/cuda"
	"lathe/sim/gpu"
	"lathe/sim/gpu/bench"
	"lathe/sim/gpu/gputest"
)

// TestPass times the launches of a design on the stand-in, each alone and all together; it leaves nothing
// behind.
func TestPass(t *testing.T) {
	fake := gputest.New(t)
	device, err := gpu.OpenDriver(gpu.DriverOptions{Library: fake.Path})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := fake.Live()
	unit := func(kernel string) emit.Unit {
		return emit.Unit{Kernel: kernel, Blocks: 4, Threads: 256, MaxSamples: 1,
			Args: []emit.Arg{{Buffer: 1}, {Buffer: 0}, {Buffer: -1, Size: 4, Value: 1000}}}
	}
	d := &emit.Design{Tables: make([]byte, 4000), Buffers: []emit.Buffer{{Bytes: 4000}, {Bytes: 4000}},
		Units: []emit.Unit{unit("copy_words"), unit("copy_words"), unit("copy_words")}}
	pass, err := bench.Standard.Pass(device, d, gputest.Words("7.4", 90))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, us := range pass.Units {
		if sum += us; us <= 0 {
			t.Errorf("a unit takes %g us", us)
		}
	}
	if len(pass.Units) != 3 || pass.Whole < 0.9*sum || pass.Whole > 1.1*sum {
		t.Errorf("units take %v us, together %g", pass.Units, pass.Whole)
	}
	if after, what := fake.Live(); after != before {
		t.Errorf("left behind: %s", what)
	}
	d.Units[1].Kernel = "none"
	if _, err := bench.Standard.Pass(device, d, gputest.Words("7.4", 90)); err == nil {
		t.Error("a kernel that is not there is timed")
	}
	if after, what := fake.Live(); after != before {
		t.Errorf("left behind by a failure: %s", what)
	}
	if err := device.Close(); err != nil {
		t.Error(err)
	}
}
