// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
)

// TestRecurCosts holds the cost lines of recurrent layers to the counts.
func TestRecurCosts(t *testing.T) {
	tools.Need(t, "yosys")
	dir := t.TempDir()
	for _, im := range []struct {
		name         string
		words, limbs int
	}{{"weights.mem", 64, 4}, {"table.mem", 256, 1}, {"bias.mem", 16, 1},
		{"start.mem", 1, 4}} {
		r, text := rand.New(rand.NewPCG(3, uint64(im.limbs))), ""
		for range im.words {
			for range im.limbs {
				text += fmt.Sprintf("%08x", r.Uint32())
			}
			text += "\n"
		}
		write(t, dir, im.name, text)
	}
	images := []string{"HIDDEN", "16", "IN_LANES", "4", "OUT_LANES", "1", "STEPS", "20", "WEIGHTS", `"weights.mem"`,
		"TANH", `"table.mem"`, "SIGMOID", `"table.mem"`, "BIAS", `"bias.mem"`, "ROM_STYLE", `"block"`}
	holdCosts(t, dir, []single{
		{"op_recur", append([]string{"KIND", "0"}, images...)},
		{"op_recur", append([]string{"KIND", "0", "CELLS", "1", "STARTS", "1", "START", `"start.mem"`, "START_C",
			`"bias.mem"`}, images...)},
		{"op_recur", append([]string{"KIND", "1", "CELL_F", "15", "CELL_W", "16"}, images...)},
		{"op_recur_reset", append([]string{"CELL_F", "15", "CELL_W", "16", "ROM_STYLE", `"block"`}, images[:14]...)},
		{"op_recur", append([]string{"KIND", "2", "RELU", "1", "W_W", "16"}, images...)},
	}, 20)
}
