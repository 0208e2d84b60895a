// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/ir/op/ring"
	"lathe/ir/ref"
	"lathe/rtl"
	"lathe/sim"
)

// TestMemoryLoop proves random networks whose layers share units and have their weights outside: all in the chip after
// reset, or a layer at a time.
func TestMemoryLoop(t *testing.T) {
	swapped := 0
	for seed := range uint64(loops) {
		way := []string{"stream", "hold", "external"}[seed%3]
		bits := []int{512, 64, 128}[seed%3]
		memory := fmt.Sprintf("[memory]\nweights = %q\naxi_bits = %d\nburst = 4\nram = %q\n", way, bits,
			[]string{"auto", "ultra", "block"}[seed/2%3])
		p := loopPlan(t, "lean", memory)
		p.Fold.Images = 1 + int(seed/2)%3
		j := layered(t, seed, p)
		sets := 0
		for _, u := range j.HW.Design.Units {
			if w := u.Weights; w != nil && w.Sets > 1 {
				sets++
				if w.Way == "swap" {
					swapped++
				}
			}
		}
		if most := len(ring.Units(j.HW.Scheduled).Nodes); sets == 0 || sets > most {
			t.Errorf("seed %d: %d of %d units have weights of several layers outside", seed, sets, most)
		}
		j.Seeds = []uint64{1, 2, 3}
		t.Run(fmt.Sprint(seed, " ", way), func(t *testing.T) {
			t.Parallel()
			proves(t, j)
		})
	}
	if swapped == 0 {
		t.Error("no unit has two sets of weights by turns")
	}
}

// TestMemoryLoopFaults spoils sets of weights and the way they come: each fault shows itself.
func TestMemoryLoopFaults(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	const more = "[memory]\nweights = \"stream\"\naxi_bits = 64\nburst = 4\n"
	j := layered(t, 3, loopPlan(t, "lean", more))
	program, err := ref.New(j.HW.Scheduled)
	if err != nil {
		t.Fatal(err)
	}
	want, err := program.Run(t.Context(), j.Samples)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, old, bad string // "": weights.bin, whose first two sets change places
		fails          string // how the simulation ends; "": with other results
	}{
		"none":            {file: "mem_hold.sv", old: "into ^ fills", bad: "fills ^ into"},
		"wrong set":       {},
		"wrong page":      {"mem_fetch.sv", "/ PAGE * PAGE;", "/ PAGE * PAGE + PAGE;", "weights"},
		"a turn too late": {j.HW.Design.Core + ".sv", ".TURNS(12)", ".TURNS(13)", ""},
		"never swapped":   {"mem_hold.sv", "out ^ set_used", "out", "deadlock"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := sim.DesignSpec(j.HW.Design, tools.CacheDir(t), false, false)
			if c.file == "" {
				data := spec.Memory.Files[3].Bytes()
				spec.Memory.Files[3] = sim.File{Name: j.HW.Design.Memory.File,
					Data: slices.Concat(data[rtl.Page:2*rtl.Page], data[:rtl.Page], data[2*rtl.Page:])}
			}
			found := c.file == ""
			for i := range spec.Files {
				if f := &spec.Files[i]; f.Name == c.file {
					found = bytes.Contains(f.Data, []byte(c.old))
					f.Data = bytes.ReplaceAll(f.Data, []byte(c.old), []byte(c.bad))
				}
			}
			if !found {
				t.Fatalf("%s does not hold %q", c.file, c.old)
			}
			model, err := sim.Build(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			run, err := sim.RunDesign(t.Context(), model, j.HW.Scheduled, j.HW.Design, j.Samples, sim.Input{MaxIdle: 20_000})
			switch {
			case err != nil && (c.fails == "" || !strings.Contains(err.Error(), c.fails)):
				t.Error(err)
			case err == nil && (c.fails != "" || reflect.DeepEqual(run.Outputs, want) != (name == "none")):
				t.Errorf("fault %q: results as expected %v", name, reflect.DeepEqual(run.Outputs, want))
			}
		})
	}
}
