// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"fmt"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/column"
)

// plan is what a quantized layer computes with: the formats of all values within a step, of which those without a
// rounding hold every value.
type plan struct {
	gate, cell, out format.Fixed
	h               format.Fixed // what products read: out, unless rows show cells too
	sigmoid, tanh   format.Fixed
	x, r, b         format.Fixed // of the arguments; b is that of a bias of zeros where there is none
	product         format.Fixed // r*h
	biased          format.Fixed // and a bias
	sum             format.Fixed // x + r*h, or whatever of these is finest
	kept, both      format.Fixed // products of a gate and the state, of a gate and a candidate
	reset           format.Fixed
	change, moved   format.Fixed
	weights, bias   []int64
}

// mostGate and mostCell bound formats within a layer, mostBits exact values, and mostShift what arguments are finer
// than products of weights.
const (
	mostGate  = 16
	mostCell  = 32
	mostBits  = 60
	mostShift = 16
)

// planned is the plan of a quantized n. Errors say what has no integer form.
func (k *kind) planned(n *ir.Node) (*plan, error) {
	if err := column.Plain(n); err != nil {
		return nil, err
	}
	p := &plan{b: format.Fixed{W: 1, Signed: true}}
	for i, a := range n.Args {
		to, ok := new(format.Fixed), false
		if i < k.first {
			to = []*format.Fixed{&p.x, &p.r, &p.b}[i]
		}
		if *to, ok = format.AsFixed(a.Type.Format); !ok || a.IsConst() != (i > 0) {
			return nil, fmt.Errorf("%s takes fixed values, constant weights and bias; %q is %s", n.Op.Name, a.Name,
				a.Type.Format)
		}
	}
	var ok bool
	if p.out, ok = format.AsFixed(n.Type.Format); !ok {
		return nil, fmt.Errorf("%s makes fixed values, not %s", n.Op.Name, n.Type.Format)
	}
	if err := p.inner(n, k); err != nil {
		return nil, err
	}
	if err := p.constants(n, k); err != nil {
		return nil, err
	}
	return p, p.widths(n)
}

// inner reads the formats that attributes name.
func (p *plan) inner(n *ir.Node, k *kind) error {
	a := n.Attrs.(*Attrs)
	var err error
	if !a.Relu {
		if p.gate, err = inside(n, "gates", a.Gate, mostGate); err != nil {
			return err
		}
	}
	w := p.gate.W
	p.sigmoid, p.tanh = format.Fixed{W: w, F: w}, format.Fixed{W: w, F: w - 1, Signed: true}
	if k.cell {
		if p.cell, err = inside(n, "the state", a.Cell, mostCell); err != nil {
			return err
		}
	}
	if p.h = p.out; !a.Cells {
		return nil
	}
	if p.h, err = inside(n, "results", a.Hidden, mostCell); err != nil {
		return err
	}
	if p.out != p.cell || p.h.F > p.cell.F || p.h.W-p.h.F > p.cell.W-p.cell.F {
		return fmt.Errorf("rows of h in %s and c in %s: %s, of both, must be the latter, and hold the former", p.h, p.cell,
			p.out)
	}
	return nil
}

// inside reads the format of a value within a layer.
func inside(n *ir.Node, what, text string, most int) (format.Fixed, error) {
	f, err := format.Parse(text)
	if err != nil {
		return format.Fixed{}, fmt.Errorf("the format %q of %s: %s", text, what, err)
	}
	fx, ok := format.AsFixed(f)
	if !ok || !fx.Signed || fx.Round != format.RoundEven || fx.Over != format.Sat || fx.W < 2 || fx.W > most {
		return fx, fmt.Errorf("%s of %s: fixed(W,F) of 2 to %d bits, which rounds to even and saturates, not %s", what,
			n.Op.Name, most, text)
	}
	return fx, nil
}

// constants reads the codes of weights and bias.
func (p *plan) constants(n *ir.Node, k *kind) error {
	for i, to := range []*[]int64{&p.weights, &p.bias} {
		if i+1 >= min(len(n.Args), k.first) {
			break
		}
		l, err := arith.ConstLattice(n, i+1)
		if err != nil {
			return err
		}
		*to = l.Ints
	}
	return nil
}

// widths finds what exact values need, of the actual weights.
func (p *plan) widths(n *ir.Node) error {
	size := hidden(n)
	lo, hi := p.h.Min(), p.h.Max()
	least, most := new(big.Int), new(big.Int)
	for row := 0; row < len(p.weights); row += size {
		pos, neg := format.SignedSums(p.weights[row : row+size])
		from, to := format.SumRange(pos, neg, lo, hi)
		least, most = lower(least, from), higher(most, to)
	}
	p.product = format.Fixed{W: format.SignedBits(least, most), F: p.r.F + p.h.F, Signed: true}
	p.biased = p.product
	if p.bias != nil {
		p.biased = added(p.product, p.b)
	}
	p.sum = added(p.biased, p.x)
	w := p.gate.W
	p.kept = format.Fixed{W: w + p.cell.W, F: w + p.cell.F, Signed: true}
	p.both = format.Fixed{W: 2 * w, F: 2*w - 1, Signed: true}
	p.reset = format.Fixed{W: w + p.biased.W, F: w + p.biased.F, Signed: true}
	p.change = added(p.cell, p.tanh)
	p.moved = format.Fixed{W: w + p.change.W, F: w + p.change.F, Signed: true}
	for _, f := range []format.Fixed{p.sum, added(p.reset, p.x), added(p.kept, p.both), added(p.moved, p.tanh)} {
		if f.W > mostBits {
			return fmt.Errorf("%s of %s, weights %s and results %s needs sums of %d bits; at most %d are possible", n.Op.Name,
				p.x, p.r, p.h, f.W, mostBits)
		}
	}
	if up := p.sum.F - p.product.F; up > mostShift {
		return fmt.Errorf("%s has %d fraction bits more than products of %s and %s; at most %d are possible", p.x, up, p.r,
			p.h, mostShift)
	}
	return nil
}

// added holds every sum of values of both formats, and each by itself.
func added(a, b format.Fixed) format.Fixed {
	frac := max(a.F, b.F)
	wide := func(f format.Fixed) int {
		if !f.Signed {
			f.W++
		}
		return f.W + frac - f.F
	}
	return format.Fixed{W: max(wide(a), wide(b)) + 1, F: frac, Signed: true}
}

func lower(a, b *big.Int) *big.Int {
	if b.Cmp(a) < 0 {
		return b
	}
	return a
}

func higher(a, b *big.Int) *big.Int {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

// legal says what keeps n from being built.
func (k *kind) legal(n *ir.Node) error {
	_, err := k.planned(n)
	return err
}
