// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/stream"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens"
	"lathe/sim"
)

// TestFifos demands that FIFOs hold, without stalls, exactly the beats that were predicted, and those behind forks
// fewer than they could.
func TestFifos(t *testing.T) {
	behind := map[string]int{"": 2, "serial": 2, "wide": 1, "uneven": 2} // by plan
	for _, plan := range tools.Few(1, slices.Sorted(maps.Keys(behind))) {
		fifos := behind[plan]
		t.Run("digits-resnet/"+plan, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			j := job(t, "digits-resnet", "model.onnx", plan, 20)
			check, err := e.Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches > 0 || len(check.Warnings) > 0 {
				t.Errorf("%v, %q", check.First, check.Warnings)
			}
			forked := 0
			for _, f := range check.Fifos {
				if f.Predicted != f.Quiet || f.Stalled == 0 {
					t.Errorf("%+v", f)
				}
				if j.HW.Scheduled.Find(f.Node).Args[0].Op == stream.Fork {
					if forked++; f.Quiet >= f.Depth {
						t.Errorf("%+v", f)
					}
				}
			}
			if forked != fifos {
				t.Errorf("%d FIFOs behind forks, want %d: %+v", forked, fifos, check.Fifos)
			}
		})
	}
}

// TestShallowFifos makes each FIFO of a residual network one place shallower: verify must turn red and name it; also if
// only the hardware has a FIFO that is too small for a run without stalls.
func TestShallowFifos(t *testing.T) {
	e := engines(t)
	sound := job(t, "digits-resnet", "model.onnx", "", 20)
	if err := tokens.Check(t.Context(), sound.HW.Scheduled, &unit.Cache{}); err != nil {
		t.Fatal(err)
	}
	times, err := tokens.Run(t.Context(), sound.HW.Scheduled, &unit.Cache{}, 16)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range sound.HW.Scheduled.Nodes {
		if n.Op != stream.Fifo {
			continue
		}
		graph, design := *sound, *sound
		graph.HW = withFifo(t, sound.HW, n.Name, n.HW.Fifo-1)
		_, err := e.Verify(t.Context(), graph)
		if diag.CodeOf(err) != "L0720" || !strings.Contains(err.Error(), n.Name) {
			t.Errorf("%s of %d beats in the graph: %v", n.Name, n.HW.Fifo-1, err)
		}
		if n.Args[0].Op != stream.Fork {
			continue // the one in front of a folded linear may be full
		}
		design.HW = withFifo(t, sound.HW, n.Name, times.Most[n])
		design.HW.Scheduled = sound.HW.Scheduled
		_, err = e.Verify(t.Context(), design)
		if diag.CodeOf(err) != "L0721" || !strings.Contains(err.Error(), n.Name) {
			t.Errorf("%s of %d beats in hardware: %v", n.Name, times.Most[n], err)
		}
	}
}

// withFifo is hw with another depth of a FIFO.
func withFifo(t *testing.T, hw *driver.Hardware, name string, depth int) *driver.Hardware {
	t.Helper()
	broken := hw.Scheduled.Clone()
	broken.Find(name).HW.Fifo = depth
	d, err := verilog.Emit(broken, verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return &driver.Hardware{Quantized: hw.Quantized, Scheduled: broken, Design: d}
}

// TestBrokenStreams breaks what only streams have: a FIFO that is missing stops the design, lanes in another order give
// other codes.
func TestBrokenStreams(t *testing.T) {
	e := engines(t)
	j := job(t, "digits-resnet", "model.onnx", "", 20)
	missing := j.HW.Scheduled.Clone()
	fifo := missing.Find("block1.add.narrow_2.fifo")
	missing.Replace(fifo, fifo.Args[0])
	missing.DropDead()
	d, err := verilog.Emit(missing, verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	hw := &driver.Hardware{Quantized: j.HW.Quantized, Scheduled: missing, Design: d}
	_, err = e.Verify(t.Context(), driver.Job{HW: hw, Samples: j.Samples, Seeds: []uint64{1}})
	if diag.CodeOf(err) != "L0720" || !strings.Contains(err.Error(), "block1.add") {
		t.Errorf("a FIFO is missing: %v", err)
	}
	hw = &driver.Hardware{Quantized: j.HW.Quantized, Scheduled: j.HW.Scheduled, Design: d}
	_, err = e.Verify(t.Context(), driver.Job{HW: hw, Samples: j.Samples, Seeds: []uint64{1}})
	if diag.CodeOf(err) != "L0704" || !strings.Contains(err.Error(), `"stem.0.fork" is held up by "block1.add`) {
		t.Errorf("a design without the FIFO: %v", err)
	}
	model, err := sim.Build(t.Context(), sim.DesignSpec(d, tools.CacheDir(t), true, false))
	if err != nil {
		t.Fatal(err)
	}
	_, err = sim.RunDesign(t.Context(), model, missing, d, j.Samples, sim.Input{MaxIdle: 5000})
	place := `"block1.add" waits for "block1.add.narrow", while "block1.add.narrow_2" waits for it`
	if err == nil || !strings.Contains(err.Error(), place) {
		t.Errorf("the place of a deadlock: %v", err)
	}
	fork := j.HW.Scheduled.Find("stem.0.fork")
	swapLanes(t, j, fork)
	check, err := e.Verify(t.Context(), *j)
	if err != nil || check.Mismatches == 0 || check.First[0].Node != "block1.conv1" {
		t.Errorf("lanes in another order: %v, %+v", err, check)
	}
}

// swapLanes exchanges the first two lanes of what a convolution reads behind a fork.
func swapLanes(t *testing.T, j *driver.Job, fork *ir.Node) {
	t.Helper()
	stream := ""
	for _, u := range j.HW.Design.Units {
		if u.Node == fork.Name {
			stream = u.Stream
		}
	}
	swapped := "{" + stream + "_data[31:16], " + stream + "_data[7:0], " + stream + "_data[15:8]}"
	replace(t, j, j.HW.Design.Core+".sv", ".in_data("+stream+"_data)", ".in_data("+swapped+")")
}
