// SPDX-License-Identifier: Apache-2.0

package route

import (
	"cmp"
	"math"
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
		name = strings.TrimPrefix(name, ringWrapper+".") // a net has a name on either side of the ring
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

// better says that r is the result to keep: it reaches the clock that is demanded, or comes nearer to what the plan
// wishes of all clocks.
func (n *nextpnr) better(r, than *Report) bool {
	if reached := r.MHz >= n.ClockMHz; reached != (than.MHz >= n.ClockMHz) {
		return reached
	}
	return n.share(r) > n.share(than)
}

// share is the least share that a clock of r has of what the plan wishes of it; of a clock without a wish, in 200 MHz.
func (n *nextpnr) share(r *Report) float64 {
	least := math.Inf(1)
	for i, c := range r.Clocks {
		wish := n.design.Clock
		if i > 0 { // that of the streams
			wish = n.design.Streams
		}
		if wish == 0 {
			wish = 200
		}
		least = min(least, c.MHz/wish)
	}
	return least
}
