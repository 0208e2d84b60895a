// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Longest is the outcome of a count: the most cells of each kind on any path, and for each kind a path that has so
// many, from its beginning to its end. A path longest in one kind may be short in the others.
type Longest struct {
	Levels Levels
	Path   [kinds][]string // names of nets; those that the source does not name are left out
}

// Over says, one line each, which kinds are above the limit and on which path.
func (l *Longest) Over(limit Levels) (lines []string) {
	for k, name := range [kinds]string{"LUTs", "carry chains", "multipliers"} {
		if l.Levels[k] > limit[k] {
			lines = append(lines, fmt.Sprintf("%d %s in a row, at most %d: %s", l.Levels[k], name, limit[k],
				strings.Join(l.Path[k], " -> ")))
		}
	}
	return lines
}

// arrival is what lies before a net: the most cells of each kind, and the net before on such a path.
type arrival struct {
	levels Levels
	from   [kinds]bit
}

// walk computes arrivals, each once.
type walk struct {
	*Netlist
	drivers map[bit]driver
	done    map[bit]*arrival
	open    map[bit]bool // on the way from an end to here
}

type driver struct {
	cell  *cell
	port  string
	index int
}

// end is where a path ends: a net that is an input of a cell or, without one, an output of the design; and what lies
// behind that input up to a register.
type end struct {
	bit
	cell *cell
	adds Levels
}

// Longest finds the longest paths. An error means a cell of unknown type or a loop without a register.
func (n *Netlist) Longest() (*Longest, error) {
	w := &walk{Netlist: n, drivers: map[bit]driver{}, done: map[bit]*arrival{}, open: map[bit]bool{}}
	var ends, within []end // within: inputs of cells that a path may go through
	for _, name := range slices.Sorted(maps.Keys(n.cells)) {
		c := n.cells[name]
		if _, err := c.arcs(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range slices.Sorted(maps.Keys(c.Directions)) {
			if c.Directions[p] != "output" {
				list, adds := &ends, c.end(p)
				if c.passes(p) {
					list, adds = &within, Levels{}
				}
				for _, b := range c.Bits[p] {
					*list = append(*list, end{b, &c, adds})
				}
				continue
			}
			for i, b := range c.Bits[p] {
				w.drivers[b] = driver{&c, p, i}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.ports)) {
		if n.ports[name].Direction != "input" {
			for _, b := range n.ports[name].Bits {
				ends = append(ends, end{bit: b})
			}
		}
	}
	out := &Longest{}
	var last [kinds]end
	for _, e := range append(ends, within...) {
		a, err := w.at(e.bit)
		if err != nil {
			return nil, err
		}
		for k := range a.levels {
			if sum := a.levels[k] + e.adds[k]; e.bit != 0 && sum > out.Levels[k] {
				out.Levels[k], last[k] = sum, e
			}
		}
	}
	for k, e := range last {
		out.Path[k] = w.path(e.bit, Kind(k))
		if e.cell != nil {
			out.Path[k] = append(out.Path[k], w.state(e.cell))
		}
	}
	return out, nil
}

// at is the arrival of a net.
func (w *walk) at(b bit) (*arrival, error) {
	if a, ok := w.done[b]; ok {
		return a, nil
	}
	if w.open[b] {
		return nil, fmt.Errorf("a loop without a register goes through %s", w.name(b))
	}
	w.open[b] = true
	a := &arrival{}
	if d, ok := w.drivers[b]; ok && b != 0 {
		arcs, err := d.cell.arcs()
		if err != nil {
			return nil, err
		}
		a.levels = d.cell.begin(d.port)
		for i := range arcs {
			if err := w.pass(a, d, &arcs[i]); err != nil {
				return nil, err
			}
		}
	}
	delete(w.open, b)
	w.done[b] = a
	return a, nil
}

// pass adds to an arrival what comes through an arc of the net's driver.
func (w *walk) pass(a *arrival, d driver, through *arc) error {
	for _, in := range through.reaches(d.cell, d.port, d.index) {
		if in == 0 {
			continue // a constant
		}
		before, err := w.at(in)
		if err != nil {
			return err
		}
		for k := range a.levels {
			if sum := before.levels[k] + through.adds[k]; sum > a.levels[k] || sum == a.levels[k] && a.from[k] == 0 {
				a.levels[k], a.from[k] = sum, in
			}
		}
	}
	return nil
}

// state is what the source calls what a cell keeps.
func (w *walk) state(c *cell) string {
	for _, p := range slices.Sorted(maps.Keys(c.Directions)) {
		if c.Directions[p] != "output" {
			continue
		}
		for _, b := range c.Bits[p] {
			if name, known := w.names[int(b)]; known {
				return name
			}
		}
	}
	return "a " + c.Type
}

// path names the nets of a longest path, from the beginning.
func (w *walk) path(b bit, k Kind) (names []string) {
	for ; b != 0; b = w.done[b].from[k] {
		name, known := w.names[int(b)]
		if first := w.done[b].from[k] == 0; known || first {
			if !known {
				name = w.name(b)
			}
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	return names
}
