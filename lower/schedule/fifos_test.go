// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/stream"
	"lathe/ir/op/window"
	"lathe/ir/unit"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/schedule/tokens"
)

// TestFifos schedules a block with a short cut: the short cut has a FIFO of the depth that the convolutions beside it
// ask for, the slow branch has none, and the design does not stop; without the FIFO it does.
func TestFifos(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Add(pointwise.Relu, "relu", nil, b.Conv("stem", b.Input("x", 1, 3, 8, 8), 4, 3, 1, 1, 1, true))
	y := b.Conv("second", b.Conv("first", x, 4, 3, 1, 1, 1, true), 4, 3, 1, 1, 1, true)
	g := b.Done(b.Add(pointwise.Add, "sum", nil, y, x))
	p := plan.Default()
	q, _, err := quantize.Run(context.Background(), g, p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, report, err := Run(context.Background(), q, p, Options{Options: pass.Options{Verify: true}})
	if err != nil {
		t.Fatal(err)
	}
	var fifos []*ir.Node
	for _, n := range s.Nodes {
		if n.Op == stream.Fifo {
			fifos = append(fifos, n)
		}
	}
	if len(fifos) != 1 || fifos[0].Name != "sum.fifo" || fifos[0].HW.Fifo < 18 || fifos[0].HW.Latency < 1 {
		t.Fatalf("%d FIFOs, %+v", len(fifos), fifos)
	}
	if u := report.Units[len(report.Units)-2]; u.Node != "sum.fifo" || u.Module != "stream_fifo" {
		t.Errorf("the report has %+v before the sum", u)
	}
	if err := tokens.Check(t.Context(), s, &unit.Cache{}); err != nil {
		t.Error(err)
	}
	times, err := tokens.Run(t.Context(), s, &unit.Cache{}, 4)
	if err != nil || !times.Done || times.Most[fifos[0]] >= fifos[0].HW.Fifo || int(times.II()) != report.II() {
		t.Errorf("%+v, %v; %d beats deep, a sample every %d cycles", times, err, fifos[0].HW.Fifo, report.II())
	}
	fifos[0].HW.Fifo--
	if err := tokens.Check(t.Context(), s, &unit.Cache{}); diag.CodeOf(err) != "L0720" {
		t.Errorf("one place shallower: %v", err)
	}
	s.Replace(fifos[0], fifos[0].Args[0])
	s.DropDead()
	if err := tokens.Check(t.Context(), s, &unit.Cache{}); diag.CodeOf(err) != "L0720" {
		t.Errorf("no FIFO: %v", err)
	}
	if times, err := tokens.Run(t.Context(), s, &unit.Cache{}, 4); err != nil || times.Done {
		t.Errorf("without the FIFO the design does not stop: %+v, %v", times, err)
	}
}

// TestCrossedForks: two forks hold each other up, each by a join that waits for the other one.
func TestCrossedForks(t *testing.T) {
	plan := lowertest.Plan(t, "[fold]\nmode = \"fold\"\n[[fold.rule]]\nin_lanes = 1\nout_lanes = 1\n")
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 2, 4, 4)
	a, c := b.Conv("a", x, 2, 1, 1, 0, 1, true), b.Conv("c", x, 2, 1, 1, 0, 1, true)
	first := b.Add(move.Concat, "first", &move.ConcatAttrs{Axis: 1}, a, c)
	second := b.Add(move.Concat, "second", &move.ConcatAttrs{Axis: 1}, c, b.Conv("slow", a, 2, 3, 1, 1, 1, true))
	q, _, err := quantize.Run(context.Background(), b.Done(first, second), plan, quantize.Calibration{},
		quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := Run(context.Background(), q, plan, Options{Options: pass.Options{Verify: true}})
	if err != nil {
		t.Fatal(err)
	}
	times, frames, err := tokens.Steady(t.Context(), s, &unit.Cache{})
	if err != nil || !times.Done {
		t.Errorf("%+v, %v", times, err)
	}
	for _, n := range s.Nodes {
		if err == nil && times.II() < float64(n.HW.II) {
			t.Errorf("%d samples, %g cycles each, but %s takes %d", frames, times.II(), n.Name, n.HW.II)
		}
	}
}

// failing is a context that ends when it has been asked so many times.
type failing struct {
	context.Context
	left int
}

func (c *failing) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestEndedSchedule: scheduling ends with the error of its context, wherever that ends.
func TestEndedSchedule(t *testing.T) {
	plan := lowertest.Plan(t, "[[fold.rule]]\nop = \"conv\"\nin_lanes = 1\nout_lanes = 1\n")
	b := lowertest.New(t, 1)
	a := b.Conv("a", b.Input("x", 1, 2, 4, 4), 2, 1, 1, 0, 1, true)
	c := b.Conv("c", a, 2, 3, 1, 1, 1, true)
	q, _, err := quantize.Run(context.Background(), b.Done(b.Add(pointwise.Add, "sum", nil, a, c)), plan,
		quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for left := range 1000 {
		_, _, err := Run(&failing{context.Background(), left}, q, plan, Options{})
		switch {
		case err == nil && left > 3:
			t.Logf("asked %d times", left)
			return
		case !errors.Is(err, context.Canceled):
			t.Fatalf("after %d: %v", left, err)
		}
	}
	t.Error("it never ends")
}

// TestTurns schedules a concat that takes its two streams by turns, rows that a pad adds, and a repeated vector:
// where they would hold up the units before them, FIFOs keep the pace of the slowest unit.
func TestTurns(t *testing.T) {
	plan := lowertest.Plan(t, "[[fold.rule]]\nop = \"conv\"\nin_lanes = 4\nout_lanes = 2\n"+
		"[[fold.rule]]\nop = \"concat\"\nout_lanes = 4\n")
	for name, build := range map[string]func(b *lowertest.Builder) *ir.Node{
		"concat": func(b *lowertest.Builder) *ir.Node {
			a := b.Conv("a", b.Input("x", 1, 4, 4, 4), 16, 1, 1, 0, 1, true)
			c := b.Conv("c", b.Input("y", 1, 4, 4, 4), 16, 1, 1, 0, 1, true)
			return b.Add(move.Concat, "both", &move.ConcatAttrs{Axis: 1}, a, c)
		},
		"repeat": func(b *lowertest.Builder) *ir.Node {
			a := b.Conv("a", b.Input("x", 1, 4, 4, 4), 16, 1, 1, 0, 1, true)
			return b.Add(pointwise.Mul, "all", nil, a, b.Conv("gate", b.Input("y", 1, 64, 1, 1), 16, 1, 1, 0, 1, true))
		},
		"pad": func(b *lowertest.Builder) *ir.Node {
			a := b.Conv("a", b.Input("x", 1, 4, 4, 4), 4, 3, 1, 1, 1, true)
			return b.Add(move.Pad, "rows", &move.PadAttrs{Axis: 2, Before: 3, After: 3}, a)
		},
	} {
		b := lowertest.New(t, 1)
		q, _, err := quantize.Run(context.Background(), b.Done(build(b)), plan, quantize.Calibration{},
			quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, report, err := Run(context.Background(), q, plan, Options{Options: pass.Options{Verify: true}})
		if err != nil {
			t.Fatal(err)
		}
		if err := tokens.Check(t.Context(), s, &unit.Cache{}); err != nil {
			t.Error(err)
		}
		fast, err := tokens.Run(t.Context(), s, &unit.Cache{}, 16)
		if err != nil || int(fast.II()) != report.II() {
			t.Errorf("%s: %v; a sample every %g cycles, want %d", name, err, fast.II(), report.II())
		}
		for _, n := range s.Nodes {
			if n.Op == stream.Fifo && front(t, s.Users()[n][0]) == 0 {
				n.HW.Fifo = 0
			}
		}
		if slow, err := tokens.Run(t.Context(), s, &unit.Cache{}, 16); err != nil || slow.II() <= fast.II() {
			t.Errorf("%s: without FIFOs %g cycles, %v", name, slow.II(), err)
		}
	}
}

// TestNarrowInput gives a linear layer a slower input: its FIFO keeps the layer busy in every cycle.
func TestNarrowInput(t *testing.T) {
	for _, lanes := range []int{1, 2, 4} {
		plan := lowertest.Plan(t, fmt.Sprintf("[[fold.rule]]\nop = \"input\"\nin_lanes = %d\nout_lanes = %d\n"+
			"[[fold.rule]]\nname = \"fc\"\nin_lanes = 4\nout_lanes = 1", lanes, lanes))
		b := lowertest.New(t, 1)
		g := b.Done(b.Linear("fc", b.Input("x", 1, 64), 12, true))
		q, _, err := quantize.Run(context.Background(), g, plan, quantize.Calibration{}, quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, report, err := Run(context.Background(), q, plan, Options{Options: pass.Options{Verify: true}})
		if err != nil {
			t.Fatal(err)
		}
		times, err := tokens.Run(t.Context(), s, &unit.Cache{}, 16)
		if err != nil || report.II() != 64/4*12 || times.II() != float64(report.II()) {
			t.Errorf("%d lanes: %v; a sample every %g cycles, predicted %d", lanes, err, times.II(), report.II())
		}
	}
}

// TestMeansInTime holds the flow of means against the headers of their modules: with factors, and exact.
func TestMeansInTime(t *testing.T) {
	for _, data := range []string{"int(8,z=3)*0.05", "fixed(8,4)"} {
		for _, side := range []int{3, 4} {
			plan := lowertest.Plan(t, fmt.Sprintf("[quantize]\ndata = %q", data))
			b := lowertest.New(t, 1)
			g := b.Done(b.Add(window.GlobalAvgPool, "mean", &window.GlobalAttrs{}, b.Input("x", 1, 2, side, side)))
			q, _, err := quantize.Run(context.Background(), g, plan, quantize.Calibration{}, quantize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s, _, err := Run(context.Background(), q, plan, Options{Options: pass.Options{Verify: true}})
			if err != nil {
				t.Fatal(err)
			}
			times, err := tokens.Run(t.Context(), s, &unit.Cache{}, 2)
			if want := s.Find("mean").HW.Latency; err != nil || times.First[0][0] != want {
				t.Errorf("%s, %d pixels: %+v, %v; want a latency of %d", data, side*side, times, err, want)
			}
		}
	}
}

// front is the beats of the FIFO that always stands in front of n.
func front(t *testing.T, n *ir.Node) int {
	t.Helper()
	beats, err := tokens.Front(&unit.Cache{}, n)
	if err != nil {
		t.Fatal(err)
	}
	return beats
}
