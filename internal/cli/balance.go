// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"lathe/emit"
	"lathe/lower"
	"lathe/rtl"
)

// printBalance says what the balance mode reached, at what cost, and why it stopped there; nothing in other modes.
func (a *App) printBalance(b *lower.Balance, d *emit.Design) error {
	if b == nil {
		return nil
	}
	rows := [][]string{{"unit", "cycles", "busy", "LUT", "FF", "DSP", "RAM18"}}
	for _, u := range d.Units {
		if u.Module == "" {
			continue
		}
		c := rtl.Cost{}
		if u.Cost != nil {
			c = *u.Cost
		}
		rows = append(rows, []string{u.Instance, fmt.Sprint(u.Cycles),
			fmt.Sprintf("%.0f%%", 100*float64(u.Cycles)/float64(b.Cycles)), fmt.Sprint(c.LUT), fmt.Sprint(c.FF),
			fmt.Sprint(c.DSP), fmt.Sprint(c.BRAM)})
	}
	fmt.Fprintln(a.Out)
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\nbalanced: %.6g samples a second at %g MHz", b.Reached, b.ClockMHz)
	if b.FPS > 0 {
		fmt.Fprintf(a.Out, ", %.2f%% above the %g asked for", 100*(b.Reached/b.FPS-1), b.FPS)
	}
	fmt.Fprintf(a.Out, "; %s sets the pace\n", b.Bottleneck)
	c := b.Cost
	fmt.Fprintf(a.Out, "predicted: %d LUT, %d FF, %d DSP, %.1f block RAM%s\n", c.LUT, c.FF, c.DSP, float64(c.BRAM)/2,
		bounds(b.Budget))
	fmt.Fprintf(a.Out, "why not otherwise: %s\n", b.Proof)
	return nil
}

// bounds lists what is bounded.
func bounds(b lower.Budget) string {
	var list []string
	for _, r := range []struct {
		n    int
		name string
	}{{b.LUT, "LUT"}, {b.DSP, "DSP"}, {b.BRAM, "block RAM"}} {
		if r.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", r.n, r.name))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; bounds: " + strings.Join(list, ", ")
}
