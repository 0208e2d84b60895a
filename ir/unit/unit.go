// SPDX-License-Identifier: Apache-2.0

// Package unit plans the units of nodes, each once, for all who want to know of them.
package unit

import (
	"reflect"
	"slices"
	"sync"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/target"
	"lathe/rtl"
)

// Cache plans the unit of each node once for each hardware that the node is given, for as long as a graph is scheduled
// or emitted: lanes are weighed, cycles counted, FIFOs sized and text printed from the same plan. The zero value is
// ready, and safe for concurrent use.
//
// A node is known by its name, and its plan is taken again where everything that the RTL column may read is as it was:
// operation, attributes, types, hardware, constants, and what feeds it. Copies of one graph therefore share plans.
type Cache struct {
	// Part is the FPGA for which cells are predicted, set before the first use; nil: UltraScale+.
	Part *target.Device
	// Forms chooses the form of the products of a node that has none yet, by units of this cache, set before the first
	// use; nil: the plainest.
	Forms func(c *Cache, n *ir.Node) (ir.Products, error)

	mu    sync.Mutex
	known map[key][]*planned
}

type key struct {
	name string
	op   *ir.Op
	hw   ir.HW
}

// planned is a unit, and what was asked of it so far.
type planned struct {
	from *ir.Node // a copy: what the plan was made from

	once sync.Once
	as   *planned // the plan of the node with the chosen form of its products; nil: this one
	form ir.Products
	unit *rtl.Unit
	err  error

	weigh    sync.Once
	facts    rtl.Facts
	factsErr error

	move      sync.Once
	motion    Motion
	motionErr error
}

// Of is the unit of n, which nobody may change; nil where the operation has none. Errors are those of the RTL column.
func (c *Cache) Of(n *ir.Node) (*rtl.Unit, error) {
	p := c.plan(n)
	return p.unit, p.err
}

// Form is the form of the products of n: that which it has, else the chosen one.
func (c *Cache) Form(n *ir.Node) (ir.Products, error) {
	p := c.plan(n)
	return p.form, p.err
}

// Facts are those of the unit of n; zero where there is none.
func (c *Cache) Facts(n *ir.Node) (rtl.Facts, error) {
	p := c.plan(n)
	if p.err != nil || p.unit == nil {
		return rtl.Facts{}, p.err
	}
	p.weigh.Do(func() { p.facts, p.factsErr = p.unit.Facts(c.Part.Technology()) })
	return p.facts, p.factsErr
}

// Motion is how beats move through the unit of n; a wire where there is none.
func (c *Cache) Motion(n *ir.Node) (Motion, error) {
	p := c.plan(n)
	if p.err != nil || p.unit == nil {
		return Motion{}, p.err
	}
	p.move.Do(func() { p.motion, p.motionErr = motionOf(p.unit) })
	return p.motion, p.motionErr
}

// Motion is what the headers of a unit's modules say of its beats: see Flow, Front and Turns of rtl.Unit.
type Motion struct {
	Flow  rtl.Flow
	Front int
	Turns []int
}

func motionOf(u *rtl.Unit) (m Motion, err error) {
	if m.Flow, err = u.Flow(); err != nil {
		return m, err
	}
	if m.Front, err = u.Front(); err != nil {
		return m, err
	}
	m.Turns, err = u.Turns()
	return m, err
}

// plan finds the plan of n, or makes it.
func (c *Cache) plan(n *ir.Node) *planned {
	p := c.find(n)
	p.once.Do(func() {
		if c.Forms != nil && n.HW.Products == (ir.Products{}) {
			decided := *n
			if decided.HW.Products, p.err = c.Forms(c, n); p.err == nil && decided.HW.Products != (ir.Products{}) {
				p.as = c.plan(&decided) // as which it was weighed, and will be asked for
				return
			}
		}
		p.form = n.HW.Products
		if n.Op.RTL != nil && p.err == nil {
			p.unit, p.err = unitOf(n)
		}
		if turns := len(n.InTurns()); turns > 1 && p.err == nil && !inSets(p.unit) {
			p.unit, p.err = nil, n.Errorf(diag.NothingToShare,
				"%s (node %q) has other constants in each of %d layers, and no unit in this "+
					"version that they can share", n.Op.Name, n.Name, turns).WithHint("take layers = \"loop\" out of the plan")
		}
	})
	if p.as != nil {
		return p.as
	}
	return p
}

// inSets says that the memories of a unit hold the constants of several layers.
func inSets(u *rtl.Unit) bool {
	return slices.ContainsFunc(u.Params, func(p rtl.Param) bool { return p.Name == "SETS" })
}

// unitOf is the unit of the RTL column, with its weights, or its keys and values, where the schedule wants them:
// outside, if they can be there.
func unitOf(n *ir.Node) (*rtl.Unit, error) {
	u, err := n.Op.RTL(n)
	if err == nil && n.HW.Lines != "" && u.Body == nil {
		u.With("LINE_STYLE", n.HW.Lines)
	}
	if err == nil && n.HW.Cache != "" {
		if fed, err := u.Outside(n.HW.Port, n.HW.Burst); fed != nil || err != nil {
			return fed, err
		}
	}
	if err != nil || n.HW.Weights == "" || !u.CanFeed() {
		return u, err
	}
	fed, err := u.Feed(n.HW.Weights, n.HW.Port, n.HW.Burst)
	if err == nil && n.HW.Ram != "" && fed.Weights.Loaded() {
		fed.Weights.Style = n.HW.Ram
	}
	return fed, err
}

// keyOf is the key of n.
func keyOf(n *ir.Node) key {
	k := key{n.Name, n.Op, n.HW}
	k.hw.II, k.hw.Latency = 0, 0 // which follow from the plan
	return k
}

func (c *Cache) find(n *ir.Node) *planned {
	k := keyOf(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.known[k] {
		if samePlan(p.from, n) {
			return p
		}
	}
	if c.known == nil {
		c.known = map[key][]*planned{}
	}
	from := *n
	from.Attrs, from.Args = ir.CloneAttrs(n.Attrs), slices.Clone(n.Args)
	p := &planned{from: &from}
	c.known[k] = append(c.known[k], p)
	return p
}

// samePlan says that a and b, of one name, operation and hardware, have the same unit.
func samePlan(a, b *ir.Node) bool {
	return reflect.DeepEqual(a.Attrs, b.Attrs) && reflect.DeepEqual(a.Type, b.Type) &&
		slices.EqualFunc(a.Args, b.Args, func(x, y *ir.Node) bool { return x == y || sameOperand(x, y) })
}

// sameOperand compares two arguments: constants are the same where they share their data, values where one node
// computes them, whatever forks and adapters are on the way.
func sameOperand(x, y *ir.Node) bool {
	if !reflect.DeepEqual(x.Type, y.Type) || x.IsConst() != y.IsConst() {
		return false
	}
	if x.IsConst() {
		a, b := x.Attrs.(*ir.Const), y.Attrs.(*ir.Const)
		return a.Data == b.Data && slices.EqualFunc(a.Turns, b.Turns, sameOperand)
	}
	return unchanged(x).Name == unchanged(y).Name
}

// unchanged is the node from which x has its type.
func unchanged(x *ir.Node) *ir.Node {
	for len(x.Args) == 1 && reflect.DeepEqual(x.Args[0].Type, x.Type) {
		x = x.Args[0]
	}
	return x
}
