// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"fmt"
	"strings"

	"lathe/internal/diag"
	"lathe/rtl/netlist"
)

// Signature is the ports of a library module under parameters; it is what netlists are checked with. Errors as Lookup,
// Values and Eval.
func Signature(module string, params []Param) ([]netlist.Port, error) {
	h, err := Lookup(module)
	if err != nil {
		return nil, err
	}
	values, err := h.Values(params)
	if err != nil {
		return nil, err
	}
	ports := make([]netlist.Port, len(h.Ports))
	for i, p := range h.Ports {
		width := 0
		if p.Msb != "" {
			if width, err = h.Width(p.Name, values); err != nil {
				return nil, err
			}
		}
		ports[i] = netlist.Port{Name: p.Name, Output: p.Output, Width: width}
	}
	return ports, nil
}

// leaves looks up what the instances of a netlist are, each module and parameters once.
type leaves struct {
	ports map[string][]netlist.Port
	facts map[string]Facts
}

func leafKey(module string, params []Param) string { return fmt.Sprintf("%s%q", module, params) }

func (l *leaves) signature(module string, params []Param) ([]netlist.Port, error) {
	key := leafKey(module, params)
	if ports, ok := l.ports[key]; ok {
		return ports, nil
	}
	ports, err := Signature(module, params)
	l.ports[key] = ports
	return ports, err
}

func (l *leaves) factsOf(in *netlist.Instance) (Facts, error) {
	key := leafKey(in.Module, in.Params)
	if f, ok := l.facts[key]; ok {
		return f, nil
	}
	f, err := moduleFacts(in.Module, in.Params)
	l.facts[key] = f
	return f, err
}

// bodyFacts checks a body and sums what it takes: cells of all leaves, the initiation interval of the slowest, and the
// latency of the longest path from an input to an output.
func bodyFacts(m *netlist.Module) (sum Facts, err error) {
	l := &leaves{ports: map[string][]netlist.Port{}, facts: map[string]Facts{}}
	if err := m.Check(l.signature); err != nil {
		return sum, err
	}
	sum.Costed, sum.II = true, 1
	for _, in := range m.Instances() {
		f, err := l.factsOf(in)
		if err != nil {
			return sum, err
		}
		sum.Cost, sum.Costed, sum.II = sum.Cost.Add(f.Cost), sum.Costed && f.Costed, max(sum.II, f.II)
	}
	if !sum.Costed {
		sum.Cost = Cost{}
	}
	sum.Latency, err = (&arrivals{body: m, leaves: l}).latency()
	return sum, err
}

// arrivals follows values forward through a body: when each wire has the value of the first beat, in cycles.
type arrivals struct {
	body   *netlist.Module
	leaves *leaves
	driver map[string][]int // items that drive a wire
	at     map[int]int      // item: when its results are there
	open   map[int]bool
	times  map[string]int
}

// untimed says that a port or wire carries no value of a beat: clocks, enables, and what flows backward.
func untimed(name string) bool {
	return name == "clk" || name == "rst" || name == "en" || name == "ready" || strings.HasSuffix(name, "_ready")
}

func (a *arrivals) latency() (int, error) {
	a.driver, a.at, a.open = map[string][]int{}, map[int]int{}, map[int]bool{}
	a.times = map[string]int{}
	for _, p := range a.body.Ports {
		if !p.Output {
			a.times[p.Name] = 0
		}
	}
	for i, item := range a.body.Items {
		for _, out := range a.results(item) {
			for _, name := range netlist.Names(out) {
				a.driver[name] = append(a.driver[name], i)
			}
		}
	}
	latency := 0
	for _, p := range a.body.Ports {
		if p.Output && !untimed(p.Name) {
			t, err := a.wire(p.Name)
			if err != nil {
				return 0, err
			}
			latency = max(latency, t)
		}
	}
	return latency, nil
}

// results are what an item drives forward.
func (a *arrivals) results(item netlist.Item) (out []netlist.Expr) {
	switch x := item.(type) {
	case netlist.Wire:
		if x.Value != nil {
			out = append(out, netlist.Ref(x.Name))
		}
	case netlist.Assign:
		out = append(out, x.To)
	case *netlist.Instance:
		ports, _ := a.leaves.signature(x.Module, x.Params) // which the check has read
		bound := map[string]netlist.Expr{}
		for _, c := range x.Ports {
			bound[c.Port] = c.To
		}
		for _, p := range ports {
			if p.Output && !untimed(p.Name) {
				out = append(out, bound[p.Name])
			}
		}
	}
	return out
}

// wire is when a wire has its value. All parts of it must come together.
func (a *arrivals) wire(name string) (int, error) {
	if t, ok := a.times[name]; ok {
		return t, nil
	}
	at := 0
	for k, i := range a.driver[name] {
		t, err := a.item(i)
		if err != nil {
			return 0, err
		}
		if k > 0 && t != at {
			return 0, diag.New("L0623", "", "module %s: parts of %s come in cycle %d and cycle %d", a.body.Name, name, at, t)
		}
		at = t
	}
	a.times[name] = at
	return at, nil
}

// item is when the results of an item are there.
func (a *arrivals) item(i int) (int, error) {
	if t, ok := a.at[i]; ok {
		return t, nil
	}
	if a.open[i] {
		return 0, diag.New("L0623", "", "module %s: a value runs in a circle", a.body.Name)
	}
	a.open[i] = true
	t, err := 0, error(nil)
	switch x := a.body.Items[i].(type) {
	case netlist.Wire:
		t, _, err = a.expr("wire "+x.Name, x.Value)
	case netlist.Assign:
		t, _, err = a.expr("an assignment", x.From)
	case *netlist.Instance:
		t, err = a.instance(x)
	}
	a.at[i] = t
	return t, err
}

// expr is when an expression has its value, and whether it ever changes. Its parts must come together.
func (a *arrivals) expr(where string, e netlist.Expr) (t int, varies bool, err error) {
	for _, name := range netlist.Names(e) {
		at, err := a.wire(name)
		if err != nil {
			return 0, false, err
		}
		if varies && at != t {
			return 0, false, diag.New("L0623", "", "module %s: %s joins values of cycle %d and cycle %d", a.body.Name, where,
				t, at)
		}
		t, varies = at, true
	}
	return t, varies, nil
}

// instance demands that what a leaf takes together arrives together: all of it, or, where it has streams, the signals
// of each. Streams of one leaf wait for each other.
func (a *arrivals) instance(in *netlist.Instance) (int, error) {
	ports, err := a.leaves.signature(in.Module, in.Params)
	if err != nil {
		return 0, err
	}
	inputs := map[string]bool{}
	for _, p := range ports {
		inputs[p.Name] = !p.Output
	}
	last, group := 0, map[string]int{}
	for _, c := range in.Ports {
		if !inputs[c.Port] || untimed(c.Port) {
			continue
		}
		where := fmt.Sprintf("instance %s, port %s,", in.Name, c.Port)
		t, varies, err := a.expr(where, c.To)
		if err != nil {
			return 0, err
		}
		if !varies {
			continue
		}
		stream := ""
		if prefix, ok := strings.CutSuffix(c.Port, "_data"); ok {
			stream = prefix
		} else if prefix, ok := strings.CutSuffix(c.Port, "_valid"); ok {
			stream = prefix
		}
		if have, known := group[stream]; known && have != t {
			return 0, diag.New("L0623", "", "module %s: %s comes in cycle %d, the other inputs in cycle %d", a.body.Name,
				strings.TrimSuffix(where, ","), t, have)
		}
		group[stream], last = t, max(last, t)
	}
	f, err := a.leaves.factsOf(in)
	return last + f.Latency, err
}
