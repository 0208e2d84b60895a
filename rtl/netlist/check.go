// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"cmp"
	"fmt"
	"slices"

	"lathe/internal/diag"
)

// Signature gives the ports of a module under parameters.
type Signature func(module string, params []Param) ([]Port, error)

// Check demands that m fits together: names are declared once, widths meet, instances have the ports that are bound and
// no other inputs, and every bit of every wire and output is driven once. Error L0623, all faults at once, and what
// ports returns.
func (m *Module) Check(ports Signature) error {
	c := &checker{m: m, widths: make(map[string]int, len(m.Items)), driven: make(map[string][]bits, len(m.Items)),
		instances: map[string]bool{}}
	for _, p := range m.Ports {
		c.declare("port", p.Name, p.Width)
		if !p.Output {
			c.driven[p.Name] = []bits{{max(p.Width, 1) - 1, 0}}
		}
	}
	for _, item := range m.Items { // wires may be used before they are declared
		if w, ok := item.(Wire); ok {
			c.declare("wire", w.Name, w.Width)
		}
	}
	for _, item := range m.Items {
		if err := c.item(item, ports); err != nil {
			return err
		}
	}
	for _, name := range c.order {
		c.drivers(name)
	}
	return c.errs.Err()
}

// bits are those from high to low, both included.
type bits struct{ high, low int }

type checker struct {
	m         *Module
	widths    map[string]int
	order     []string // of widths
	driven    map[string][]bits
	instances map[string]bool
	errs      diag.List
}

func (c *checker) fail(format string, args ...any) {
	c.errs = append(c.errs, diag.New(diag.ModuleFault, "", "module %s: %s", c.m.Name, fmt.Sprintf(format, args...)))
}

// named demands that a name is an identifier.
func (c *checker) named(kind, name string) {
	if !identifier.MatchString(name) || Keyword(name) {
		c.fail("%s %q has no name that Verilog takes", kind, name)
	}
}

func (c *checker) declare(kind, name string, width int) {
	c.named(kind, name)
	if _, twice := c.widths[name]; twice {
		c.fail("%s %s is declared twice", kind, name)
	}
	c.widths[name] = max(width, 1)
	c.order = append(c.order, name)
}

func (c *checker) item(item Item, ports Signature) error {
	switch x := item.(type) {
	case Wire:
		if x.Value != nil {
			c.meet("wire "+x.Name, c.widths[x.Name], x.Value)
			c.drive("wire "+x.Name, Ref(x.Name))
		}
	case Assign:
		where := "an assignment"
		if name, _, ok := target(x.To); ok {
			where = "the assignment to " + name
		}
		c.meet(where, c.width(where, x.To), x.From)
		c.drive(where, x.To)
	case Text:
		for _, name := range x.Drives {
			c.width("text", Ref(name))
			c.drive("text", Ref(name))
		}
	case *Instance:
		return c.instance(x, ports)
	}
	return nil
}

func (c *checker) instance(in *Instance, ports Signature) error {
	c.named("instance", in.Name)
	if _, wire := c.widths[in.Name]; wire || c.instances[in.Name] {
		c.fail("instance %s has a name that is taken", in.Name)
	}
	c.instances[in.Name] = true
	signature, err := ports(in.Module, in.Params)
	if err != nil {
		return fmt.Errorf("module %s, instance %s: %w", c.m.Name, in.Name, err)
	}
	bound := make(map[string]Expr, len(in.Ports))
	for _, b := range in.Ports {
		if _, twice := bound[b.Port]; twice {
			c.fail("instance %s binds port %s twice", in.Name, b.Port)
		}
		bound[b.Port] = b.To
	}
	for _, p := range signature {
		to, ok := bound[p.Name]
		if !ok {
			c.fail("instance %s leaves port %s of %s open", in.Name, p.Name, in.Module)
			continue
		}
		delete(bound, p.Name)
		where := fmt.Sprintf("instance %s, port %s", in.Name, p.Name)
		c.meet(where, max(p.Width, 1), to)
		if p.Output {
			c.drive(where, to)
		}
	}
	for _, b := range in.Ports {
		if _, unknown := bound[b.Port]; unknown {
			c.fail("instance %s: %s has no port %s", in.Name, in.Module, b.Port)
		}
	}
	return nil
}

// meet demands that e has the width of what it goes to.
func (c *checker) meet(where string, want int, e Expr) {
	if have := c.width(where, e); have > 0 && want > 0 && have != want {
		c.fail("%s: %d bits are bound to %d", where, want, have)
	}
}

// width is the number of bits of e; 0 where it has a fault of its own.
func (c *checker) width(where string, e Expr) int {
	switch x := e.(type) {
	case Const:
		if x.Width < 1 || x.Width < 64 && x.Value>>x.Width != 0 {
			c.fail("%s: %d has no %d bits", where, x.Value, x.Width)
		}
		return x.Width
	case Zeros:
		return int(x)
	case Concat:
		sum := 0
		for _, part := range x {
			w := c.width(where, part)
			if w == 0 {
				return 0
			}
			sum += w
		}
		return sum
	case Not:
		c.meet(where, 1, x.X)
		return 1
	case All:
		c.width(where, x.X)
		return 1
	}
	name, at, _ := target(e)
	all, known := c.widths[name]
	switch {
	case !known:
		c.fail("%s: unknown wire %q", where, name)
		return 0
	case at == nil:
		return all
	case at.low < 0 || at.high < at.low || at.high >= all:
		c.fail("%s: bits %d to %d of %s, which has %d", where, at.high, at.low, name, all)
		return 0
	}
	return at.high - at.low + 1
}

// target is the wire that e is, and which bits of it; nil for all.
func target(e Expr) (name string, at *bits, ok bool) {
	switch x := e.(type) {
	case Ref:
		return string(x), nil, true
	case Bit:
		return x.Of, &bits{x.At, x.At}, true
	case Slice:
		return x.Of, &bits{x.High, x.Low}, true
	}
	return "", nil, false
}

func (c *checker) drive(where string, to Expr) {
	name, at, ok := target(to)
	if !ok {
		c.fail("%s drives something that is not a wire", where)
		return
	}
	if at == nil {
		at = &bits{c.widths[name] - 1, 0}
	}
	c.driven[name] = append(c.driven[name], *at)
}

// drivers demands that every bit of a wire is driven once.
func (c *checker) drivers(name string) {
	list := c.driven[name]
	slices.SortFunc(list, func(a, b bits) int { return cmp.Compare(a.low, b.low) })
	next := 0
	for _, d := range list {
		switch {
		case d.low < next:
			c.fail("bit %d of %s is driven twice", d.low, name)
			return
		case d.low > next:
			c.fail("bit %d of %s is not driven", next, name)
			return
		}
		next = d.high + 1
	}
	if next < c.widths[name] {
		c.fail("bit %d of %s is not driven", next, name)
	}
}
