// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe/emit"
	"lathe/emit/verilog"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/ir/unit"
)

func (a *App) emitVerilog() *cobra.Command {
	var e emitFlags
	c := &cobra.Command{Use: "emit-verilog MODEL -o DIR", Short: "compile a model to Verilog",
		Long: "Compiles a model to a folder of SystemVerilog: library modules, one top, an AXI4-Stream wrapper, memory\n" +
			"images, a self-checking testbench with a Makefile, scripts for Vivado, design.json and a README. Without\n" +
			"a plan: 8 bits, folded.",
		Example: "  emit-verilog model.onnx -o out/ --calibrate x.npz", Args: exactly("MODEL")}
	e.add(c, true)
	e.page.add(c)
	e.choices.add(c)
	f := c.Flags()
	f.StringVarP(&e.out, "output", "o", "", "folder for the design; replaces that of an earlier emit-verilog")
	f.StringVar(&e.top, "top", "", "name of the top module")
	f.StringVar(&e.inputs, "inputs", "", "samples for the testbench (.npz); else those of --calibrate, or random codes")
	f.StringVar(&e.labels, "labels", "", labelsUsage)
	e.metric.add(c)
	f.IntVar(&e.vectors, "vectors", driver.DefaultVectors, "most samples in the testbench; 0: no testbench")
	f.StringVar(&e.shell, "shell", "", "axi: also registers behind AXI4-Lite, below axi/ (docs/silicon.md)")
	c.RunE = func(c *cobra.Command, args []string) error { return a.emitDesign(c, &e, args[0]) }
	return a.withJSON(c)
}

// emitFlags are the flags of emit-verilog.
type emitFlags struct {
	sourceFlags
	out, top       string
	shell          string
	inputs, labels string
	metric         metricFlags
	vectors        int
}

func (a *App) emitDesign(c *cobra.Command, e *emitFlags, model string) error {
	if err := e.check(c); err != nil {
		return err
	}
	source, err := e.of(a, model)
	if err != nil {
		return err
	}
	source.Arrays = e.inputs
	p := progress{app: a}
	defer p.finish()
	hw, err := a.hardware(c.Context(), source, e.top, &p)
	if err != nil {
		return err
	}
	if err := e.page.write(hw.Quantized, hw.Scheduled); err != nil {
		return err
	}
	metric, err := e.metric.of(a, e.labels)
	if err != nil {
		return err
	}
	right, err := hw.Quantized.Right(c.Context(), cmp.Or(e.inputs, e.source.Calibrate), e.labels, metric)
	if err != nil {
		return err
	}
	if err := a.complete(c, e, model, hw); err != nil {
		return err
	}
	d := hw.Design
	p.Report("write", 0, 0)
	if err := driver.Write(d, e.out); err != nil {
		return err
	}
	p.finish()
	if err := a.printDesign(d, e.out); err != nil {
		return err
	}
	a.printPace(hw)
	if hw.Schedule != nil {
		if err := a.printBalance(hw.Schedule.Balance, d); err != nil {
			return err
		}
	}
	a.printRightness(&right)
	return a.writeJSON(rightly(right, map[string]any{"balance": d.Balance, "model": model,
		"folder": e.out, "top": d.Top, "core": d.Core, "units": d.Units,
		"slowest": driver.Slowest(d).Node, "interval": hw.Interval(), "decoder": hw.Decoder(), "files": len(d.All())}))
}

// printPace says how long tokens of a decoder take, or a sample where the slowest unit does not say it.
func (a *App) printPace(hw *driver.Hardware) {
	if dec := hw.Decoder(); dec != nil {
		least := ""
		if dec.AtLeast {
			least = "at least "
		}
		fmt.Fprintf(a.Out, "decoder: sequences of up to %s; a prompt of %s takes %s%s, each that follows "+
			"by itself in %s%s\n", counted(dec.Tokens, "token"), counted(dec.Prefill, "token"), least,
			counted(dec.First, "cycle"), least, counted(dec.Token, "cycle"))
	} else if ii := hw.Interval(); ii > float64(driver.Slowest(hw.Design).Cycles) {
		why := "units hold each other up"
		switch shared := func(u emit.Unit) bool { return len(u.Turns) > 0 }; {
		case ii == float64(hw.Design.Traffic()):
			why = "the memory port sets the pace"
		case slices.ContainsFunc(hw.Design.Units, shared):
			why = "it goes through the units that layers share once for each of them"
		}
		fmt.Fprintf(a.Out, "a sample every %s: %s\n", cycles(ii), why)
	}
}

// maxVectors bounds what the testbench loads at its start.
const maxVectors = 100_000

// vectorSeed is that of the random samples of testbenches.
const vectorSeed = 1

// complete adds the testbench and what goes with it.
func (a *App) complete(c *cobra.Command, e *emitFlags, model string, hw *driver.Hardware) error {
	n := e.vectors
	if !c.Flags().Changed("vectors") {
		if n = hw.AffordableVectors(); n == 0 {
			fmt.Fprintln(a.Err, "note: the model is large, so the folder has no testbench; --vectors 1 makes one")
		}
	}
	file := e.inputs
	if file == "" {
		file = e.source.Calibrate
	}
	var given []ref.Sample
	var arrays *npz.File
	if file != "" && n > 0 {
		var err error
		if arrays, err = npz.Read(file); err != nil {
			return err
		}
		arrays, _ = driver.Filled(hw.Scheduled, hw.Plan, arrays)
		if given, _, err = driver.Samples(hw.Scheduled, arrays); err != nil {
			return err
		}
	}
	samples, err := hw.VectorSamples(given, n, vectorSeed)
	if err != nil {
		return err
	}
	if err := hw.Complete(c.Context(), model, samples); err != nil || e.shell == "" {
		return err
	}
	return addShell(c.Context(), hw, arrays, samples)
}

// quantized imports a model and quantizes it, and prints what there is to say of it.
func (a *App) quantized(ctx context.Context, s driver.Source, p *progress) (*driver.Quantized, error) {
	s.Passes.Begin = p.Detail
	p.Report("import", 0, 0)
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	return a.integers(ctx, s, g, p)
}

// integers quantizes an imported graph, and prints what there is to say of it.
func (a *App) integers(ctx context.Context, s driver.Source, g *ir.Graph, p *progress) (*driver.Quantized, error) {
	p.Report("quantize", 0, 0)
	q, err := s.Quantize(ctx, g)
	if err != nil {
		return nil, err
	}
	p.finish()
	a.warnQuantized(q)
	return q, nil
}

// hardware runs every stage up to the design.
func (a *App) hardware(ctx context.Context, s driver.Source, top string, p *progress) (*driver.Hardware, error) {
	if top != "" { // before the work
		if err := verilog.CheckTop(top); err != nil {
			return nil, err
		}
	}
	q, err := a.quantized(ctx, s, p)
	if err != nil {
		return nil, err
	}
	return a.design(ctx, q, top, p)
}

// design makes hardware of a quantized graph, and prints what there is to say of it.
func (a *App) design(ctx context.Context, q *driver.Quantized, top string, p *progress) (*driver.Hardware, error) {
	p.Report("schedule", 0, 0)
	hw, err := q.Emit(ctx, verilog.Options{Version: Version, Top: top})
	if err != nil {
		return nil, err
	}
	p.finish()
	if hw.Schedule != nil {
		a.warn(&hw.Schedule.Report)
	}
	hw.Progress = p.Report
	return hw, nil
}

func (a *App) printDesign(d *emit.Design, out string) error {
	rows := [][]string{{"instance", "module", "format", "in lanes", "out lanes", "cycles", "latency"}}
	for _, u := range d.Units {
		if u.Module != "" {
			rows = append(rows, []string{u.Instance, u.Module, u.Format, fmt.Sprint(u.InLanes), fmt.Sprint(u.OutLanes),
				fmt.Sprint(u.Cycles), fmt.Sprint(u.Latency)})
		}
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if err := a.printMemory(d); err != nil {
		return err
	}
	if err := a.printSums(d); err != nil {
		return err
	}
	u := driver.Slowest(d)
	name := u.Instance
	if u.Module == "" {
		name = "the stream of " + u.Node
	}
	fmt.Fprintf(a.Out, "\nslowest unit: %s, %s a %s\n%d files in %s, top %s (AXI4-Stream), %s (bare streams)\n",
		name, counted(u.Cycles, "cycle"), d.Frame(), len(d.All()), out, d.Top, d.Core)
	if len(d.Extras("tb/")) > 0 {
		fmt.Fprintf(a.Out, "make -C %s simulates it, with tb/%s_tb.sv\n", out, d.Top)
	}
	return nil
}

// printSums says of what unrolled layers consist; nothing without one.
func (a *App) printSums(d *emit.Design) error {
	rows := [][]string{{"unrolled", "products", "adders", "shared", "cells", "LUT", "FF", "depth", "stage", "rows"}}
	for _, u := range d.Units {
		s := u.Sums
		if s == nil {
			continue
		}
		row := []string{u.Instance}
		for _, n := range []int{s.Products, s.Chains, s.Shared, s.Cells} {
			row = append(row, fmt.Sprint(n))
		}
		if u.Cost != nil {
			row = append(row, fmt.Sprint(u.Cost.LUT), fmt.Sprint(u.Cost.FF))
		} else {
			row = append(row, "?", "?") // a module in front does not say
		}
		rows = append(rows, append(row, fmt.Sprintf("%.1f", s.Levels), fmt.Sprintf("%.1f", s.Stage), fmt.Sprint(s.Rows)))
	}
	if len(rows) == 1 {
		return nil
	}
	fmt.Fprintln(a.Out)
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintln(a.Out, "LUT and FF are predicted; depth: levels of logic of the longest sum; stage: between registers")
	return nil
}

// printMemory says what is read from a memory outside; nothing without one.
func (a *App) printMemory(d *emit.Design) error {
	m := d.Memory
	if m == nil {
		return nil
	}
	if m.Cache != nil {
		if err := a.printCache(d); err != nil || m.File == "" {
			return err
		}
	}
	fmt.Fprintln(a.Out)
	rows := [][]string{{"weights of", "way", "bytes", "at", "beats a sample", "bytes a busy cycle"}}
	for _, u := range d.Units {
		if w := u.Weights; w != nil {
			size, at := fmt.Sprint(w.Sets*w.Beats*m.Bits/8), fmt.Sprintf("0x%x", w.Offset)
			rows = append(rows, []string{u.Instance, w.Way, size, at, fmt.Sprint(w.Traffic), fmt.Sprintf("%.3g", w.Needs)})
		}
	}
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "memory port: %d bits, %s of %s; %s a sample, %.3g bytes a cycle if all units work, of %d\n",
		m.Bits, counted(m.Bytes, "byte"), m.File, counted(m.Traffic, "beat"), m.Demand*float64(m.Bits/8), m.Bits/8)
	return nil
}

// printCache says where keys and values lie in a memory outside, and what crosses the port for them.
func (a *App) printCache(d *emit.Design) error {
	fmt.Fprintln(a.Out)
	rows := [][]string{{"cache of", "bytes", "at", "read for the last token"}}
	for _, u := range d.Units {
		if c := u.Cache; c != nil {
			rows = append(rows, []string{u.Instance, fmt.Sprint(c.Bytes), fmt.Sprintf("0x%x", c.Offset), fmt.Sprint(c.Reads)})
		}
	}
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "memory port: %d bits, a cache of %s\n", d.Memory.Bits, cacheText(d.Memory.Cache, d.Tokens))
	return nil
}

// printBalance says what the balance mode reached, at what cost, and why it stopped there; nothing in other modes.
func (a *App) printBalance(b *unit.Balance, d *emit.Design) error {
	if b == nil {
		return nil
	}
	rows := [][]string{{"unit", "cycles", "busy", "LUT", "FF", "DSP", "RAM18"}}
	for _, u := range d.Units {
		if u.Module == "" {
			continue
		}
		row := []string{u.Instance, fmt.Sprint(u.Cycles), fmt.Sprintf("%.0f%%", 100*float64(u.Cycles)/b.Cycles)}
		rows = append(rows, append(row, costCells(u.Cost)[:4]...)) // URAM stands in the sum below
	}
	fmt.Fprintln(a.Out)
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\nbalanced: %s samples a second if the design runs at %g MHz", rate(b.Reached), b.ClockMHz)
	if b.FPS > 0 {
		fmt.Fprintf(a.Out, ", %.2f%% above the %s asked for", 100*(b.Reached/b.FPS-1), diag.Number(b.FPS, 10))
	}
	fmt.Fprintf(a.Out, "; %s sets the pace\n", b.Bottleneck)
	fmt.Fprintf(a.Out, "%s%s\n", predicted(b.Cost), bounds(b.Budget))
	for _, s := range b.Stores {
		fmt.Fprintf(a.Out, "%s of %s: %s, %s\n", s.Holds(), s.Node, s.Place(), s.Why)
	}
	fmt.Fprintf(a.Out, "why not otherwise: %s\n", b.Proof)
	return nil
}

// rate prints samples a second without an exponent: six digits, or all those before the point.
func rate(fps float64) string {
	return diag.Number(fps, 6)
}

// bounds lists what is bounded.
func bounds(b unit.Budget) string {
	var list []string
	for _, r := range []struct {
		n    int
		name string
	}{{b.LUT, "LUT"}, {b.FF, "FF"}, {b.DSP, "DSP"}, {b.BRAM, "block RAM"}, {b.URAM, "UltraRAM"}} {
		if r.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", r.n, r.name))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; bounds: " + strings.Join(list, ", ")
}
