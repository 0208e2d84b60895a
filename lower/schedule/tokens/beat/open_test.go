// SPDX-License-Identifier: Apache-2.0

package beat

import (
	"math/rand/v2"
	"testing"
)

// diamonds makes a net whose streams part and meet again, with links on the branches.
func diamonds(seed int, endless map[int]bool) *twin {
	r := rand.New(rand.NewPCG(uint64(seed), 2))
	w := &twin{r: r, net: New(NewTables()), frames: 1 + r.IntN(3), loads: map[*Load]*fifoAt{},
		forks: map[*Fork]*forkAt{}, endless: endless}
	w.source(2 + r.IntN(24))
	x := w.open[0]
	for range 1 + r.IntN(3) {
		branches := w.fork(x, 2)
		for i, b := range branches {
			b = w.fifo(b, 0, false)
			for range r.IntN(3) {
				if r.IntN(2) == 0 {
					n := divisorOf(r, b.beats)
					b = w.steps([]stream{b}, b.beats, w.pattern([]int{n}, n, 1), 1+r.IntN(3))
				} else {
					b = w.fifo(b, 2, false)
				}
			}
			branches[i] = b
		}
		n := divisorOf(r, x.beats)
		x = w.steps(branches, x.beats/n, w.pattern([]int{n, n}, 1, 1), 1)
	}
	w.sink(x)
	return w
}

// TestOpen opens links behind which a net has stopped, and compares which beats move then with a net in which they had
// no end from the start.
func TestOpen(t *testing.T) {
	opened := 0
	for seed := range 1000 {
		w, endless := diamonds(seed, nil), map[int]bool{}
		for again := true; again; {
			run(t, w.net)
			again = false
			for i, in := range w.links {
				if !endless[i] && in.Full() {
					w.net.Open(in)
					endless[i], again = true, true
					break
				}
			}
		}
		if len(endless) == 0 {
			continue
		}
		opened++
		other := diamonds(seed, endless)
		run(t, other.net)
		for i, s := range w.net.sinks {
			if had := other.net.sinks[i].counts.had; s.counts.had != had {
				t.Fatalf("seed %d: sink %d takes %d beats, %d if FIFOs %v never have an end\n%s", seed, i, s.counts.had, had,
					endless, w.text)
			}
		}
	}
	if opened < 100 {
		t.Errorf("only %d nets stop at a link", opened)
	}
}

func run(t *testing.T, n *Net) (done bool) {
	t.Helper()
	done, err := n.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return done
}
