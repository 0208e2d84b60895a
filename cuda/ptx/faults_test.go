// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"encoding/binary"
	"strings"
	"testing"

	"lathe/internal/diag"
)

const (
	pipeTiles = 9
	pipeN     = 61
)

// pipelineInput is x, and the y that the sound kernel makes of it.
func pipelineInput() (x []byte, want []uint32) {
	word := func(i int) uint32 { return uint32(i)*2654435761 + 12345 }
	x = make([]byte, pipeTiles*16*16*4)
	for i := range len(x) / 4 {
		binary.LittleEndian.PutUint32(x[4*i:], word(i))
	}
	for t := range pipeN {
		sum := uint32(0)
		for kt := range pipeTiles {
			for r := range 4 {
				sum = sum*3 + word(kt*256+((3-t/16)*4+r)*16+t%16)
			}
		}
		want = append(want, sum)
	}
	return x, want
}

// runPipeline returns the bytes of y.
func runPipeline(t *testing.T, name string, opt Options) ([]byte, error) {
	t.Helper()
	k := kernel(t, "pipeline.ptx", name)
	x, _ := pipelineInput()
	m := NewMachine(opt)
	px := put(t, m, "x", x)
	py, err := m.Alloc(4*pipeN, AllocOptions{Name: "y"})
	if err != nil {
		t.Fatal(err)
	}
	args := params(k, px, py, pipeTiles, pipeN)
	if _, err := m.Launch(k, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, args); err != nil {
		return nil, err
	}
	return get(t, m, py, 4*pipeN), nil
}

// TestPlantedFaults demands that each fault is found in one run, under the plainest schedule, by name.
func TestPlantedFaults(t *testing.T) {
	_, want := pipelineInput()
	for _, opt := range everyOptions() {
		y, err := runPipeline(t, "sound", opt)
		if err != nil {
			t.Fatalf("%+v: %v", opt, err)
		}
		for i, w := range want {
			if got := binary.LittleEndian.Uint32(y[4*i:]); got != w {
				t.Fatalf("%+v: y[%d] is %d, not %d", opt, i, got, w)
			}
		}
	}
	cases := []struct {
		kernel string
		code   diag.Code
		says   string
	}{
		{"no_wait", "L0973", "in flight"},
		{"short_wait", "L0973", "in flight"},
		{"no_barrier", "L0967", "no barrier stands in between"},
		{"early_load", "L0967", "no barrier stands in between"},
		{"wrong_stage", "L0973", "in flight"},
		{"no_tail", "L0964", "offset 244 of y"},
		{"wrong_swizzle", "", ""}, // every byte is written and waited for: only the values tell
	}
	for _, c := range cases {
		y, err := runPipeline(t, c.kernel, Options{Races: true})
		t.Log(err)
		if diag.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, not %s", c.kernel, err, c.code)
		}
		if err == nil && binary.LittleEndian.Uint32(y) == want[0] && binary.LittleEndian.Uint32(y[4*40:]) == want[40] {
			t.Errorf("%s gives the values of the sound kernel", c.kernel)
		}
	}
}

// TestSchedulesFind demands that faults show without the race detector: in some schedule and copy mode the bits
// differ from those of the sound kernel, or an error ends the run.
func TestSchedulesFind(t *testing.T) {
	sound, err := runPipeline(t, "sound", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"no_wait", "short_wait", "no_barrier", "early_load", "wrong_stage"} {
		var found []string
		for _, opt := range everyOptions() {
			if opt.Races {
				continue
			}
			y, err := runPipeline(t, name, opt)
			if err != nil || string(y) != string(sound) {
				found = append(found, scheduleName(opt))
			}
		}
		t.Logf("%s shows under %v", name, found)
		if len(found) == 0 {
			t.Errorf("%s shows under no schedule", name)
		}
	}
}

func scheduleName(o Options) string {
	return []string{"round robin", "run-ahead", "reverse", "random"}[o.Schedule] + []string{" eager", " lazy"}[o.Copies]
}
