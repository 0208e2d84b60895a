// SPDX-License-Identifier: Apache-2.0

//go:build long

package area

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lathe/internal/tools"
	"lathe/sim/area/paths"
)

// TestLibrary counts the modules of the library one by one, flat: paths within the limit, cells within the goals. It
// prints a table: LUTs of logic, shift registers, LUTs of memory, registers, multipliers, block RAMs of 36 Kbit, and
// LUTs and carry chains in a row, each on the path that has most of them. In brackets are goals.
//
//	go test -count=1 -timeout 3h -tags long -run '^TestLibrary$' -v ./sim/area
func TestLibrary(t *testing.T) {
	tools.Need(t, "yosys")
	for i, h := range library() {
		t.Run(fmt.Sprintf("%d-%s", i, h.module), func(t *testing.T) {
			t.Parallel()
			h.hold(t)
		})
	}
}

// hold counts a module by itself.
func (h bounded) hold(t *testing.T) {
	dir := t.TempDir()
	h.images(t, dir)
	modules := []single{h.single}
	r, err := Count(t.Context(), dir, besides(t, dir, modules), "modules",
		Options{Flatten: true, Paths: true, Timeout: time.Hour})
	if err != nil {
		t.Fatalf("%v: %v", h.set, err)
	}
	holdPaths(t, r, modules)
	for _, line := range goalsOf(r.Total).above(h.most) {
		t.Errorf("%v: %s", h.set, line)
	}
	t.Log(h.row(r))
}

// row is a line of the table.
func (h bounded) row(r *Report) string {
	cell := func(have, goal int) string {
		if goal > 0 {
			return fmt.Sprintf("%d (%d)", have, goal)
		}
		return fmt.Sprint(have)
	}
	c, most := goalsOf(r.Total), h.most
	block := fmt.Sprint(float64(c.bram) / 2)
	if most.bram > 0 {
		block += fmt.Sprintf(" (%g)", float64(most.bram)/2)
	}
	var set []string
	for _, p := range h.params() {
		if !strings.Contains(p.Value, ".mem") {
			set = append(set, p.Name+" "+strings.Trim(p.Value, `"`))
		}
	}
	levels := r.Longest.Levels
	return fmt.Sprintf("| `%s` | %s | %s | %s | %d | %s | %s | %s | %d + %d |", h.module, strings.Join(set, ", "),
		cell(c.logic, most.logic), cell(c.srl, most.srl), r.Total.LUTRAM, cell(c.ff, most.ff), cell(c.dsp, most.dsp), block,
		levels[paths.LUT], levels[paths.Carry])
}
