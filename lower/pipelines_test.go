// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
	"lathe/lower/simplify"
)

// TestOrders holds the pipelines, one after the other, to the reasons for their order.
func TestOrders(t *testing.T) {
	checkOrders(t, slices.Concat(FloatPipeline, QuantizePipeline, SchedulePipeline), Orders)
	checkOrders(t, RecognizePipeline, RecognizeOrders)
	checkOrders(t, KernelPipeline, KernelOrders)
}

func checkOrders(t *testing.T, all Pipeline, orders []Order) {
	t.Helper()
	var names []string
	for _, p := range all {
		if p.Doc == "" || slices.Contains(names, p.Name) {
			t.Errorf("pass %s has no description or stands twice", p.Name)
		}
		names = append(names, p.Name)
	}
	for _, o := range orders {
		before, after := slices.Index(names, o.Before), slices.Index(names, o.After)
		if before < 0 || after < 0 || before >= after || o.Why == "" {
			t.Errorf("%s at %d must stand before %s at %d: %s", o.Before, before, o.After, after, o.Why)
		}
	}
	for _, p := range names {
		if !slices.ContainsFunc(orders, func(o Order) bool { return o.Before == p || o.After == p }) {
			t.Errorf("nothing says why %s stands where it does", p)
		}
	}
}

// TestManagerNamesThePass runs passes that break their promises: the manager must find each and name it.
func TestManagerNamesThePass(t *testing.T) {
	scale := func(by float32) func(*State, *ir.Graph) error {
		return func(_ *State, g *ir.Graph) error {
			fc := g.Find("fc1")
			w, err := fc.Args[1].Value()
			if err != nil {
				return err
			}
			values := slices.Clone(w.Floats)
			for i := range values {
				values[i] *= by
			}
			simplify.SetConst(g, fc, 1, w.Type.Shape, values)
			return nil
		}
	}
	for _, c := range []struct {
		pass Pass
		part string
	}{
		{Pass{Name: "good", Effect: Annotate, Run: func(_ *State, g *ir.Graph) error {
			g.Nodes[0].HW.InLanes = 3
			return nil
		}}, ""},
		{Pass{Name: "good", Effect: Lossy, Bound: 0.1, Run: scale(1.0001)}, ""},
		{Pass{Name: "exact", Effect: Exact, Run: scale(1.0001)}, "pass exact promises the same values"},
		{Pass{Name: "bounded", Effect: Lossy, Bound: 1e-6, Run: scale(1.0001)}, `pass bounded changes output "y0"`},
		{Pass{Name: "notes", Effect: Annotate, Run: scale(1.0001)},
			`pass notes promises to annotate, but changes the operation of node "const"`},
		{Pass{Name: "renames", Effect: Annotate, Run: func(_ *State, g *ir.Graph) error {
			g.Find("relu").Name = "r"
			return nil
		}}, `changes node "relu", which is gone`},
		{Pass{Name: "rewires", Effect: Annotate, Run: func(_ *State, g *ir.Graph) error {
			g.Find("fc2").Args[0] = g.Find("fc1")
			return nil
		}}, `changes the arguments of node "fc2"`},
		{Pass{Name: "breaks", Effect: Exact, Run: func(_ *State, g *ir.Graph) error {
			g.Find("relu").Type = ir.Float(7)
			return nil
		}}, "pass breaks leaves a graph that breaks the rules"},
	} {
		g := network(t)
		s := &State{Plan: DefaultPlan(), Report: &Report{}}
		r := newRunner(context.Background(), g, s, Options{Verify: true})
		err := r.run(s, Pipeline{c.pass}, g)
		switch {
		case c.part == "" && err != nil:
			t.Errorf("%s: %v", c.pass.Name, err)
		case c.part != "" && (diag.CodeOf(err) != "L0405" || !strings.Contains(err.Error(), c.part)):
			t.Errorf("%s: %v, want %q", c.pass.Name, err, c.part)
		}
	}
}

// TestExactKeepsFormats meets a pass that leaves all codes and values as they are, in another format.
func TestExactKeepsFormats(t *testing.T) {
	wider := Pass{Name: "wider", Effect: Exact, Run: func(_ *State, g *ir.Graph) error {
		n := g.Out[0].Node
		f := n.Type.Format.(format.Fixed)
		f.W++
		n.Type.Format = f
		return nil
	}}
	for _, effect := range []Effect{Exact, Lossy} {
		wider.Effect = effect
		g, _ := mustQuantize(t, network(t), "", Calibration{})
		s := &State{Plan: DefaultPlan(), Report: &Report{}}
		r := newRunner(context.Background(), g, s, Options{Verify: true})
		err := r.run(s, Pipeline{wider}, g)
		want := `pass wider promises the same values, but changes the format of output "y0" from fixed(8,5) to fixed(9,5)`
		switch {
		case effect == Lossy && (err != nil || s.Report.Passes[0].Loss.Same || s.Report.Passes[0].Loss.MaxErr != 0):
			t.Errorf("lossy: %v, %+v", err, s.Report.Passes)
		case effect == Exact && (diag.CodeOf(err) != "L0405" || !strings.Contains(err.Error(), want)):
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestRunOptions(t *testing.T) {
	var dumped []string
	ticks := time.Duration(0)
	o := Options{
		DumpAfter: func(pass string, _ *ir.Graph) { dumped = append(dumped, pass) },
		Clock:     func() time.Duration { ticks += time.Second; return ticks },
	}
	_, r, err := QuantizeWith(context.Background(), network(t), DefaultPlan(), Calibration{}, o)
	if err != nil {
		t.Fatal(err)
	}
	last := len(FloatPipeline) + len(QuantizePipeline) - 1
	if len(dumped) != last+1 || dumped[0] != "compute_constants" || dumped[last] != "measure_error" {
		t.Errorf("dumped %v", dumped)
	}
	if r.Passes[0].Time != time.Second || r.Passes[0].Verified {
		t.Errorf("%+v", r.Passes[0])
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Quantize(ctx, network(t), DefaultPlan(), Calibration{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestPermute moves arrays between the layout of the caller and that of the graph, codes included.
func TestPermute(t *testing.T) {
	x := ir.NewTensor(ir.Type{Shape: []int{1, 2, 3}, Format: format.Fixed{W: 8, Signed: true}})
	for i := range x.Codes {
		x.Codes[i] = int64(i)
	}
	y := permute(x, []int{2, 0, 1})
	if !slices.Equal(y.Type.Shape, []int{3, 1, 2}) || !slices.Equal(y.Codes, []int64{0, 3, 1, 4, 2, 5}) {
		t.Errorf("%v %v", y.Type, y.Codes)
	}
	if z := permute(y, []int{1, 2, 0}); !slices.Equal(z.Codes, x.Codes) {
		t.Errorf("back: %v", z.Codes)
	}
}

// TestCallerLayout evaluates a channels-last graph on channels-first arrays.
func TestCallerLayout(t *testing.T) {
	b := lowertest.New(t, 3)
	x := b.Input("x", 1, 2, 3, 4)
	g := b.Done(b.Add(pointwise.Relu, "r", nil, b.Conv("c", x, 2, 1, 1, 0, 1, true)))
	low, err := Simplify(context.Background(), g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := low.In[0].Attrs.(*ir.Input).Perm; !slices.Equal(p, []int{0, 2, 3, 1}) {
		t.Fatalf("input perm %v", p)
	}
	for _, s := range callerLayout(low, random(low, DefaultPlan(), 1, 2)) {
		if !slices.Equal(s[0].Type.Shape, x.Type.Shape) {
			t.Errorf("sample of shape %v", s[0].Type.Shape)
		}
	}
}
