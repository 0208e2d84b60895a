// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/emit/verilog"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/stream"
	"lathe/ir/op/sum"
	"lathe/ir/ref"
	"lathe/sim"
)

// noRTL are the reasons for which a quantized node may lack hardware: its format, its attributes, a constant
// beside a stream, a transpose of too many axes, and weights that are too long for a constant.
var noRTL = []diag.Code{"L0310", "L0311", "L0332", "L0333", "L0620"}

// perDesign is the number of graphs that share a simulation.
const perDesign = 10

// ops narrows TestRTL while an operation is being written:
//
//	go test ./internal/difftest/hardware -run TestRTL -ops relu,conv
var ops = flag.String("ops", "", "operations that TestRTL takes, by name, separated by commas; empty: all")

// chosen are the operations that have hardware, or those of them that -ops names.
func chosen(t *testing.T) (list []*ir.Op) {
	for _, o := range difftest.Ops() {
		if o.RTL != nil && o != stream.Mark { // whose beats say more than its values: rtl/stream and internal/driver test it
			list = append(list, o)
		}
	}
	if *ops == "" {
		return list
	}
	var named []*ir.Op
	for _, name := range strings.Split(*ops, ",") {
		i := slices.IndexFunc(list, func(o *ir.Op) bool { return o.Name == name })
		if i < 0 {
			t.Fatalf("-ops %s: no operation %q has hardware", *ops, name)
		}
		named = append(named, list[i])
	}
	return named
}

// TestRTL compares Verilated hardware with the Eval column of every operation that has an RTL column, and its cycles
// with the flow lines of its modules.
func TestRTL(t *testing.T) {
	var graphs []*ir.Graph
	for _, o := range chosen(t) {
		found, refused := hardware(t, o)
		t.Logf("%s: %d graphs, %d beside them have no hardware", o.Name, len(found), refused)
		graphs = append(graphs, found...)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(graphs), func(i, k int) { graphs[i], graphs[k] = graphs[k], graphs[i] })
	for i := 0; i < len(graphs); i += perDesign {
		t.Run(fmt.Sprint(i/perDesign), func(t *testing.T) {
			t.Parallel()
			r := difftest.Rand("rtl", i)
			group := graphs[i:min(i+perDesign, len(graphs))]
			compareRTL(t, r, group, rtlSamples, i < icarusDesigns*perDesign)
		})
	}
}

// hardware draws scheduled graphs of o that have hardware, and counts those that have not.
func hardware(t *testing.T, o *ir.Op) (graphs []*ir.Graph, refused int) {
	cases := rtlCases
	if o == sum.Linear || o == sum.Conv { // several modules each
		cases *= 2
	}
	if g, _ := difftest.Case(o, 0); difftest.IsTable(g.Out[0].Node) { // all of them are one module with different images
		cases = tableCases
	}
	for i := 0; len(graphs) < cases; i++ {
		g, r := difftest.Case(o, i)
		difftest.Schedule(r, g)
		if _, err := verilog.Emit(g, verilog.Options{}); err == nil {
			graphs = append(graphs, g)
		} else if refused++; !slices.Contains(noRTL, diag.CodeOf(err)) || refused > 3*cases+10 {
			t.Fatalf("%s, case %d, %d refused: %v\n%s", o.Name, i, refused, err, difftest.Describe(g))
		}
	}
	return graphs, refused
}

// compareRTL lints and builds graphs as one design, and runs it under three seeds with random stalls; in one of the
// runs a reset falls into the stream. Then it compares the cycles of a run without stalls. The first frames go through
// Icarus as well if asked.
func compareRTL(t *testing.T, r *rand.Rand, graphs []*ir.Graph, n int, icarus bool) {
	t.Helper()
	tools.Need(t, "verilator", "g++")
	g := difftest.Merge("merged", graphs)
	samples := difftest.Samples(r, g, n)
	want, err := difftest.Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	d, err := verilog.Emit(g, verilog.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	if err := sim.Lint(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
		t.Errorf("%v\n%s", err, difftest.Describe(g))
	}
	spec := sim.DesignSpec(d, tools.CacheDir(t), false, false)
	m, err := sim.Build(t.Context(), spec)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	for seed := range 3 {
		in := sim.Input{Seed: uint64(seed), MaxIdle: 20_000, Drain: 50}
		if seed > 0 {
			in.Idle, in.Back = stalls(r, len(g.In)), stalls(r, len(g.Out))
		}
		if seed == 2 {
			in.ResetAt = 1 + r.IntN(200)
		}
		run, err := sim.RunDesign(t.Context(), m, g, d, samples, in)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, difftest.Describe(g))
		}
		if err := run.Result.Check(&spec); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, difftest.Describe(g))
		}
		for s := range samples {
			if what := difftest.Differ(g, want[s], run.Outputs[s], 0); what != "" {
				difftest.Report(t, g, what, s, samples[s])
			}
		}
	}
	compareFlow(t, r, graphs, d, m)
	if icarus {
		compareIcarus(t, g, d, spec, samples[:6], want)
	}
}

// stalls draws a stall pattern for each port.
func stalls(r *rand.Rand, n int) []sim.Stall {
	all := make([]sim.Stall, n)
	for i := range all {
		all[i] = sim.Stall{Percent: []int{0, 10, 50, 90}[r.IntN(4)], Burst: []int{0, 12}[r.IntN(2)]}
	}
	return all
}

// compareIcarus runs the same design in Icarus, where registers start unknown.
func compareIcarus(t *testing.T, g *ir.Graph, d *emit.Design, spec sim.Spec, samples, want []ref.Sample) {
	t.Helper()
	tools.Need(t, "iverilog", "vvp")
	in := sim.Input{Frames: len(samples), MaxIdle: 5000, Seed: 7, Idle: []sim.Stall{{Percent: 30}},
		Back: []sim.Stall{{Percent: 30}}}
	var outputs [][]byte
	for i, p := range d.Ports {
		beats := func(from []ref.Sample, at int) (all []byte) {
			for s := range samples {
				v := *from[s][at]
				v.Type = p.Type
				all = append(all, sim.PackValue(&v, p.Lanes)...)
			}
			return all
		}
		if p.Input {
			in.Streams = append(in.Streams, beats(samples, i))
			in.InBeats = append(in.InBeats, p.Beats)
			continue
		}
		outputs = append(outputs, beats(want, i-len(g.In)))
		in.OutBeats = append(in.OutBeats, p.Beats)
	}
	got, err := sim.Icarus(t.Context(), spec, in)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	for i, stream := range got {
		if !bytes.Equal(stream, outputs[i]) {
			t.Errorf("Icarus: output %s is %x, want %x\n%s", g.Out[i].Name, stream, outputs[i],
				difftest.DescribeCase(g, g.Out[i].Name[:len(g.Out[i].Name)-1], samples[0]))
		}
	}
}
