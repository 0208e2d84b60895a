// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"lathe/internal/driver"
	"lathe/lower/schedule"
	"lathe/rtl"
)

// costFacts is what a design is predicted to take, and what inspect --cost tells.
type costFacts struct {
	Model  string     `json:"model"`
	Units  []unitCost `json:"units"`
	Cycles float64    `json:"cycles"` // of a sample
	Cost   rtl.Cost   `json:"cost"`
}

// unitCost is a unit of a costFacts; a module that does not state what it costs has no Cost.
type unitCost struct {
	Node    string    `json:"node"`
	Module  string    `json:"module"`
	Cycles  int       `json:"cycles"`
	Latency int       `json:"latency"`
	Cost    *rtl.Cost `json:"cost,omitempty"`
}

// inspectCost quantizes and schedules a model, and prints what its units are predicted to take.
func (a *App) inspectCost(ctx context.Context, s driver.Source, p *progress) error {
	q, err := a.quantized(ctx, s, p)
	if err != nil {
		return err
	}
	p.Report("schedule", 0, 0)
	r, err := q.Schedule(ctx)
	p.finish()
	if err != nil {
		return err
	}
	if r == nil {
		return usagef("--cost: %s is scheduled already; give the model or its quantized graph", s.Model)
	}
	facts := costsOf(s.Model, r)
	rows := [][]string{{"node", "module", "cycles", "latency", "LUT", "FF", "DSP", "RAM18", "URAM"}}
	for _, u := range facts.Units {
		row := []string{u.Node, u.Module, fmt.Sprint(u.Cycles), fmt.Sprint(u.Latency)}
		rows = append(rows, append(row, costCells(u.Cost)...))
	}
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\n%s; %s a sample\n", predicted(facts.Cost), cycles(facts.Cycles))
	return a.writeJSON(facts)
}

// costCells are LUT, FF, DSP, RAM18 and URAM in a row of a table; nil is a module that does not say.
func costCells(c *rtl.Cost) []string {
	if c == nil {
		return []string{"?", "?", "?", "?", "?"}
	}
	return []string{fmt.Sprint(c.LUT), fmt.Sprint(c.FF), fmt.Sprint(c.DSP), fmt.Sprint(c.BRAM), fmt.Sprint(c.URAM)}
}

// predicted is what a design takes before synthesis, in words.
func predicted(c rtl.Cost) string {
	return fmt.Sprintf("predicted: %d LUT, %d FF, %d DSP, %.1f block RAM, %d UltraRAM", c.LUT, c.FF, c.DSP,
		float64(c.BRAM)/2, c.URAM)
}

// costsOf lists the units of a schedule that have hardware of their own.
func costsOf(model string, r *schedule.Report) costFacts {
	f := costFacts{Model: model, Cycles: r.Interval(), Cost: r.Cost()}
	for _, u := range r.Units {
		if u.Module == "" {
			continue
		}
		one := unitCost{Node: u.Node, Module: u.Module, Cycles: u.II, Latency: u.Latency}
		if u.Costed {
			cost := u.Cost
			one.Cost = &cost
		}
		f.Units = append(f.Units, one)
	}
	return f
}
