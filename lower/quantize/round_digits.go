// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/plan"
	"lathe/lower/quantize/fit"
)

// digits rounds the weights of n, which m is in the float graph: groups of output channels are layers. The bias takes
// the mean of what rounding loses.
func (r *rounder) digits(m, n *ir.Node, layers []*fit.Layer) error {
	b := n.Args[1]
	centered := biased(m) && biased(n) && n.Args[2].Type.Elems() == channelsOf(n) && readersOf(r.graph, n.Args[2]) == 1 &&
		!n.Args[2].Type.InBlocks()
	cost := fit.Costs(layers[0].Grid.Values, r.state.Plan.Fold.Unrolls(n))
	var codes []int64
	var moved []float64
	for _, l := range layers {
		if centered {
			l.Center()
		}
		for _, k := range l.Nearest() {
			r.plain += cost[k]
		}
		at := l.Digits(fit.Price{Each: r.price, Cost: cost})
		for _, k := range at {
			codes, r.cost = append(codes, l.Grid.Codes[k]), r.cost+cost[k]
		}
		moved = append(moved, l.Offsets(at)...)
	}
	b.Attrs = ir.Computed(ir.CodeBlob(codes), b)
	if !centered {
		return nil
	}
	offset, err := offsets(m)
	if err != nil {
		return err
	}
	for c := range moved {
		moved[c] += float64(offset[c])
	}
	n.Args[2].Attrs = ir.Computed(ir.CodeBlob(biasCodes(n.Args[2], moved)), n.Args[2])
	return nil
}

const (
	// keptDecibels is what the outputs keep, at least, where the plan names no price; of what keeps less before, all.
	keptDecibels = 24
	// lostDecibels is where a price is refused: the error of the outputs is half of their power.
	lostDecibels = 3
)

// digitPrices are those that are tried, the lowest first.
var digitPrices = []float64{1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2}

// A priced is what came of a price.
type priced struct {
	price   float64
	rounder rounder
	after   []any // of the nodes
	quality
}

// String is a line of the front.
func (p *priced) String() string {
	text := fmt.Sprintf("%s: %.0f digits, %.1f dB", plan.TOML(p.price), p.rounder.cost, p.sqnr)
	if p.right != nil {
		text += fmt.Sprintf(", accuracy %.4f", *p.right)
	}
	return text
}

// digitRounding tries prices on one graph.
type digitRounding struct {
	state  *stage
	graph  *ir.Graph
	gain   *gain
	before []any // of the nodes
	tried  map[float64]*priced
}

// roundDigits rounds weights with the price that the plan names, or with the highest of digitPrices with which the
// outputs keep enough.
func roundDigits(s *stage, g *ir.Graph, gain *gain) error {
	d := digitRounding{state: s, graph: g, gain: gain, before: attrsOf(g), tried: map[float64]*priced{}}
	given := s.Plan.Quantize.DigitPrice
	if given == nil {
		best, err := d.highest()
		if err != nil {
			return err
		}
		given = &best
	}
	p, err := d.try(*given)
	if err != nil {
		return err
	}
	if s.Plan.Quantize.DigitPrice != nil && p.sqnr < min(lostDecibels, gain.before.sqnr) {
		return d.refuse(p)
	}
	p.rounder.tellLeft()
	done := fmt.Sprintf("weights of %s are rounded by digits, at a price of %s: %.0f digits in place of %.0f",
		diag.Amount(p.rounder.done, "layer"), plan.TOML(p.price), p.rounder.cost, p.rounder.plain)
	s.Report.Note("%s", gainText(done, gain.before, p.quality, len(gain.samples)))
	return nil
}

// highest is the highest price with which the outputs keep enough; the lowest where none does. That more is lost at a
// higher price is taken for granted.
func (d *digitRounding) highest() (float64, error) {
	var failed error
	above := sort.Search(len(digitPrices), func(i int) bool {
		if failed != nil {
			return true
		}
		p, err := d.try(digitPrices[i])
		if err != nil {
			failed = err
			return true
		}
		return !d.keeps(p)
	})
	return digitPrices[max(above-1, 0)], failed
}

// keeps says that as many answers are right as before, or where that is not known that the outputs are close enough.
func (d *digitRounding) keeps(p *priced) bool {
	if before := d.gain.before.right; before != nil && p.right != nil {
		return *p.right >= *before
	}
	return p.sqnr >= min(keptDecibels, d.gain.before.sqnr)
}

// try has the weights rounded at a price, once.
func (d *digitRounding) try(price float64) (*priced, error) {
	if p := d.tried[price]; p != nil {
		d.set(p.after)
		return p, nil
	}
	d.set(d.before)
	p := &priced{price: price, rounder: rounder{state: d.state, graph: d.graph, way: plan.RoundDigits, price: price}}
	err := p.rounder.layers(d.gain.samples)
	if err == nil {
		p.quality, err = d.state.quality(d.gain.want, d.graph, d.gain.samples)
	}
	if err != nil {
		return nil, err
	}
	p.after = attrsOf(d.graph)
	d.tried[price] = p
	return p, nil
}

// attrsOf are those of the nodes.
func attrsOf(g *ir.Graph) (all []any) {
	for _, n := range g.Nodes {
		all = append(all, n.Attrs)
	}
	return all
}

// set gives the nodes attributes that they had.
func (d *digitRounding) set(all []any) {
	for i, n := range d.graph.Nodes {
		n.Attrs = all[i]
	}
}

// refuse says that nothing is left of the outputs at a price, and what others leave.
func (d *digitRounding) refuse(lost *priced) error {
	best, err := d.highest()
	if err != nil {
		return err
	}
	var front []string
	for _, price := range slices.Sorted(maps.Keys(d.tried)) {
		front = append(front, d.tried[price].String())
	}
	return diag.New(diag.DigitPrice, d.graph.Name, "digit_price = %s leaves an SQNR of %.1f dB of the outputs",
		plan.TOML(lost.price), lost.sqnr).
		WithNote("prices: %s", strings.Join(front, "; ")).
		WithHint("digit_price = %s keeps enough; without a price the highest that does is searched", plan.TOML(best))
}
