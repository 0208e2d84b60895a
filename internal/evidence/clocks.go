// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"strings"

	"lathe/internal/diag"
)

// TimingPart is what docs/timing.md is about.
const TimingPart = "ecp5-85k"

// Clock is what place and route made of an example for TimingPart. The fields behind Failure are 0 if it is not "".
type Clock struct {
	Model string `json:"model"`
	Plan  string `json:"plan"`
	// Failure says why there is no clock, such as a design that does not fit.
	Failure string `json:"failure,omitempty"`
	// MHz is the best clock, Median that of all seeds, to a tenth.
	MHz    float64 `json:"mhz,omitempty"`
	Median float64 `json:"median,omitempty"`
	// Rate is samples a second at that clock.
	Rate float64 `json:"rate,omitempty"`
	LUT  int     `json:"lut"`
	FF   int     `json:"ff"`
	DSP  int     `json:"dsp"`
	BRAM int     `json:"bram"`
	// Layer is where the slowest path spends most of its time, Wires the share of wires in that path in percent.
	Layer string `json:"layer,omitempty"`
	Wires int    `json:"wires,omitempty"`
}

// row is the clock in the table of docs/timing.md.
func (c Clock) row() string {
	if c.Failure != "" {
		return fmt.Sprintf("| %s | %s | %s | | | | | | | | |\n", c.Model, c.Plan, c.Failure)
	}
	return fmt.Sprintf("| %s | %s | %.1f | %.1f | %s | %d | %d | %d | %d | %s | %d %% |\n", c.Model, c.Plan, c.MHz,
		c.Median, diag.Number(c.Rate, 4), c.LUT, c.FF, c.DSP, c.BRAM, c.Layer, c.Wires)
}

// Clock is that of an example; nil: it was not routed yet.
func (e *Evidence) Clock(model string) *Clock {
	for i := range e.Clocks {
		if e.Clocks[i].Model == model {
			return &e.Clocks[i]
		}
	}
	return nil
}

// SetClock takes a clock in the place of an earlier one of the same example.
func (e *Evidence) SetClock(c Clock) {
	if old := e.Clock(c.Model); old != nil {
		*old = c
		return
	}
	e.Clocks = append(e.Clocks, c)
}

// clock is the sentence about an example in docs/results.md; empty for one that does not fit.
func (e *Evidence) clock(model string) string {
	c := e.Clock(model)
	if c == nil || c.Failure != "" {
		return ""
	}
	return fmt.Sprintf(" Routed for %s, plan %s: %.1f MHz, %d LUT, %d FF, %d DSP, %d BRAM.", TimingPart, c.Plan, c.MHz,
		c.LUT, c.FF, c.DSP, c.BRAM)
}

// unrolled begins the section of docs/timing.md that TestPeerRoute of sim/area writes.
const unrolled = "\n## Unrolled networks\n"

// ClocksPage is docs/timing.md with the clocks of these examples, and with the section on unrolled networks that the
// page has now.
func (e *Evidence) ClocksPage(models []string, now string) string {
	text := fmt.Sprintf(strings.ReplaceAll(clocksHead, "~", "`"), TimingPart)
	var missing []string
	for _, m := range models {
		if c := e.Clock(m); c != nil {
			text += c.row()
		} else {
			missing = append(missing, m)
		}
	}
	if missing != nil {
		text += "\nNot routed yet: " + strings.Join(missing, ", ") + ".\n"
	}
	if _, section, found := strings.Cut(now, unrolled); found {
		text += unrolled + section
	}
	return text
}

// clocksHead is the begin of the page; ~ stands for a backquote.
const clocksHead = `# Clocks after place and route

Written by

    scripts/measure timing

Examples under their default plans (-run measures some anew), placed and routed by
~lathe route~ ([route.md](route.md)) for %s, speed grade 6,
the slowest, with two seeds. An example that does not fit is built with one multiplier a layer (plan ~serial~). The rate
is the clock divided by the cycles of a sample. The layer is that in which the slowest path spends most of its time, and
wires are their share of that path. The rows are printed from [evidence](evidence).

| example | plan | MHz | median | samples/s | LUT | FF | DSP | BRAM | slowest in | wires |
|---|---|--:|--:|--:|--:|--:|--:|--:|---|--:|
`
