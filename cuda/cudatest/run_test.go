// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"strings"
	"testing"

	"lathe/cuda"
)

// TestOrders counts the orders, which are all different, the race detector being on in one.
func TestOrders(t *testing.T) {
	for _, quick := range []bool{false, true} {
		seen, races := map[string]bool{}, 0
		for _, o := range orders(quick) {
			seen[o.String()] = true
			if o.races {
				races++
			}
		}
		if want := map[bool]int{false: 12, true: 2}[quick]; len(seen) != want || races != 1 {
			t.Errorf("quick %v: %d orders, %d with races", quick, len(seen), races)
		}
	}
}

// TestRunSees spoils a sound job in the ways that Run must see.
func TestRunSees(t *testing.T) {
	i, err := cuda.Make("dequant", "k", "bf16", "0")
	if err != nil {
		t.Fatal(err)
	}
	mod := Load(t, "", i)
	q, x := AllCodes()
	sound := func() Job {
		return Job{
			Kernels: []cuda.Instance{i},
			Launches: []cuda.Launch{{Kernel: "k", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{256, 1, 1},
				Args: []cuda.Arg{cuda.Buffer(0), cuda.Buffer(1), cuda.Buffer(2), cuda.I64(4096)}}},
			Buffers: []Buffer{{Name: "q", Data: q[:4096]}, {Name: "X", Data: x[:128]}, {Name: "y", Bytes: 8192, Out: true}},
		}
	}
	for want, spoil := range map[string]func(*Job){
		"":                          func(*Job) {},
		"the input y has changed":   func(j *Job) { j.Buffers[2].Out = false },
		"y":                         func(j *Job) { j.Buffers[2].Bytes -= 2 },
		"q":                         func(j *Job) { j.Buffers[0].Data = j.Buffers[0].Data[:4095] },
		"argument 2 is buffer 2 of": func(j *Job) { j.Buffers = j.Buffers[:2] },
	} {
		j := sound()
		spoil(&j)
		_, _, err := j.run(mod, orders(true)[0])
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
	j := sound()
	j.Launches[0].Block[0] = 128
	if err := fit(j.Kernels, j.Launches[0]); err == nil {
		t.Error("a launch of too few threads fits")
	}
	j.Launches[0].Kernel = "other"
	if err := fit(j.Kernels, j.Launches[0]); err == nil {
		t.Error("a launch of another kernel fits")
	}
}
