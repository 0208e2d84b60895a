// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"strings"
)

// timingPart is what docs/timing.md is about.
const timingPart = "ecp5-85k"

// Clocks are sentences about examples, by name, from the rows of docs/timing.md: | example | plan | MHz | median |
// samples/s | LUT | FF | DSP | BRAM | ... |. An example that does not fit has none.
func Clocks(page string) map[string]string {
	clocks := map[string]string{}
	for line := range strings.Lines(page) {
		c := strings.Split(line, "|")
		for i := range c {
			c[i] = strings.TrimSpace(c[i])
		}
		if len(c) == 13 && c[1] != "example" && !strings.HasPrefix(c[1], "-") && c[4] != "" {
			clocks[c[1]] = fmt.Sprintf("Routed for %s, plan %s: %s MHz, %s LUT, %s FF, %s DSP, %s BRAM.", timingPart, c[2],
				c[3], c[6], c[7], c[8], c[9])
		}
	}
	return clocks
}
