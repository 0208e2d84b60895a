// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"maps"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/internal/diag"
)

// ending is where the user ends the program.
type ending struct {
	// tensors are the values of the graph by the names that they go by there and, as outputs, in the caller.
	tensors map[string]string
	// labels are what the names of the nodes of each operation begin with; lost are names that only a look at all
	// operations may find.
	labels, lost []string
}

// known are the names that a user may mean.
func (e *ending) known() []string {
	return slices.Concat(slices.Sorted(maps.Keys(e.tensors)), e.labels)
}

// end finds the operations that are needed where the user ends the program: all, where he does not.
func (im *importer) end() (e ending, live []bool) {
	if im.opts.Outputs == nil {
		return e, slices.Repeat([]bool{true}, len(im.graph.nodes))
	}
	e = ending{map[string]string{}, make([]string, len(im.graph.nodes)), nil}
	for name := range im.values {
		e.tensors[name] = name
	}
	made := map[string]int{}
	for i := range im.graph.nodes {
		n := &im.graph.nodes[i]
		path, class := modulePath(n.stack)
		e.labels[i] = label(n, path, class).Name
		for _, name := range (&call{n: n}).outs() {
			made[name], e.tensors[name] = i, name
		}
	}
	for i, o := range im.program.outputs {
		if names := tensorNames(o.arg); len(names) == 1 && im.program.names != nil && e.tensors[names[0]] != "" {
			e.tensors[im.program.names[i]] = names[0]
		}
	}
	var roots []int
	var nodes []string // what must be the name of a node
	for _, name := range im.opts.Outputs {
		tensor, ok := e.tensors[name]
		if at, computed := made[tensor]; computed {
			roots = append(roots, at)
		} else if !ok {
			nodes = append(nodes, name)
		}
	}
	ends, lost := build.Ends(nodes, e.labels)
	e.lost = lost
	return e, im.live(append(roots, ends...), made, len(lost) > 0)
}

// live marks the operations that the roots need, or all. What changes values in place is kept too, so that reading
// those afterwards is an error as ever.
func (im *importer) live(roots []int, made map[string]int, all bool) []bool {
	last := slices.Max(append([]int{-1}, roots...))
	for i := range im.graph.nodes {
		name := plainName(im.graph.nodes[i].target)
		if all || i < last && strings.HasSuffix(name, "_") && !strings.HasSuffix(name, "__") {
			roots = append(roots, i)
		}
	}
	return build.Live(len(im.graph.nodes), roots, made, func(i int) (names []string) {
		for _, in := range im.graph.nodes[i].in {
			names = append(names, tensorNames(in.arg)...)
		}
		return names
	})
}

// outputs makes the outputs of the graph where the user ends the program.
func (im *importer) outputs(e ending) error {
	return im.b.EndAt(im.opts.Outputs, e.known(), func(name string) (bool, error) {
		tensor, ok := e.tensors[name]
		if !ok {
			return false, nil
		}
		n, err := im.nodeOf(tensor)
		if err != nil {
			return true, diag.At(err, diag.UndefinedValue, im.b.File)
		}
		im.b.Output(name, n)
		return true, nil
	})
}
