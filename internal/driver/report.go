// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"lathe/emit"
	"lathe/emit/report"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/target"
	"lathe/ir/text"
	"lathe/lower/plan"
	"lathe/lower/quantize/loss"
	"lathe/lower/schedule/tokens"
	"lathe/rtl"
	"lathe/sim/area"
	"lathe/sim/route"
)

// Measured is what a report can say beyond what the compiler knows: nil where nobody has measured it.
type Measured struct {
	Check *Check
	Area  *area.Report
	// Precision is what Source.Precision has measured, on the samples of Widths.
	Precision []report.Precision
	// Metric takes the place of the accuracy; nil: none.
	Metric *Metric
	Widths string
	// Routed is what place and route has measured of this design; nil: nothing.
	Routed *route.Report
	// Missing says why something was not measured, a line each.
	Missing []string
}

// NotMeasured is what the report of a folder says that was just emitted.
const NotMeasured = "Latency, area, accuracy and equality of the engines: `lathe report MODEL -o report.html` runs " +
	"the simulation, XLA and Yosys, and fills them in."

// Report gathers what is known of a design. model is the path of the model.
func (h *Hardware) Report(ctx context.Context, model string, m Measured) (*report.Report, error) {
	d, fpga := h.Design, h.Plan.Target.FPGA
	picture, err := text.SVG(ctx, h.Scheduled)
	if err != nil {
		return nil, err
	}
	r := &report.Report{Name: d.Name, Model: filepath.Base(model), Version: d.Version, Part: d.Part, ClockMHz: d.ClockMHz,
		Top: d.Top, Core: d.Core, Missing: m.Missing, Picture: picture, Precision: m.Precision, Widths: m.Widths,
		Device: report.Device{Name: fpga.Name, Family: fpga.Series, LUT: fpga.LUT, FF: fpga.FF, DSP: fpga.DSP,
			BRAM: fpga.RAM36()}}
	for _, n := range h.Scheduled.Nodes {
		if n.IsConst() {
			r.Parameters += n.Type.Elems()
		}
	}
	for _, p := range d.Ports {
		direction := "out"
		if p.Input {
			direction = "in"
		}
		r.Ports = append(r.Ports, report.Port{Stream: p.Stream, Name: p.Name, Direction: direction,
			Shape: ir.ShapeString(p.Type.Shape), Format: p.Type.Format.String(), Lanes: p.Lanes, Beats: p.Beats, TData: p.TData})
	}
	if dec := h.decode; dec != nil {
		r.Decoder = &report.Decoder{Tokens: dec.Tokens, Prefill: dec.Prefill, PrefillCycles: dec.First,
			TokenCycles: dec.Token}
	}
	h.layers(r)
	h.lowered(r)
	h.costs(r)
	if err := h.timeline(ctx, r); err != nil {
		return nil, err
	}
	if m.Metric != nil {
		r.Metric, r.Least = m.Metric.Name, m.Metric.Least
	}
	if m.Check != nil {
		m.Check.report(r)
	}
	if m.Area != nil {
		counted(r, d, m.Area)
	}
	if m.Routed != nil {
		r.Routed = routed(m.Routed, &h.Plan.Target)
	}
	return r, nil
}

// layers lists the units, and marks the slowest, all of equals; the first gives the bottleneck its name.
func (h *Hardware) layers(r *report.Report) {
	slowest := Slowest(h.Design)
	r.Speed = report.Speed{II: slowest.Cycles, Interval: h.Interval(), Bottleneck: slowest.Node}
	for _, u := range h.Design.Units {
		l := report.Layer{Node: u.Node, Op: u.Op, Source: u.Source, Module: u.Module, Instance: u.Instance,
			Shape: ir.ShapeString(u.Shape), Format: u.Format, InLanes: u.InLanes, OutLanes: u.OutLanes, Cycles: u.Cycles,
			Latency: u.Latency, Sums: u.Sums,
			Slowest: u.Cycles == slowest.Cycles && (u.Module != "" || u.Node == slowest.Node),
			Adapter: adapts(&u)}
		if n := h.Scheduled.Find(u.Node); n != nil && n.Stats.Known {
			l.Min, l.Max = &n.Stats.Min, &n.Stats.Max
		}
		if u.Cost != nil {
			c := predicted(*u.Cost)
			l.Predicted = &c
		}
		for _, im := range u.Images {
			l.Images = append(l.Images, report.Image{File: im.File, Words: im.Words, Width: im.Width})
		}
		r.Layers = append(r.Layers, l)
		if u.Depth > 0 {
			r.Fifos = append(r.Fifos, report.Fifo{Node: u.Node, Depth: u.Depth})
		}
	}
}

// timelineBeats bounds the beats of a timeline, which a folder that was just emitted shows too.
const timelineBeats = 1 << 19

// timeline adds when the results of two samples leave each layer. A large design has none.
func (h *Hardware) timeline(ctx context.Context, r *report.Report) error {
	beats := 0
	for _, n := range h.Scheduled.Nodes {
		if !n.IsConst() {
			beats += 2 * n.Beats()
		}
	}
	if beats > timelineBeats || h.decode != nil { // sequences do not overlap
		return nil
	}
	times, counters, err := tokens.Watch(ctx, h.Scheduled, &h.units, 2)
	if err != nil || !times.Done {
		return err
	}
	for _, l := range r.Layers {
		if n := h.Scheduled.Find(l.Node); !l.Adapter && len(counters[n]) > 0 {
			c := counters[n][0]
			r.Timeline = append(r.Timeline, report.Span{Node: l.Node, First: c.First, Last: c.Last})
		}
	}
	return nil
}

// magnitudes counts the float values of a layer by size; nil where nobody has.
func (h *Hardware) magnitudes(v *loss.Value) *report.Magnitudes {
	if v.Sizes == nil {
		return nil
	}
	m := &report.Magnitudes{Zeros: v.Sizes[0], Least: loss.LeastExp, Counts: v.Sizes[1:]}
	for len(m.Counts) > 0 && m.Counts[len(m.Counts)-1] == 0 {
		m.Counts = m.Counts[:len(m.Counts)-1]
	}
	for len(m.Counts) > 0 && m.Counts[0] == 0 {
		m.Counts, m.Least = m.Counts[1:], m.Least+1
	}
	n := h.Scheduled.Find(v.Name)
	if n == nil || n.Type.Scales != nil {
		return m
	}
	if step, _, ok := n.Type.Format.Lattice(); ok {
		lo, hi := n.Type.Format.Limits()
		largest := max(hi.Float64(), -lo.Float64())
		m.Format = &[2]int{step, int(math.Ceil(math.Log2(largest)))}
	}
	return m
}

// predicted converts costs, which count half blocks of RAM.
func predicted(c rtl.Cost) report.Cells {
	return report.Cells{LUT: c.LUT, FF: c.FF, DSP: c.DSP, BRAM: float64(c.BRAM) / 2, URAM: c.URAM}
}

// costs adds what the units and the memory port are predicted to take, as far as all say so, and what a balance of
// foldings has reached.
func (h *Hardware) costs(r *report.Report) {
	sum, all := rtl.Cost{}, true
	if m := h.Design.Memory; m != nil {
		sum = m.Cost
	}
	for _, u := range h.Design.Units {
		if u.Cost != nil {
			sum = sum.Add(*u.Cost)
		} else if u.Module != "" {
			all = false
		}
	}
	if all {
		c := predicted(sum)
		r.Predicted = &c
	}
	if h.Schedule == nil || h.Schedule.Balance == nil {
		return
	}
	b := h.Schedule.Balance
	r.Balance = &report.Balance{FPS: b.FPS, Reached: b.Reached, Cost: predicted(b.Cost), Proof: b.Proof,
		Budget: report.Cells{LUT: b.Budget.LUT, FF: b.Budget.FF, DSP: b.Budget.DSP, BRAM: float64(b.Budget.BRAM),
			URAM: b.Budget.URAM}}
}

// Interval is how many cycles a sample takes, as the compiler computes it.
func (h *Hardware) Interval() float64 {
	ii := float64(Slowest(h.Design).Cycles)
	if h.Schedule == nil { // saved scheduled
		return max(ii, float64(h.Design.Traffic()))
	}
	return max(ii, float64(h.Design.Traffic()), h.Schedule.Measured)
}

// Slowest is the unit that sets the pace, the first of equals; one that computes goes before one that only moves
// values, and that before a stream without a unit.
func Slowest(d *emit.Design) emit.Unit {
	rank := func(u *emit.Unit) int {
		switch {
		case u.Module == "":
			return 0
		case adapts(u):
			return 1
		}
		return 2
	}
	var best emit.Unit
	for _, u := range d.Units {
		if u.Cycles > best.Cycles || u.Cycles == best.Cycles && rank(&u) > rank(&best) {
			best = u
		}
	}
	return best
}

// adapts says that a unit moves values and computes none.
func adapts(u *emit.Unit) bool { return strings.HasPrefix(u.Module, "stream_") }

// lowered adds what quantization and scheduling have to say.
func (h *Hardware) lowered(r *report.Report) {
	at := make(map[string]*report.Layer, len(r.Layers))
	for i := range r.Layers {
		at[r.Layers[i].Node] = &r.Layers[i]
	}
	if q := h.Quantized.Report; q != nil {
		r.Quality.Samples = q.Samples
		for _, o := range q.Outputs {
			if o.Place {
				continue
			}
			if v := max(-SQNRLimit, min(SQNRLimit, o.SQNR)); r.Quality.SQNR == nil || v < *r.Quality.SQNR {
				r.Quality.SQNR, r.Quality.On = &v, fmt.Sprintf("%d samples of the quantizer", q.Samples)
			}
		}
		r.Notes, r.Warnings = append(r.Notes, q.Notes...), append(r.Warnings, q.Warnings...)
		for _, v := range q.Nodes {
			if l := at[v.Name]; l != nil {
				l.Total, l.Values = errorOf(v.SQNR, v.MaxErr), h.magnitudes(&v)
				if v.Alone != nil {
					l.Alone = errorOf(v.Alone.SQNR, v.Alone.MaxErr)
				}
			}
		}
		for _, s := range q.Slots {
			if l := at[s.Node]; l != nil && s.Slot == "data_out" {
				l.Decided = s.From
			}
		}
	}
	if s := h.Schedule; s != nil {
		r.Notes, r.Warnings = append(r.Notes, s.Notes...), append(r.Warnings, s.Warnings...)
	}
}

func errorOf(sqnr, greatest float64) *report.Error {
	e := &report.Error{Max: greatest}
	if sqnr = max(-SQNRLimit, sqnr); !math.IsInf(sqnr, 1) && !math.IsNaN(sqnr) {
		e.SQNR = &sqnr
	}
	return e
}

// report adds what a comparison has shown.
func (c *Check) report(r *report.Report) {
	r.Speed.MeasuredII, r.Speed.Latency = &c.II, &c.Latency
	if c.II == 0 { // a single sample has no distance to the next
		r.Speed.MeasuredII = nil
	}
	if c.SQNR != nil {
		r.Quality.SQNR, r.Quality.On = c.SQNR, "the samples compared"
	}
	if c.Accuracy != nil {
		r.Quality.Float, r.Quality.Quantized = c.Accuracy.Float, &c.Accuracy.Quantized
	}
	if c.Score != nil {
		r.Quality.Score = &report.Score{Float: c.Score.Float, Quantized: c.Score.Quantized}
	}
	r.Warnings = append(r.Warnings, c.Warnings...)
	p := &report.Proof{Samples: c.Samples, Outputs: c.Outputs, Mismatches: c.Mismatches, StallPercent: c.Stalls.Percent,
		Seeds: c.Stalls.Seeds, Cycles: c.Cycles, Starved: c.Stalls.Starved, Blocked: c.Stalls.Blocked}
	for _, name := range c.Engines {
		if name != "ref" {
			p.Engines = append(p.Engines, report.Engine{Name: engineName(name), Compared: c.Compared[name]})
		}
	}
	for _, f := range c.Fifos {
		for i := range r.Fifos {
			if r.Fifos[i].Node == f.Node {
				r.Fifos[i].Predicted, r.Fifos[i].Quiet, r.Fifos[i].Stalled = &f.Predicted, &f.Quiet, &f.Stalled
			}
		}
	}
	for _, m := range c.First {
		p.First = append(p.First, m.String())
	}
	r.Compared = p
}

// engineName says what stands behind the name of an engine.
func engineName(name string) string {
	switch name {
	case "pjrt":
		return "StableHLO on XLA (PJRT)"
	case "rtl":
		return "emitted RTL in Verilator"
	case SecondSimulator:
		return "emitted RTL in Icarus"
	case GateLevel:
		return "netlist of Yosys in Verilator"
	}
	return name
}

// counted adds the cells of the design and of its units.
func counted(r *report.Report, d *emit.Design, a *area.Report) {
	cells := func(c area.Cells) report.Cells {
		return report.Cells{LUT: c.LUT, FF: c.FF, DSP: c.DSP, BRAM: c.BRAM(), URAM: c.URAM}
	}
	r.Area = &report.Area{Total: cells(a.Total), Tool: a.Tool, Flags: a.Flags}
	prefix := d.Top + "/core/"
	if d.Single != d.Top {
		prefix = d.Top + "/single/core/"
	}
	for _, inst := range a.Instances {
		name, ok := strings.CutPrefix(inst.Path, prefix)
		for i := range r.Layers {
			if l := &r.Layers[i]; ok && l.Module != "" && l.Instance == name {
				c := cells(inst.Cells)
				l.Cells = &c
			}
		}
	}
}

// Routed reads what `lathe route` has measured of the design in a folder. Error L0777 where there is nothing, or where
// it is of other sources than those of this design.
func (h *Hardware) Routed(dir string) (*route.Report, error) {
	r, err := route.Load(dir)
	if err != nil {
		return nil, err
	}
	if r.Sources != route.HashOf(h.Design.Files) {
		return nil, diag.New(diag.RouteStale, dir, "what was routed here is not the design of this model and plan").
			WithHint("emit the design into the folder again, and route it")
	}
	return r, nil
}

// judged says whether a routed design is on the part of the plan, and reaches its clock.
func judged(r *route.Report, t *plan.Target) string {
	text := fmt.Sprintf("meets the %s MHz asked for", diag.Number(t.ClockMHz, 4))
	if r.MHz < t.ClockMHz {
		text = fmt.Sprintf("misses the %s MHz asked for", diag.Number(t.ClockMHz, 4))
	}
	if d, err := target.Find(r.Part); err != nil || d.Name != t.FPGA.Name {
		text += ", on another part than that of the plan, " + t.FPGA.Part
	}
	return text
}

// routed is what the page says of a result.
func routed(r *route.Report, t *plan.Target) *report.Routed {
	out := &report.Routed{Device: r.DeviceName(), Verdict: judged(r, t),
		MHz: r.MHz, Median: r.Median, Seeds: len(r.MHzSeeds), LUT: r.LUT,
		FF: r.FF, DSP: r.DSP, BRAM: r.BRAM, FloorPlan: r.FloorPlan}
	for _, h := range r.Steps() {
		out.Path = append(out.Path, report.Hop{NS: h.NS, Kind: h.Kind, Layer: h.Layer, Module: h.Module,
			Signal: h.Place()})
	}
	return out
}
