// SPDX-License-Identifier: Apache-2.0

package float

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
)

// EndAt says how to leave nodes of g out of the model: by ending it at the values in front of them and of all that
// needs them. Those go by their names in the imported graph, where a bias is a node of its own that lowering merges
// into another one.
func EndAt(imported, g *ir.Graph, nodes ...*ir.Node) string {
	if imported != nil {
		there := make([]*ir.Node, len(nodes))
		for i, n := range nodes {
			if there[i] = imported.Find(n.Name); there[i] == nil || there[i].Op != n.Op {
				there = nil
				break
			}
		}
		if there != nil {
			g, nodes = imported, there
		}
	}
	front := frontOf(g, func(n *ir.Node) bool { return slices.Contains(nodes, n) })
	if flag := outputsFlag(front); flag != "" && len(front) <= maxKinds {
		return "end the model at what stands in front: " + flag
	}
	if len(nodes) > maxKinds {
		return fmt.Sprintf("leave these %d nodes out of the model", len(nodes))
	}
	var names []string
	for _, n := range nodes {
		names = append(names, strconv.Quote(n.Name))
	}
	return fmt.Sprintf("leave %s out of the model", strings.Join(names, ", "))
}

// frontOf are the values of g that refused nodes, and all that needs those, read from others.
func frontOf(g *ir.Graph, refused func(n *ir.Node) bool) (front []*ir.Node) {
	lost := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		lost[n] = refused(n) || slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return lost[a] })
		for _, a := range n.Args {
			if lost[n] && !lost[a] {
				front = append(front, a)
			}
		}
	}
	return front
}

// outputsFlag is the flag that ends a model at what the nodes compute; "" where they are inputs and constants.
func outputsFlag(nodes []*ir.Node) string {
	var names []string
	for _, a := range nodes {
		for a.Op.Traits.Perm != nil { // inserted by lowering, for the most part
			a = a.Args[0]
		}
		if !a.IsConst() && !a.IsInput() && !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	list := strings.Join(names, ",")
	if strings.ContainsAny(list, " \"'$&;|<>()*?`\\#!~") {
		list = diag.ShellWord(list)
	}
	return "--outputs " + list
}

// maxKinds bounds the operations that one error lists.
const maxKinds = 12
