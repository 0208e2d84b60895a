// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
)

// Costliest are the n layers that take most of the part, as rows of text with all columns, the heads first: the largest
// of a layer's shares of LUTs, flip-flops, DSPs and block RAM counts, and of equal ones the cycles. Cells are those
// that Yosys has counted, or predicted ones, which a star marks; "-" where nobody knows.
func (r *Report) Costliest(n int) [][]string {
	type ranked struct {
		*Layer
		share float64
		of    string
	}
	var all []ranked
	for i := range r.Layers {
		l := &r.Layers[i]
		if l.Module == "" && l.Cells == nil {
			continue // wires
		}
		share, of := r.share(l.cells())
		all = append(all, ranked{l, share, of})
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(b.Cycles, a.Cycles))
	})
	star := ""
	if r.Area == nil {
		star = "*"
	}
	rows := [][]string{{"node", "op", "of the part", "LUT" + star, "FF" + star, "DSP" + star, "BRAM" + star,
		"URAM" + star, "cycles", "latency", "lanes", "module", "instance", "shape", "format", "decided by", "range",
		"SQNR alone", "max error alone", "SQNR", "max error", "source"}}
	for _, l := range all[:min(n, len(all))] {
		row := []string{l.Node, l.Op, "-", "-", "-", "-", "-", "-"}
		if c := l.cells(); c != nil {
			row = []string{l.Node, l.Op, fmt.Sprintf("%.2f %% of %s", 100*l.share, l.of), fmt.Sprint(c.LUT),
				fmt.Sprint(c.FF), fmt.Sprint(c.DSP), fmt.Sprint(c.BRAM), fmt.Sprint(c.URAM)}
		}
		bounds := "-"
		if l.Min != nil && l.Max != nil {
			bounds = figure(*l.Min) + " to " + figure(*l.Max)
		}
		row = append(row, fmt.Sprint(l.Cycles), fmt.Sprint(l.Latency), fmt.Sprintf("%d to %d", l.InLanes, l.OutLanes),
			l.Module, l.Instance, l.Shape, l.Format, cmp.Or(l.Decided, "-"), bounds)
		for _, e := range []*Error{l.Alone, l.Total} {
			if e == nil {
				row = append(row, "-", "-")
			} else {
				row = append(row, decibel(e.SQNR), figure(e.Max))
			}
		}
		rows = append(rows, append(row, cmp.Or(l.Source, "-")))
	}
	return rows
}

// cells are those that were counted, or else predicted; nil for neither.
func (l *Layer) cells() *Cells { return cmp.Or(l.Cells, l.Predicted) }

// share is the largest share that cells take of the part, and of what; of the whole design where the part has no sizes.
func (r *Report) share(c *Cells) (most float64, of string) {
	if c == nil {
		return 0, ""
	}
	d, whole := r.Device, Cells{}
	for i := range r.Layers {
		if l := r.Layers[i].cells(); l != nil {
			whole.LUT, whole.FF, whole.DSP = whole.LUT+l.LUT, whole.FF+l.FF, whole.DSP+l.DSP
			whole.BRAM += l.BRAM
		}
	}
	for _, kind := range []struct {
		name                string
		part, device, whole float64
	}{
		{"LUT", float64(c.LUT), float64(d.LUT), float64(whole.LUT)},
		{"FF", float64(c.FF), float64(d.FF), float64(whole.FF)},
		{"DSP", float64(c.DSP), float64(d.DSP), float64(whole.DSP)},
		{"BRAM", c.BRAM, d.BRAM, whole.BRAM},
	} {
		if all := cmp.Or(kind.device, kind.whole); all > 0 && (kind.part/all > most || of == "") {
			most, of = kind.part/all, kind.name
		}
	}
	return most, of
}
