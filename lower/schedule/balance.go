// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/schedule/balance"
	"lathe/lower/schedule/lanes"
	"lathe/rtl"
)

// Balance is what the balance mode aimed at and reached.
type Balance struct {
	// Part and ClockMHz are the plan's target, FPS the rate that it asks for, 0 for none.
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"`
	FPS      float64 `json:"fps,omitempty"`
	// Cycles is how many a sample takes, Reached the rate at the clock.
	Cycles  float64 `json:"cycles"`
	Reached float64 `json:"reached_fps"`
	// Bottleneck is the node that sets the pace.
	Bottleneck string `json:"bottleneck"`
	// Cost is what the whole design is predicted to take; Budget bounds it.
	Cost   rtl.Cost `json:"cost"`
	Budget Budget   `json:"budget"`
	// Stores are the weights that lie elsewhere than synthesis would put them.
	Stores []Store `json:"stores,omitempty"`
	// Proof says why it is no faster, or no smaller.
	Proof string `json:"proof"`
}

// bottleneck is the first node that takes so many cycles.
func (d *scheduled) bottleneck(ii int) (name string) {
	if d.report.Traffic() > ii {
		return memoryPort
	}
	for _, u := range d.report.Units {
		switch {
		case u.II == ii && u.Module != "":
			return u.Node
		case u.II == ii && name == "":
			name = u.Node
		}
	}
	return name
}

// balancer searches the foldings of one graph.
type balancer struct {
	ctx    context.Context
	plan   *plan.Plan
	graph  *ir.Graph
	opts   Options
	table  *lanes.Table
	budget Budget
	done   map[string]*scheduled    // by the picks: weights raised further often choose the same again
	loads  bool                     // weights may be loaded after reset although the plan does not say so
	stores map[layerMemory][]stored // what memories has found
}

// atRate is Run in the balance mode: at the rate asked for with least area, or as fast as the budget
// allows. Errors: L0455 for a rate that no folding reaches, L0456 for one that the budget does not allow, L0457 for a
// budget that no folding meets.
func atRate(ctx context.Context, g *ir.Graph, plan *plan.Plan, o Options) (*ir.Graph, *Report, error) {
	b := newBalancer(ctx, g, plan, o)
	b.budget = budgetOf(plan)
	var w *lanes.Wiring
	if plan.Fold.AutoUnroll {
		w = &lanes.Wiring{Cycles: b.limit(), Weights: b.weights()}
	}
	if err := b.try(0, w); err != nil {
		return nil, nil, err
	}
	search := b.byBudget
	if plan.Fold.FPS > 0 {
		search = b.byRate
	}
	best, proof, err := search()
	if err != nil && b.mayLoad(err) {
		b.loads = true
		clear(b.done)
		clear(b.stores)
		best, proof, err = search()
	}
	if err != nil {
		return nil, nil, err
	}
	best.report.Balance = b.describe(best, proof)
	for _, m := range b.table.Unknown {
		best.report.Warn("%s does not state what it costs: it counts as nothing", m)
	}
	return best.graph, best.report, nil
}

func newBalancer(ctx context.Context, g *ir.Graph, plan *plan.Plan, o Options) *balancer {
	return &balancer{ctx: ctx, plan: plan, graph: g, opts: o, done: map[string]*scheduled{},
		stores: map[layerMemory][]stored{}}
}

// try evaluates the foldings of the graph; those that take more cycles than a limit need not be among them.
func (b *balancer) try(limit int, w *lanes.Wiring) error {
	forked := b.graph.Clone()
	s := newStage(b.ctx, b.plan, b.opts.Units)
	if err := pass.Run(s.runner(forked, pass.Options{}), s, Pipeline.Before("choose_lanes"), forked); err != nil {
		return err
	}
	var err error
	b.table, err = lanes.TryFoldings(b.ctx, &b.plan.Fold, forked, limit, w)
	return err
}

func (b *balancer) describe(d *scheduled, proof string) *Balance {
	ii := d.report.Interval()
	return &Balance{Part: b.plan.Target.FPGA.Part, ClockMHz: b.plan.Target.ClockMHz, FPS: b.plan.Fold.FPS, Cycles: ii,
		Reached: b.rate(ii), Cost: d.cost, Budget: b.budget, Stores: b.placedStores(d), Proof: proof,
		Bottleneck: d.bottleneck(d.report.II())}
}

// rate is samples a second at an initiation interval.
func (b *balancer) rate(cycles float64) float64 { return b.plan.Target.ClockMHz * 1e6 / cycles }

// limit is the cycles that a sample may take at the rate of the plan, 0 where it asks for none.
func (b *balancer) limit() int {
	if b.plan.Fold.FPS == 0 {
		return 0
	}
	return int(math.Min(b.plan.Target.ClockMHz*1e6/b.plan.Fold.FPS*(1+1e-12), math.MaxInt32))
}

// byRate meets the rate with least area.
func (b *balancer) byRate() (*scheduled, string, error) {
	fps, limit := b.plan.Fold.FPS, b.limit()
	least, slow := balance.Fastest(b.table.Layers)
	if limit < least {
		n, room := b.table.Nodes[slow], fmt.Sprintf("leaves %s per sample", diag.Cycles(limit))
		if limit == 0 {
			room = "needs more than one sample per cycle"
		}
		e := n.Errorf(diag.UnreachableRate, "fps = %s %s at %g MHz; %s (%q) takes at least %s", plan.TOML(fps), room,
			b.plan.Target.ClockMHz, n.Op.Name, n.Name, diag.Cycles(least))
		if n.HW.Weights == "stream" {
			e = e.WithNote("its weights come through %s, %d bits a cycle", memoryPort, n.HW.Port)
		}
		return nil, "", e.WithNote("that is with %s", b.lanes(slow, least)).WithNote("set by %s", b.plan.Fold.From).
			WithHint("ask for at most fps = %s", floorRate(b.rate(float64(least))))
	}
	d, over, err := b.within(limit, least)
	if err == nil && over == "" && d.report.Interval() > float64(limit) && b.table.Unshare() {
		clear(b.done)
		d, over, err = b.within(limit, least)
	}
	if err != nil {
		return nil, "", err
	}
	if over != "" {
		e := diag.New(diag.RateOverBudget, b.graph.Name, "%s samples a second take %s", plan.TOML(fps), over).
			WithNote("set by %s", b.plan.Fold.From)
		if best, _, err := b.byBudget(); err == nil {
			ii := best.report.Interval()
			return nil, "", e.WithHint("the budget allows %s cycles a sample: fps = %s", plan.TOML(ii), floorRate(b.rate(ii)))
		}
		return nil, "", e.WithHint("no folding meets this budget at any rate: %s", b.less())
	}
	ii := d.report.II()
	if d.report.Interval() > float64(limit) {
		hint := "give lanes to that node by a [[fold.rule]], or ask for a lower rate"
		if d.bottleneck(ii) == memoryPort {
			hint = `raise axi_bits of [memory], say weights = "hold" for some layers, or ask for a lower rate`
		}
		return nil, "", diag.New(diag.UnreachableRate, b.graph.Name,
			"fps = %s leaves %s per sample; the design found takes %s, "+
				"at %q", plan.TOML(fps), diag.Cycles(limit), plan.TOML(d.report.Interval()), d.bottleneck(ii)).
			WithHint("%s", hint)
	}
	proof := "no folding is slower than this"
	for _, step := range balance.Steps(b.table.Layers) {
		if step > limit {
			proof = fmt.Sprintf("the next slower folding takes %s cycles, of which there are %s a sample", diag.Grouped(step),
				diag.Grouped(limit))
			break
		}
	}
	if float64(limit-ii) > 0.03*float64(limit) {
		proof += fmt.Sprintf("; no smaller folding was found between %s and %s cycles", diag.Grouped(ii), diag.Grouped(limit))
	}
	return d, proof, nil
}

// within is fitting, and then hurried where streams that meet hold each other up.
func (b *balancer) within(limit, least int) (*scheduled, string, error) {
	d, over, err := b.fitting(limit, false)
	if err == nil && over == "" && d.report.Interval() > float64(limit) {
		return b.hurried(d, limit, least)
	}
	return d, over, err
}

// hurried looks for a design within a limit of cycles where streams that meet hold each other up: its units must be
// faster than the limit.
func (b *balancer) hurried(d *scheduled, limit, least int) (*scheduled, string, error) {
	for aim := limit; ; {
		aim = min(aim-1, int(float64(aim)*float64(limit)/d.report.Interval()))
		if aim < least {
			return d, "", nil
		}
		next, over, err := b.fitting(aim, false)
		if err != nil || over != "" || next.report.Interval() <= float64(limit) {
			return next, over, err
		}
		d = next
	}
}

// floorRate prints a rate to three digits, rounded down so that it can be reached.
func floorRate(fps float64) string {
	scale := math.Pow(10, math.Floor(math.Log10(fps))-2)
	return plan.TOML(math.Floor(fps/scale) * scale)
}

// byBudget is as fast as the budget allows: the steps of speed are searched by estimates, and those around the best
// evaluated in full.
func (b *balancer) byBudget() (*scheduled, string, error) {
	steps := balance.Steps(b.table.Layers)
	at, _ := slices.BinarySearchFunc(steps, 0, func(step, _ int) int {
		if b.estimateFits(step) {
			return 1
		}
		return -1
	})
	at = min(at, len(steps)-1)
	best, over, err := b.fitting(steps[at], true)
	for ; err == nil && over != "" && at+1 < len(steps); best, over, err = b.fitting(steps[at], true) {
		at++
	}
	if err != nil {
		return nil, "", err
	}
	if over != "" {
		return nil, "", diag.New(diag.OverBudget, b.graph.Name, "the slowest folding takes %s", over).
			WithNote("set by %s", b.plan.Fold.From).WithHint("%s", b.less())
	}
	for ; at > 0; at-- {
		faster, over, err := b.fitting(steps[at-1], false)
		if err != nil {
			return nil, "", err
		}
		if over != "" {
			return best, fmt.Sprintf("the next faster folding, %s cycles, takes %s", diag.Grouped(steps[at-1]),
				over), nil
		}
		best = faster
	}
	least, slow := balance.Fastest(b.table.Layers)
	return best, fmt.Sprintf("no folding is faster: %s takes %s cycles with %s", b.table.Nodes[slow].Name,
		diag.Grouped(least),
		b.lanes(slow, least)), nil
}

// lanes names the folding with which a layer takes the given cycles.
func (b *balancer) lanes(layer, cycles int) string {
	for _, o := range b.table.Layers[layer].Options {
		if o.II == cycles {
			return fmt.Sprintf("in_lanes %d, out_lanes %d", o.In, o.Asked)
		}
	}
	return "its lanes"
}

// boosts bounds how often the weight of what is over budget is raised.
const boosts = 5

// estimateFits says whether some weighing meets the budget, by the sum over layers.
func (b *balancer) estimateFits(cycles int) bool {
	w := b.weights()
	for range boosts {
		picks, cost := balance.Choose(b.table.Layers, cycles, w)
		over := b.over(cost)
		if over == nil || b.moved(b.table.Foldings(picks), cost, 1) != nil {
			return true
		}
		w = raised(w, over)
	}
	return false
}

// fitting schedules the graph at a rate. over says what the first choice takes beyond the budget; "" if one fits. With
// bound, that may be without its FIFOs, which saves a run of beats.
func (b *balancer) fitting(cycles int, bound bool) (best *scheduled, over string, err error) {
	w := b.weights()
	var first []int
	for try := range boosts {
		picks, _ := balance.Choose(b.table.Layers, cycles, w)
		d, err := b.schedule(picks, true)
		if err != nil {
			return nil, "", err
		}
		excesses := b.over(d.cost)
		if excesses == nil {
			return d, "", nil
		}
		if try == 0 {
			best, first = d, picks
		}
		w = raised(w, excesses)
	}
	if best.graph == nil && !bound {
		if best, err = b.schedule(first, false); err != nil {
			return nil, "", err
		}
	}
	if over = strings.Join(b.overTexts(b.over(best.cost)), " and "); best.graph == nil {
		over = "at least " + over
	}
	return best, over, nil
}

// memoryPort names the port where it sets the pace.
const memoryPort = "the memory port"
