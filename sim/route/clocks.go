// SPDX-License-Identifier: Apache-2.0

package route

import (
	"cmp"
	"slices"
	"strings"

	"lathe/emit"
)

// Clock is one of a design.
type Clock struct {
	Name string  `json:"name"` // the input of the wrapper
	MHz  float64 `json:"mhz"`
}

// clocks lists those of a report, first the one that MHz is about, and that by nextpnr's name, too: that of the core,
// or else the slowest.
func (n *nextpnr) clocks(w *written) (first string, all []Clock) {
	names := map[string]string{}
	for net, f := range w.Fmax {
		// behind a pin or a global buffer it is $glbnet$clk$TRELLIS_IO_IN and the like
		name, _, _ := strings.Cut(strings.TrimPrefix(net, "$glbnet$"), "$")
		if signal := n.design.signals[name]; signal != "" {
			name = signal
		}
		names[name] = net
		all = append(all, Clock{name, f.Achieved})
	}
	slices.SortFunc(all, func(a, b Clock) int {
		if (a.Name == emit.CoreClock) != (b.Name == emit.CoreClock) {
			return map[bool]int{true: -1, false: 1}[a.Name == emit.CoreClock]
		}
		return cmp.Or(cmp.Compare(a.MHz, b.MHz), cmp.Compare(a.Name, b.Name))
	})
	if len(all) > 0 {
		first = names[all[0].Name]
	}
	return first, all
}
