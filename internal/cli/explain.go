// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"lathe/emit/cuda"
	"lathe/lower/kernels/fuse"
)

// explain prints what each kernel computes, how long it must and may take, and why the next one starts where it does.
func (a *App) explain(d *cuda.Design, borders []fuse.Border) {
	var floor, predicted float64
	for i, u := range d.Units {
		fmt.Fprintf(a.Out, "%d  %s (%s)\n", i+1, u.Node, u.Op)
		if len(u.Members) > 1 {
			fmt.Fprintf(a.Out, "   covers     %s\n", strings.Join(u.Members, ", "))
		}
		kernel := u.Template
		if kernel == "" {
			kernel = u.Kernel + ", made for these nodes"
		}
		fmt.Fprintf(a.Out, "   kernel     %s, %s of %d threads\n", kernel, counted(blocks(&u, d.Samples), "block"),
			u.Threads)
		fmt.Fprintf(a.Out, "   floor      %s: %d bytes, %d operations a sample; ceiling of %s\n", micros(u.Floor),
			u.Bytes, u.Flops, u.Ceiling)
		fmt.Fprintf(a.Out, "   predicted  %s\n", micros(u.Predicted))
		for _, n := range u.Notes {
			fmt.Fprintf(a.Out, "   note       %s\n", n)
		}
		last := i == len(d.Units)-1 || d.Units[i+1].Node != u.Node
		for _, b := range borders {
			if last && (b.From == u.Node || slices.Contains(u.Members, b.From)) {
				fmt.Fprintf(a.Out, "   border     %s is read by %s: %s\n", b.From, b.To, b.Why)
			}
		}
		floor, predicted = floor+u.Floor, predicted+u.Predicted
	}
	fmt.Fprintf(a.Out, "\n%s, %s: floor %s, predicted %s on %s, launches in a CUDA graph; nothing is measured\n\n",
		counted(len(d.Units), "kernel"), counted(d.Samples, "sample"), micros(floor), micros(predicted), d.GPU)
}

// blocks are those of a launch on so many samples.
func blocks(u *cuda.Unit, samples int) int {
	g := u.Grid(min(samples, u.MaxSamples))
	return int(g[0]) * int(g[1])
}

// micros is a time in microseconds, to three digits.
func micros(seconds float64) string { return fmt.Sprintf("%.3g us", seconds*1e6) }
