// SPDX-License-Identifier: Apache-2.0

package route

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lathe/emit/plot"
)

// bel is the place of a cell: "X56/Y11/SLICEC.K1" or "X56Y11/LUT0", the column and row of a tile and the site in it.
var bel = regexp.MustCompile(`^X(\d+)/?Y(\d+)/`)

// placement counts the cells of each layer and draws where they lie.
func (n *nextpnr) placement(r *Report, all *netlist, owners map[string]owner) error {
	layers := map[string]*Layer{"": {}}
	order := []string{}
	for _, u := range n.design.Units {
		if u.Instance != "" && layers[u.Node] == nil {
			layers[u.Node] = &Layer{Node: u.Node}
			order = append(order, u.Node)
		}
	}
	plan := plot.Floor{Title: "Placement of " + n.design.Top + " on " + n.part.Name,
		Groups: slices.Concat(order, []string{"wrapper"})}
	for name, c := range all.Cells {
		node := n.design.layer(owners[name].instance)
		l := layers[node]
		kind := n.router.Kind(c.Type)
		switch kind {
		case n.router.LUT:
			l.LUT++
			if value, _ := c.Parameters[n.router.Clocked].(string); strings.Trim(value, "0") == "1" {
				l.FF++
				r.FF++
			}
		case n.router.FF:
			l.FF++
		case n.router.DSP:
			l.DSP++
		case n.router.BRAM:
			l.BRAM++
		}
		if at := bel.FindStringSubmatch(c.Attributes.Bel); at != nil {
			x, _ := strconv.Atoi(at[1])
			y, _ := strconv.Atoi(at[2])
			group := slices.Index(order, node)
			if group < 0 {
				group = len(order)
			}
			large := kind == n.router.DSP || kind == n.router.BRAM
			plan.Cells = append(plan.Cells, plot.Placed{X: x, Y: y, Group: group, Large: large})
		}
	}
	for _, node := range slices.Concat(order, []string{""}) {
		r.Layers = append(r.Layers, *layers[node])
	}
	r.FloorPlan = plan.SVG()
	return nil
}
