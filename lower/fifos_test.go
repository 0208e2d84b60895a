// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
	"lathe/lower/lowertest"
	"lathe/lower/tokens"
)

// TestFifos schedules a block with a short cut: the short cut has a FIFO of the depth that the convolutions beside it
// ask for, the slow branch has none, and the design does not stop; without the FIFO it does.
func TestFifos(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Add(op.Relu, "relu", nil, b.Conv("stem", b.Input("x", 1, 3, 8, 8), 4, 3, 1, 1, 1, true))
	y := b.Conv("second", b.Conv("first", x, 4, 3, 1, 1, 1, true), 4, 3, 1, 1, 1, true)
	g := b.Done(b.Add(op.Add, "sum", nil, y, x))
	p := DefaultPlan()
	q, _, err := Quantize(context.Background(), g, p, Calibration{})
	if err != nil {
		t.Fatal(err)
	}
	s, report, err := ScheduleWith(context.Background(), q, p, Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	var fifos []*ir.Node
	for _, n := range s.Nodes {
		if n.Op == op.Fifo {
			fifos = append(fifos, n)
		}
	}
	if len(fifos) != 1 || fifos[0].Name != "sum.fifo" || fifos[0].HW.Fifo < 18 || fifos[0].HW.Latency < 1 {
		t.Fatalf("%d FIFOs, %+v", len(fifos), fifos)
	}
	if u := report.Units[len(report.Units)-2]; u.Node != "sum.fifo" || u.Module != "stream_fifo" {
		t.Errorf("the report has %+v before the sum", u)
	}
	if err := tokens.Check(s); err != nil {
		t.Error(err)
	}
	times, err := tokens.Run(s, 4)
	if err != nil || !times.Done || times.Most[fifos[0]] >= fifos[0].HW.Fifo || int(times.II()) != report.II() {
		t.Errorf("%+v, %v; %d beats deep, a sample every %d cycles", times, err, fifos[0].HW.Fifo, report.II())
	}
	fifos[0].HW.Fifo--
	if err := tokens.Check(s); diag.CodeOf(err) != "L0720" {
		t.Errorf("one place shallower: %v", err)
	}
	s.Replace(fifos[0], fifos[0].Args[0])
	s.DropDead()
	if err := tokens.Check(s); diag.CodeOf(err) != "L0720" {
		t.Errorf("no FIFO: %v", err)
	}
	if times, err := tokens.Run(s, 4); err != nil || times.Done {
		t.Errorf("without the FIFO the design does not stop: %+v, %v", times, err)
	}
}
