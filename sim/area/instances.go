// SPDX-License-Identifier: Apache-2.0

package area

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// design joins the counts of modules with who instantiates whom.
type design struct {
	own      map[string]Cells             // by variant
	children map[string]map[string]string // variant -> instance name -> variant
	totals   map[string]Cells
	report   *Report
	number   map[string]int // instances of a variant
}

// build walks the instances below top.
func build(top string, stat *statistics, hier *hierarchy) (*Report, error) {
	d := &design{
		own: map[string]Cells{}, children: map[string]map[string]string{}, totals: map[string]Cells{},
		report: &Report{Top: top}, number: map[string]int{},
	}
	variants := map[string]map[string]int{} // variant -> cell type -> how many
	for name, m := range stat.Modules {
		cells := maps.Clone(m.Cells)
		if cells == nil {
			cells = map[string]int{}
		}
		for sub, n := range m.Submodules {
			cells[sub] += n
		}
		variants[variant(name)] = cells
	}
	topVariant, err := findTop(top, variants)
	if err != nil {
		return nil, err
	}
	for name, m := range hier.Modules {
		of := map[string]string{}
		for instance, cell := range m.Cells {
			if _, ours := variants[variant(cell.Type)]; ours {
				of[instance] = variant(cell.Type)
			}
		}
		d.children[variant(name)] = of
	}
	if err := d.count(variants); err != nil {
		return nil, err
	}
	d.walk(top, topVariant, 0)
	d.report.Total = d.report.Instances[0].Cells
	d.modules()
	return d.report, d.crossCheck(stat)
}

// count sets the own cells of each variant, and demands that every submodule that Yosys counted has a name.
func (d *design) count(variants map[string]map[string]int) error {
	for name, types := range variants {
		var own Cells
		submodules := 0
		for cell, n := range types {
			if _, ours := variants[variant(cell)]; ours {
				submodules += n
			} else if err := own.count(cell, n); err != nil {
				return fmt.Errorf("module %s: %w", sourceName(name), err)
			}
		}
		if named := len(d.children[name]); named != submodules {
			return fmt.Errorf("module %s has %d instances, of which %d were listed", sourceName(name), submodules, named)
		}
		d.own[name] = own
	}
	return nil
}

// total is a variant's cells with everything below it; Verilog allows no endless recursion after elaboration.
func (d *design) total(name string) Cells {
	if t, ok := d.totals[name]; ok {
		return t
	}
	t := d.own[name]
	for _, child := range d.children[name] {
		t.add(d.total(child))
	}
	d.totals[name] = t
	return t
}

func (d *design) walk(path, name string, depth int) {
	d.number[name]++
	d.report.Instances = append(d.report.Instances, Instance{Path: path, Module: sourceName(name), Depth: depth,
		Cells: d.total(name)})
	for _, instance := range slices.SortedFunc(maps.Keys(d.children[name]), natural) {
		d.walk(path+"/"+instance, d.children[name][instance], depth+1)
	}
}

func (d *design) modules() {
	for name, n := range d.number {
		d.report.Modules = append(d.report.Modules, Module{sourceName(name), name, n, d.own[name]})
	}
	slices.SortFunc(d.report.Modules, func(a, b Module) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Variant, b.Variant))
	})
}

// crossCheck compares the sum over instances with the sum that Yosys itself makes of the hierarchy.
func (d *design) crossCheck(stat *statistics) error {
	if stat.Design == nil {
		return nil
	}
	var all Cells
	for cell, n := range stat.Design.Cells {
		if _, ours := d.own[variant(cell)]; ours {
			continue
		}
		if err := all.count(cell, n); err != nil {
			return err
		}
	}
	if all != d.report.Total {
		return fmt.Errorf("the instances add up to %+v, Yosys counts %+v", d.report.Total, all)
	}
	return nil
}

// variant is the name without the backslash that marks names taken from the source.
func variant(name string) string { return strings.TrimPrefix(name, `\`) }

// sourceName undoes the names that Yosys gives to modules with parameters: $paramod\name\W=... and, for long
// parameter lists, $paramod$hash\name.
func sourceName(name string) string {
	rest, ok := strings.CutPrefix(name, "$paramod")
	if !ok {
		return name
	}
	parts := strings.Split(rest, `\`)
	if len(parts) < 2 {
		return name
	}
	return parts[1]
}

// findTop looks for the top's variant; a top with parameters keeps its own name.
func findTop(top string, variants map[string]map[string]int) (string, error) {
	if _, ok := variants[top]; ok {
		return top, nil
	}
	for name := range variants {
		if sourceName(name) == top {
			return name, nil
		}
	}
	return "", fmt.Errorf("module %s is not in the result", top)
}

// natural orders g[2] before g[10].
func natural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb)); c != 0 {
				return c
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// Part is an instance in a flat netlist.
type Part struct {
	Module string          // in the source
	Inputs map[string]bool // ports that something outside of it drives
}

// Parts reads the instances below a top from the file that Synthesize leaves as "hier" in its folder. Names are those
// of the flat netlist, parts apart by dots.
func Parts(folder, top string) (map[string]Part, error) {
	data, err := os.ReadFile(filepath.Join(folder, "hier"))
	if err != nil {
		return nil, err
	}
	var h hierarchy
	if err := json.Unmarshal(jsonLines(data), &h); err != nil {
		return nil, err
	}
	all := map[string]Part{}
	var walk func(path, name string)
	walk = func(path, name string) {
		for instance, cell := range h.Modules[name].Cells {
			p := Part{Module: sourceName(cell.Type), Inputs: map[string]bool{}}
			for port, direction := range cell.Ports {
				p.Inputs[port] = direction == "input"
			}
			all[path+instance] = p
			walk(path+instance+".", cell.Type)
		}
	}
	walk("", top)
	return all, nil
}

// digits is the length of the number at the front of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
