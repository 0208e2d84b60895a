// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"lathe/rtl"
)

// Table prints the instances down to a depth below the top (0: the total only), one a line, then how it was counted.
// BRAM is in blocks of 36 Kib, and URAM has a column in designs that have some; so have predictions.
func (r *Report) Table(w io.Writer, depth int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	ultra := func(text string) string {
		if r.Instances[0].Cells.URAM == 0 {
			return ""
		}
		return text + "\t"
	}
	known := slices.ContainsFunc(r.Instances, func(i Instance) bool { return i.Predicted != nil })
	predicted := func(lut, ff any) string {
		if !known {
			return ""
		}
		return fmt.Sprintf("%v\t%v\t", lut, ff)
	}
	fmt.Fprintf(t, "LUT\tFF\tDSP\tBRAM\t%s of LUT: SRL\tmemory\t%s  \tinstance (module)\t\n", ultra("URAM"),
		predicted(" predicted: LUT", "FF"))
	for _, i := range r.Instances {
		if i.Depth > depth {
			continue
		}
		name := i.Path[strings.LastIndexByte(i.Path, '/')+1:]
		fmt.Fprintf(t, "%d\t%d\t%d\t%g\t%s%d\t%d\t", i.Cells.LUT, i.Cells.FF, i.Cells.DSP, i.Cells.BRAM(),
			ultra(fmt.Sprint(i.Cells.URAM)), i.Cells.SRL, i.Cells.LUTRAM)
		if p := i.Predicted; p != nil {
			fmt.Fprint(t, predicted(p.LUT, p.FF), "  \t")
		} else {
			fmt.Fprint(t, predicted("", ""), "  \t")
		}
		fmt.Fprintf(t, "%s%s (%s)\n", strings.Repeat("  ", i.Depth), name, i.Module)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s after synthesis, not routed: %s\n", r.Tool, r.Flags)
	return err
}

// Predict sets the predictions of the instances right below the module core, by their names there.
func (r *Report) Predict(core string, costs map[string]rtl.Cost) {
	at := slices.IndexFunc(r.Instances, func(i Instance) bool { return i.Module == core })
	if at < 0 {
		return
	}
	for i := range r.Instances {
		name, inside := strings.CutPrefix(r.Instances[i].Path, r.Instances[at].Path+"/")
		if cost, known := costs[name]; inside && known {
			r.Instances[i].Predicted = &cost
		}
	}
}
