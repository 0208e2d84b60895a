// SPDX-License-Identifier: Apache-2.0

package format

import "fmt"

// Each is codes of channels that have a width and a step of their own, within one format: channel c has integers of
// Bits[c] bits, signed if All is, times 2^Drop[c] steps of All. A channel of no bits is 0. Rounding and overflow are
// those of All.
type Each struct {
	All        Fixed
	Bits, Drop []int
}

// Check refuses channels that All does not hold, and overflow other than saturation.
func (e *Each) Check() error {
	if e.All.Over != Sat && e.All.Over != Sym {
		return fmt.Errorf("channels with codes of their own saturate, which %s does not", e.All)
	}
	if len(e.Bits) != len(e.Drop) {
		return fmt.Errorf("%d channels have widths, %d have steps", len(e.Bits), len(e.Drop))
	}
	for c, w := range e.Bits {
		if w < 0 || e.Drop[c] < 0 || w > 0 && w+e.Drop[c] > e.All.W {
			return fmt.Errorf("channel %d has %d bits from bit %d on, and %s has %d bits", c, w, e.Drop[c], e.All, e.All.W)
		}
	}
	return nil
}

// Channel is the format of channel c, which has at least one bit.
func (e *Each) Channel(c int) Fixed {
	f := e.All
	f.W, f.F = e.Bits[c], e.All.F-e.Drop[c]
	return f
}

// Limits are the least and the greatest integer of channel c, in its own steps.
func (e *Each) Limits(c int) (lo, hi int64) {
	if e.Bits[c] == 0 {
		return 0, 0
	}
	f := e.Channel(c)
	return f.Min(), f.Max()
}

// Code rounds x to channel c: the code is one of All.
func (e *Each) Code(c int, x Exact) int64 {
	if e.Bits[c] == 0 {
		return 0
	}
	return e.Channel(c).Encode(x) << e.Drop[c]
}

// Places is how many bits each channel of integers in steps of 2^exp loses on the right, negative for those that it
// gains. A channel of no bits loses as many as another one.
func (e *Each) Places(exp int) []int {
	usual := 0
	for c, w := range e.Bits {
		if w > 0 {
			usual = e.Drop[c]
			break
		}
	}
	list := make([]int, len(e.Bits))
	for c, w := range e.Bits {
		drop := e.Drop[c]
		if w == 0 {
			drop = usual
		}
		list[c] = drop - e.All.F - exp
	}
	return list
}
