// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table prints the instances down to a depth below the top (0: the total only), one a line, then how it was counted.
// BRAM is in blocks of 36 Kib, and URAM has a column in designs that have some.
func (r *Report) Table(w io.Writer, depth int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	ultra := func(text string) string {
		if r.Instances[0].Cells.URAM == 0 {
			return ""
		}
		return text + "\t"
	}
	fmt.Fprintf(t, "LUT\tFF\tDSP\tBRAM\t%s of LUT: SRL\tmemory\t  \tinstance (module)\t\n", ultra("URAM"))
	for _, i := range r.Instances {
		if i.Depth > depth {
			continue
		}
		name := i.Path[strings.LastIndexByte(i.Path, '/')+1:]
		fmt.Fprintf(t, "%d\t%d\t%d\t%g\t%s%d\t%d\t  \t", i.Cells.LUT, i.Cells.FF, i.Cells.DSP, i.Cells.BRAM(),
			ultra(fmt.Sprint(i.Cells.URAM)), i.Cells.SRL, i.Cells.LUTRAM)
		fmt.Fprintf(t, "%s%s (%s)\n", strings.Repeat("  ", i.Depth), name, i.Module)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s after synthesis, not routed: %s\n", r.Tool, r.Flags)
	return err
}
