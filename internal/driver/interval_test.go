// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/emit/verilog"
	"lathe/frontend/recurrent"
	"lathe/golden"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/ref"
	"lathe/ir/unit"
	"lathe/lower/lowertest"
	"lathe/lower/schedule/tokens"
	"lathe/sim"
)

// promise is a random network as hardware, and where it comes from. Samples are those by which `lathe verify` measures
// the interval.
type promise struct {
	what    string
	hw      *driver.Hardware
	samples int
}

// TestIntervals: random networks whose values part and meet, under random plans, and recurrent ones take exactly the
// cycles a sample in hardware that reports promise, and go on so. TestManyIntervals has more of them.
func TestIntervals(t *testing.T) { compareIntervals(t, 2, 1) }

// compareIntervals draws branching and recurrent networks, and simulates several at once.
func compareIntervals(t *testing.T, branching, recurrents int) {
	const perDesign = 8
	kinds := []recurrent.Kind{recurrent.LSTM, recurrent.GRU, recurrent.RNN}
	var all []promise
	for i := range branching {
		all = append(all, promised(t, fmt.Sprint("branching ", i), i, lowertest.Branching(t, uint64(i))))
	}
	for i := range recurrents * len(kinds) {
		g := lowertest.Recurrent(t, uint64(i), kinds[i%len(kinds)])
		all = append(all, promised(t, fmt.Sprint("recurrent ", i), i, g))
	}
	for i := 0; i < len(all); i += perDesign {
		t.Run(fmt.Sprint(i/perDesign), func(t *testing.T) {
			t.Parallel()
			measureTogether(t, all[i:min(i+perDesign, len(all))])
		})
	}
}

// promised is g under plan i, or under the next one that does not refuse it.
func promised(t *testing.T, what string, i int, g *ir.Graph) promise {
	t.Helper()
	r := difftest.Rand(what, i)
	for try := range 20 {
		text := randomPlan(t, r, g, i+try)
		hw, err := hardwareUnder(t, text, g)
		if code := diag.CodeOf(err); slices.Contains(refusedPlans, code) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", what, err, text, difftest.Describe(g))
		}
		times, samples, err := tokens.Steady(t.Context(), hw.Scheduled, &unit.Cache{})
		if err != nil || !times.Done {
			t.Fatalf("%s: %v\n%s", what, err, text)
		}
		return promise{what + ", with the plan\n" + text, hw, samples}
	}
	t.Fatalf("%s: every plan is refused", what)
	return promise{}
}

// refusedPlans are the reasons for which a random plan may be refused: lanes that do not go with those of another
// layer, a rate that no lanes reach, a budget that none keep.
var refusedPlans = []diag.Code{"L0412", "L0455", "L0457"}

func hardwareUnder(t *testing.T, plan string, g *ir.Graph) (*driver.Hardware, error) {
	t.Helper()
	q, err := driver.Source{Model: "test.onnx", Plan: planFile(t, plan)}.Quantize(t.Context(), g)
	if err != nil {
		return nil, err
	}
	return q.Emit(t.Context(), verilog.Options{Version: "test"})
}

// randomPlan is a plan of kind i for g: the default, lanes and styles for single nodes, a rate, a budget, all unrolled.
func randomPlan(t *testing.T, r *rand.Rand, g *ir.Graph, i int) string {
	t.Helper()
	switch i % 8 {
	case 0:
		return "[fold]\n"
	case 1:
		return fmt.Sprintf("[fold]\nmode = \"balance\"\nfps = %d\n", 250_000_000/(20+r.IntN(600)))
	case 2:
		return fmt.Sprintf("[fold]\nmode = \"balance\"\nmax_dsp = %d\n", 20+r.IntN(60))
	case 3:
		if i%16 == 3 {
			return "[fold]\nmode = \"unroll\"\n" + []string{"", "[unroll]\nstage_levels = 0.8\n"}[r.IntN(2)]
		}
	}
	hw, err := hardwareUnder(t, "", g)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[fold]\nmode = %q\n", []string{"fold", "lean"}[r.IntN(2)])
	for _, n := range hw.Graph.Nodes {
		d, err := op.LanesOf(n)
		if err != nil || n.IsConst() || n.Op.Traits.Source || d.Follows() || r.IntN(3) == 0 {
			continue
		}
		fmt.Fprintf(&b, "[[fold.rule]]\nname = %q\n", n.Name)
		switch in, out := pick(r, d.In.Legal), 0; {
		case slices.Contains(d.Styles, ir.StyleUnroll) && r.IntN(4) == 0:
			fmt.Fprintf(&b, "style = \"unroll\"\n")
		case d.Product():
			fmt.Fprintf(&b, "in_lanes = %d\nout_lanes = %d\n", in, pick(r, d.Out.Legal))
		default:
			in, out = d.Tied(in)
			fmt.Fprintf(&b, "in_lanes = %d\nout_lanes = %d\n", in, out)
		}
	}
	return b.String()
}

func pick(r *rand.Rand, list []int) int { return list[r.IntN(len(list))] }

// measureTogether simulates designs side by side, each of which has ports of its own.
func measureTogether(t *testing.T, group []promise) {
	t.Helper()
	e := engines(t)
	var graphs []*ir.Graph
	most := 0
	for _, p := range group {
		graphs, most = append(graphs, p.hw.Scheduled), max(most, p.samples)
	}
	g := difftest.Merge("intervals", graphs)
	d, err := verilog.Emit(g, verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.Build(t.Context(), sim.DesignSpec(d, e.Cache, false, false))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := driver.RandomSamples(g, 2*most, 1)
	if err != nil {
		t.Fatal(err)
	}
	run, err := sim.RunDesign(t.Context(), m, g, d, samples, sim.Input{MaxIdle: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	out := run.Result.Out
	for _, p := range group {
		ports, want := out[:len(p.hw.Scheduled.Out)], p.hw.Interval()
		out = out[len(ports):]
		later := sim.Interval(ports)
		for i := range ports {
			ports[i].First = ports[i].First[:p.samples]
		}
		if got := sim.Interval(ports); got != want || math.Abs(later-want) > 0.02*want {
			t.Errorf("a sample takes %g cycles, %g in the long run, %g were promised: %s%s", got, later, want, p.what,
				difftest.Describe(p.hw.Scheduled))
		}
	}
	sameCodes(t, g, samples, run.Outputs)
}

// sameCodes holds outputs to those of the reference.
func sameCodes(t *testing.T, g *ir.Graph, samples, got []ref.Sample) {
	t.Helper()
	program, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	want, err := program.Run(t.Context(), samples)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []*ir.Node
	for _, o := range g.Out {
		nodes = append(nodes, o.Node)
	}
	if _, wrong, first, err := golden.Compare("rtl", nodes, want, got); err != nil || wrong > 0 {
		t.Errorf("%d codes differ, %v: %v", wrong, first, err)
	}
}
