// SPDX-License-Identifier: Apache-2.0

package balance

import (
	"math/rand/v2"
	"testing"

	"lathe/rtl"
)

// network is a random chain with a join now and then.
func network(r *rand.Rand, n int) []Layer {
	var layers []Layer
	for i := range n {
		l := Layer{Bits: 8}
		if i > 0 {
			l.Args = []int{i - 1}
		}
		if i > 2 && r.IntN(3) == 0 {
			l.Args = append(l.Args, r.IntN(i-1))
		}
		work := 1 << (4 + r.IntN(5))
		for in := 1; in <= 16; in *= 2 {
			for out := 1; out <= 16; out *= 2 {
				l.Options = append(l.Options, Option{Stream: in, In: in, Out: out, II: max(work/(in*out), 1),
					Cost: rtl.Cost{LUT: 40 + 20*in*out + r.IntN(30), DSP: in * out}})
			}
		}
		layers = append(layers, l)
	}
	return layers
}

var even = Weights{LUT: 1, FF: 0.5, DSP: 40, BRAM: 60}

// TestChoose holds choices to the rate, and to it that no layer could change alone and lower the sum.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		layers := network(r, 2+r.IntN(6))
		steps := Steps(layers)
		least, slow := Fastest(layers)
		if steps[0] != least {
			t.Fatalf("the first step is %d, layer %d needs %d", steps[0], slow, least)
		}
		cycles := steps[r.IntN(len(steps))]
		picks, cost := Choose(layers, cycles, even)
		if got := sum(layers, picks); got != cost {
			t.Fatalf("the choice costs %+v, said to be %+v", got, cost)
		}
		for i, l := range layers {
			if ii := l.Options[picks[i]].II; ii > cycles {
				t.Fatalf("layer %d takes %d cycles, more than %d", i, ii, cycles)
			}
			kept := picks[i]
			for k, o := range l.Options {
				if picks[i] = k; o.II <= cycles && even.Of(sum(layers, picks)) < even.Of(cost)-1e-9 {
					t.Errorf("layer %d with option %d for %d costs %+v, less than %+v", i, k, kept, sum(layers, picks), cost)
				}
			}
			picks[i] = kept
		}
	}
}

// sum is the cost of a choice, by its definition.
func sum(layers []Layer, picks []int) rtl.Cost {
	var c rtl.Cost
	for i, l := range layers {
		c = c.Add(l.Options[picks[i]].Cost)
		for _, a := range l.Args {
			c = c.Add(Adapter(layers[a].Bits, layers[a].Options[picks[a]].Out, l.Options[picks[i]].Stream, nil))
		}
	}
	return c
}

// TestChooseBest compares with all choices of small chains: the best is found nearly always, and missed by little.
func TestChooseBest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	missed := 0
	for range 40 {
		layers := network(r, 2)
		steps := Steps(layers)
		cycles := steps[len(steps)/2]
		_, cost := Choose(layers, cycles, even)
		best := even.Of(cost)
		picks := []int{0, 0}
		for picks[0] = range layers[0].Options {
			for picks[1] = range layers[1].Options {
				slow := max(layers[0].Options[picks[0]].II, layers[1].Options[picks[1]].II)
				if v := even.Of(sum(layers, picks)); slow <= cycles && v < best {
					best = v
				}
			}
		}
		if got := even.Of(cost); got > best*1.1 {
			t.Errorf("%g, the best is %g", got, best)
		} else if got > best {
			missed++
		}
	}
	if missed > 2 {
		t.Errorf("the best is missed in %d of 40", missed)
	}
}

func TestAdapter(t *testing.T) {
	if c := Adapter(8, 4, 4, nil); c != (rtl.Cost{}) {
		t.Errorf("4 to 4 lanes cost %+v", c)
	}
	widen, narrow := Adapter(8, 2, 6, nil), Adapter(8, 6, 3, nil)
	if widen.FF == 0 || narrow.FF == 0 {
		t.Errorf("widen %+v, narrow %+v", widen, narrow)
	}
	if c := Adapter(8, 2, 3, nil); c != widen.Add(Adapter(8, 6, 3, nil)) {
		t.Errorf("2 to 3 lanes cost %+v, not the sum of 2 to 6 and 6 to 3", c)
	}
	if Fifo(8, 1000, nil).BRAM != 1 {
		t.Errorf("a FIFO of 1000 bytes costs %+v", Fifo(8, 1000, nil))
	}
}
