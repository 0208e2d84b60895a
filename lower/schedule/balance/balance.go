// SPDX-License-Identifier: Apache-2.0

// Package balance chooses foldings: one of each layer's, so that no layer takes more cycles a sample than asked, and
// all of them, with the adapters between their streams, cost least. It knows layers by number and nothing of graphs.
package balance

import (
	"slices"

	"lathe/ir/target"
	"lathe/rtl"
)

// Option is one folding of a layer: the lanes of its argument streams, those that it works on, those of its result.
type Option struct {
	Stream, In, Out int
	// Second is the lanes of the streams behind the first where they differ, else 0.
	Second int
	// Row is how long the rows are that beats carry, for layers of a chain.
	Row int
	// DSP is what multiplies, for the layers that have a choice, and Wired says that nothing does, as weights are wired
	// into sums; nothing here looks at either.
	DSP   string
	Wired bool
	// Digits is the bits of the digits that are summed, where weights are wired; 0: whole elements are.
	Digits int
	// II is the cycles of a sample, Cost what the layer then takes.
	II   int
	Cost rtl.Cost
	// Asked is the out_lanes of a plan that give this folding: Out, except where results are computed side by side and
	// leave one after another.
	Asked int
}

// Layer is a unit with its options; Args are the layers that it reads, numbers below its own.
type Layer struct {
	Options []Option
	Args    []int
	// Bits is the width of an element of its result.
	Bits int
	// Chain numbers layers that must all have the same Row; 0 for those that are free.
	Chain int
}

// takes is the lanes of argument stream i.
func (o *Option) takes(i int) int {
	if i > 0 && o.Second > 0 {
		return o.Second
	}
	return o.Stream
}

// Weights are what a LUT, an FF, a DSP, a block of 18 Kbit and an UltraRAM of a family, nil for UltraScale+, count for
// in the sum that is made least.
type Weights struct {
	LUT, FF, DSP, BRAM, URAM float64
	Family                   *target.Family
}

// Of is what a cost weighs.
func (w Weights) Of(c rtl.Cost) float64 {
	return w.LUT*float64(c.LUT) + w.FF*float64(c.FF) + w.DSP*float64(c.DSP) + w.BRAM*float64(c.BRAM) +
		w.URAM*float64(c.URAM)
}

// sweeps bounds the rounds in which every layer looks at its neighbours again.
const sweeps = 6

// Fastest is the greatest over the layers of the least cycles that a layer can have, and the first layer that has it:
// no choice is faster.
func Fastest(layers []Layer) (cycles, layer int) {
	chains := map[int]map[int]int{} // of each chain, the least cycles of its slowest layer with each row
	for i, l := range layers {
		least := leastByRow(l)
		if l.Chain == 0 {
			if least[0] > cycles {
				cycles, layer = least[0], i
			}
			continue
		}
		chains[l.Chain] = slower(chains[l.Chain], least)
	}
	for i, l := range layers {
		if l.Chain == 0 {
			continue
		}
		if row, least := quickest(chains[l.Chain]); least > cycles && leastByRow(l)[row] == least {
			cycles, layer = least, i
		}
	}
	return cycles, layer
}

// Steps lists the cycles a sample that some choice has, ascending: those of all options that are no faster than the
// fastest choice.
func Steps(layers []Layer) []int {
	least, _ := Fastest(layers)
	var steps []int
	for _, l := range layers {
		for _, o := range l.Options {
			if o.II >= least {
				steps = append(steps, o.II)
			}
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// Choose returns the option of each layer, none slower than cycles, and what all cost with their adapters. Every layer
// must have an option that is fast enough, which Fastest tells. The choice is a local optimum: no single layer can
// change to lower the sum, and hardly two together.
func Choose(layers []Layer, cycles int, w Weights) ([]int, rtl.Cost) {
	c := newChooser(layers, cycles, w)
	for i := range layers {
		if layers[i].Chain == 0 {
			c.picks[i] = c.allowed[i][0]
		}
	}
	c.begin()
	return c.settle()
}

// Improve is Choose from a choice on that is fast enough: the result weighs no more than that.
func Improve(layers []Layer, picks []int, cycles int, w Weights) ([]int, rtl.Cost) {
	c := newChooser(layers, cycles, w)
	for i, l := range layers {
		c.picks[i] = picks[i]
		for _, k := range c.allowed[i] {
			if a, b := l.Options[k], l.Options[picks[i]]; a.Stream == b.Stream && a.Out == b.Out && a.Row == b.Row {
				c.picks[i] = k
			}
		}
	}
	return c.settle()
}

func newChooser(layers []Layer, cycles int, w Weights) *chooser {
	c := &chooser{layers: layers, w: w, adapters: map[joint]rtl.Cost{}, readers: make([][]reader, len(layers)),
		picks: make([]int, len(layers)), chains: map[int][]int{}}
	for i, l := range layers {
		c.allowed = append(c.allowed, allowed(l, cycles, w))
		for k, a := range l.Args {
			c.readers[a] = append(c.readers[a], reader{i, k})
		}
		if l.Chain != 0 {
			c.chains[l.Chain] = append(c.chains[l.Chain], i)
		}
	}
	return c
}

// settle changes one layer or two at a time until that lowers the sum no more.
func (c *chooser) settle() ([]int, rtl.Cost) {
	for range sweeps {
		if alone, both, rows := c.sweep(), c.neighbours(), c.rows(); !alone && !both && !rows {
			break
		}
	}
	return c.picks, c.total()
}

// allowed lists the options that are fast enough: of those with the same lanes at both ends the cheapest, ordered by
// weight, since neighbours see nothing but the ends.
func allowed(l Layer, cycles int, w Weights) []int {
	best := map[[3]int]int{}
	for k, o := range l.Options {
		if o.II > cycles {
			continue
		}
		ends := [3]int{o.Stream, o.Out, o.Row}
		if at, ok := best[ends]; !ok || less(l.Options[k], l.Options[at], w) {
			best[ends] = k
		}
	}
	var list []int
	for _, k := range best {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b int) int {
		if less(l.Options[a], l.Options[b], w) {
			return -1
		}
		if less(l.Options[b], l.Options[a], w) {
			return 1
		}
		return a - b
	})
	return list
}

// less orders options by weight; of equals the faster, then the one of fewer lanes comes first.
func less(a, b Option, w Weights) bool {
	if x, y := w.Of(a.Cost), w.Of(b.Cost); x != y {
		return x < y
	}
	if a.II != b.II {
		return a.II < b.II
	}
	return a.In*a.Out < b.In*b.Out
}

// joint is a place where two streams meet.
type joint struct{ bits, have, want int }

// reader is an argument of a layer.
type reader struct{ layer, arg int }

type chooser struct {
	layers   []Layer
	w        Weights
	allowed  [][]int
	picks    []int
	readers  [][]reader
	chains   map[int][]int // the layers of each
	adapters map[joint]rtl.Cost
}

// sweep lets every layer choose anew, given its neighbours; it says whether one did.
func (c *chooser) sweep() bool {
	changed := false
	for i := range c.layers {
		best, least := c.picks[i], c.around(i, c.picks[i])
		for _, k := range c.choices(i) {
			if v := c.around(i, k); v < least {
				best, least = k, v
			}
		}
		changed = changed || best != c.picks[i]
		c.picks[i] = best
	}
	return changed
}

// together bounds the options of each of two neighbours that are tried together.
const together = 24

// neighbours lets any two neighbours change together: they may agree on lanes that neither would choose alone.
func (c *chooser) neighbours() bool {
	changed := false
	for i, l := range c.layers {
		for k, a := range l.Args {
			changed = c.together(a, reader{i, k}) || changed
		}
	}
	return changed
}

func (c *chooser) together(a int, r reader) bool {
	i := r.layer
	kept := [2]int{c.picks[a], c.picks[i]}
	best, least := kept, c.both(a, r)
	before, behind := c.choices(a), c.choices(i)
	for _, ka := range before[:min(len(before), together)] {
		for _, ki := range behind[:min(len(behind), together)] {
			c.picks[a], c.picks[i] = ka, ki
			if v := c.both(a, r); v < least-1e-12 {
				best, least = [2]int{ka, ki}, v
			}
		}
	}
	c.picks[a], c.picks[i] = best[0], best[1]
	return best != kept
}

// both is the weight of two neighbours with all their adapters.
func (c *chooser) both(a int, r reader) float64 {
	shared := c.w.Of(c.between(a, c.picks[a], r, c.picks[r.layer]))
	return c.around(a, c.picks[a]) + c.around(r.layer, c.picks[r.layer]) - shared
}

// between is the adapter from option from of layer a to option to of a reader.
func (c *chooser) between(a, from int, r reader, to int) rtl.Cost {
	return c.adapter(a, c.layers[a].Options[from].Out, c.layers[r.layer].Options[to].takes(r.arg))
}

// around is the weight of option k of layer i with the adapters at both its ends.
func (c *chooser) around(i, k int) float64 {
	sum := c.w.Of(c.layers[i].Options[k].Cost)
	for j, a := range c.layers[i].Args {
		sum += c.w.Of(c.between(a, c.picks[a], reader{i, j}, k))
	}
	for _, r := range c.readers[i] {
		sum += c.w.Of(c.between(i, k, r, c.picks[r.layer]))
	}
	return sum
}

func (c *chooser) total() rtl.Cost {
	var sum rtl.Cost
	for i, l := range c.layers {
		sum = sum.Add(l.Options[c.picks[i]].Cost)
		for j, a := range l.Args {
			sum = sum.Add(c.between(a, c.picks[a], reader{i, j}, c.picks[i]))
		}
	}
	return sum
}

func (c *chooser) adapter(from, have, want int) rtl.Cost {
	j := joint{c.layers[from].Bits, have, want}
	cost, ok := c.adapters[j]
	if !ok {
		cost = Adapter(j.bits, have, want, c.w.Family)
		c.adapters[j] = cost
	}
	return cost
}

// Common is the least number of lanes that both others divide.
func Common(have, want int) int {
	common := have
	for common%want != 0 {
		common += have
	}
	return common
}

// Adapter is what brings a stream of elements of the given bits from one number of lanes to another: a widen to the
// least common multiple, then a narrow; either is left out where it would do nothing.
func Adapter(bits, have, want int, f *target.Family) rtl.Cost {
	common := Common(have, want)
	var c rtl.Cost
	if common > have {
		c = c.Add(module("stream_widen", bits*have, common/have, f))
	}
	if common > want {
		c = c.Add(module("stream_narrow", bits*want, common/want, f))
	}
	return c
}
