// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"lathe/internal/diag"
)

// Table prints clock, cells, layers and the slowest path.
func (r *Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "part\t%s (%s)\n", r.Part, r.DeviceName())
	of := ""
	if len(r.Clocks) > 1 {
		of = " of " + r.Clocks[0].Name
	}
	fmt.Fprintf(t, "clock\t%s MHz%s, routed; %s\n", diag.Number(r.MHz, 4), of, r.spread())
	for _, c := range r.Clocks[min(1, len(r.Clocks)):] {
		fmt.Fprintf(t, "\t%s MHz of %s\n", diag.Number(c.MHz, 4), c.Name)
	}
	share := func(n, of int) string {
		if of == 0 {
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%d of %d (%.1f %%)", n, of, 100*float64(n)/float64(of))
	}
	fmt.Fprintf(t, "LUT\t%s\nFF\t%s\nDSP\t%s\nBRAM\t%s\n", share(r.LUT, r.Holds.LUT), share(r.FF, r.Holds.FF),
		share(r.DSP, r.Holds.DSP), share(r.BRAM, r.Holds.BRAM))
	fmt.Fprintf(t, "pins\t%s\n", r.Pins)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	fmt.Fprintf(t, "LAYER\tLUT\tFF\tDSP\tBRAM\n")
	for _, l := range r.Layers {
		if l.Cells != (Cells{}) {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", l.name(), l.LUT, l.FF, l.DSP, l.BRAM)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nslowest path, %.2f ns: %.2f ns in logic, %.2f ns in wires\n", r.Logic+r.Wire, r.Logic, r.Wire)
	fmt.Fprintf(t, "NS\tHOP\tLAYER\tMODULE\tSIGNAL\n")
	for _, h := range r.Steps() {
		fmt.Fprintf(t, "%.2f\t%s\t%s\t%s\t%s\n", h.NS, h.Kind, Layer{Node: h.Layer}.name(), h.Module, h.Place())
	}
	return t.Flush()
}

// Steps is the path with the hops summed, by kind, that follow one another at one place: a carry chain has two for each
// of its bits.
func (r *Report) Steps() (steps []Hop) {
	begin := 0 // of those at the place of the last
	for _, h := range r.Path {
		if begin == len(steps) || steps[begin].Place() != h.Place() || steps[begin].Layer != h.Layer {
			begin = len(steps)
		}
		at := slices.IndexFunc(steps[begin:], func(s Hop) bool { return s.Kind == h.Kind })
		if at < 0 {
			steps = append(steps, h)
			continue
		}
		steps[begin+at].NS += h.NS
	}
	return steps
}

// spread says how the seeds differ.
func (r *Report) spread() string {
	if len(r.MHzSeeds) == 1 {
		return "one seed only"
	}
	return fmt.Sprintf("median of %d seeds %s MHz", len(r.MHzSeeds), diag.Number(r.Median, 4))
}

// DeviceName is the device with its speed grade.
func (r *Report) DeviceName() string {
	if r.Speed == "" {
		return r.Device
	}
	return r.Device + ", speed grade " + r.Speed
}

func (l Layer) name() string {
	if l.Node == "" {
		return "(wrapper)"
	}
	return l.Node
}

// Layer is the node in which the slowest path spends most of its time.
func (r *Report) Layer() string {
	spent := map[string]float64{}
	best := ""
	for _, h := range r.Path {
		spent[h.Layer] += h.NS
		if spent[h.Layer] > spent[best] {
			best = h.Layer
		}
	}
	return Layer{Node: best}.name()
}
