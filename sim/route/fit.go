// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// use is a line of nextpnr's log such as "MULT18X18D:      53/    156    33%".
var use = regexp.MustCompile(`(\w+): +(\d+)/ *(\d+) +\d+%`)

// kind is one of the cells of which a part holds a number.
type kind struct {
	cell, name string
	of         func(rtl.Cost) int
	fewer      string // how a layer takes fewer, given half its lanes
}

func (n *nextpnr) kinds() []kind {
	const lanes = "give it fewer lanes (out_lanes = %d in a [[fold.rule]])"
	return []kind{
		{n.router.LUT, "LUTs", func(c rtl.Cost) int { return c.LUT }, lanes},
		{n.router.FF, "flip-flops", func(c rtl.Cost) int { return c.FF }, lanes},
		{n.router.DSP, "multipliers", func(c rtl.Cost) int { return c.DSP }, lanes},
		{n.router.BRAM, "memory blocks", func(c rtl.Cost) int { return c.BRAM },
			"give it fewer bits (weight or data in a [[quantize.rule]])"},
	}
}

// tooLarge is error L0772 where a log says that the part lacks cells, else nil. It hints at the layer that takes most
// of the kind that is short by the largest factor.
func (n *nextpnr) tooLarge(log []byte) error {
	var over []string
	var short kind
	factor := 1.0
	for _, m := range use.FindAllSubmatch(log, -1) {
		used, _ := strconv.Atoi(string(m[2]))
		holds, _ := strconv.Atoi(string(m[3]))
		for _, k := range n.kinds() {
			if k.cell != string(m[1]) || used <= holds {
				continue
			}
			over = append(over, fmt.Sprintf("%d %s of %d, %d too many", used, k.name, holds, used-holds))
			if f := float64(used) / float64(holds); f > factor { // +Inf of what the part has none of
				short, factor = k, f
			}
		}
	}
	if over == nil {
		return nil
	}
	err := n.failed(diag.DesignTooLarge, placer, "the design does not fit into %s: %s", n.part.Name, strings.Join(over,
		"; "))
	most, layer := 0, unit{}
	for _, u := range n.design.Units {
		if c := short.of(u.Cost); c > most {
			most, layer = c, u
		}
	}
	if most == 0 {
		return err.WithHint("fold more, or take a larger part")
	}
	fewer := short.fewer
	if strings.Contains(fewer, "%d") {
		legal := lane.Divisors(layer.Lanes) // of what its lanes divide, too
		if len(legal) < 2 {
			return err.WithHint("%q has most %s, about %d, and one lane: take a larger part", layer.Node, short.name, most)
		}
		fewer = fmt.Sprintf(fewer, legal[len(legal)-2])
	}
	return err.WithHint("%q has most %s, about %d: %s, or take a larger part", layer.Node, short.name, most, fewer)
}
