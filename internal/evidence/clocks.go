// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"strings"
)

// TimingPart is what docs/timing.md is about.
const TimingPart = "ecp5-85k"

// timingCells are the cells of a row of docs/timing.md, with an empty one at each end.
const timingCells = 13

// TimingRow cuts a row of docs/timing.md into its cells, the first of them at index 1: | example | plan | MHz |
// median | samples/s | LUT | FF | DSP | BRAM | slowest in | wires |. ok is false for any other line.
func TimingRow(line string) (cells []string, ok bool) {
	cells = strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells, len(cells) == timingCells && cells[1] != "example" && !strings.HasPrefix(cells[1], "-")
}

// Clocks are sentences about examples, by name, from the rows of docs/timing.md. An example that does not fit has none.
func Clocks(page string) map[string]string {
	clocks := map[string]string{}
	for line := range strings.Lines(page) {
		if c, ok := TimingRow(line); ok && c[4] != "" {
			clocks[c[1]] = fmt.Sprintf("Routed for %s, plan %s: %s MHz, %s LUT, %s FF, %s DSP, %s BRAM.", TimingPart, c[2],
				c[3], c[6], c[7], c[8], c[9])
		}
	}
	return clocks
}
