// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os/exec"
	"strings"
)

// ReadClocks asks nvidia-smi for the clocks of the first GPU; all 0 where there is no such program, or it does not
// know.
func ReadClocks() Clocks {
	out, err := exec.Command("nvidia-smi", "--id=0", "--query-gpu=clocks.sm,clocks.mem,power.limit",
		"--format=csv,noheader,nounits").Output()
	if err != nil {
		return Clocks{}
	}
	return parseClocks(string(out))
}

func parseClocks(line string) Clocks {
	var c Clocks
	n, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%d %d %g", &c.SM, &c.Memory, &c.Power)
	if err != nil && n < 2 {
		return Clocks{}
	}
	return c
}
