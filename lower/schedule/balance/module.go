// SPDX-License-Identifier: Apache-2.0

package balance

import (
	"strconv"

	"lathe/ir/target"
	"lathe/rtl"
)

// module is the cost in a family of a library module with the parameters WIDTH and N; 0 for one that states none.
func module(name string, width, n int, f *target.Family) rtl.Cost {
	h, err := rtl.Lookup(name)
	if err != nil {
		return rtl.Cost{}
	}
	c, err := h.Cost([]rtl.Param{{Name: "WIDTH", Value: strconv.Itoa(width)}, {Name: "N", Value: strconv.Itoa(n)}}, f)
	if err != nil {
		return rtl.Cost{}
	}
	return c
}

// Fifo is the cost of a FIFO in a family, nil for UltraScale+.
func Fifo(width, depth int, f *target.Family) rtl.Cost {
	h, err := rtl.Lookup("stream_fifo")
	if err != nil {
		return rtl.Cost{}
	}
	c, err := h.Cost([]rtl.Param{{Name: "WIDTH", Value: strconv.Itoa(width)}, {Name: "DEPTH",
		Value: strconv.Itoa(depth)}}, f)
	if err != nil {
		return rtl.Cost{}
	}
	return c
}
