// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"io"
	"strings"
)

// Print writes a line a finding, and below each missing thing what it costs and how to get it.
func Print(w io.Writer, findings []Finding) error {
	var b strings.Builder
	for _, f := range findings {
		if f.Found {
			fmt.Fprintf(&b, "ok       %-13s %s  %s\n", f.Name, f.Version, f.Path)
			continue
		}
		why := f.Trouble
		if f.Path != "" {
			why = strings.TrimSpace(strings.Join([]string{f.Version, f.Path, f.Trouble}, "  "))
		}
		fmt.Fprintf(&b, "missing  %-13s %s\n", f.Name, why)
		fmt.Fprintf(&b, "         costs: %s\n         fix:   %s\n", f.Cost, f.Fix)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
