// SPDX-License-Identifier: Apache-2.0

package race

import (
	"math/rand/v2"
	"testing"
)

// past is an access of a history that the slow definition keeps whole.
type past struct {
	warp, off, n int
	clock        uint32
	write        bool
}

// slow says whether an access is sound, from all that has happened.
func slow(all []past, a *Access, off, n int, write bool) (unwritten, conflict bool) {
	for i := off; i < off+n; i++ {
		written := false
		for _, p := range all {
			if i < p.off || i >= p.off+p.n {
				continue
			}
			written = written || p.write
			if p.warp != a.Warp && (p.write || write) && a.Clock[p.warp] < p.clock {
				conflict = true
			}
		}
		unwritten = unwritten || !written && !write
	}
	return unwritten, conflict
}

// TestAgainstHistory compares the shadow with the whole history, on random accesses and barriers of some warps.
func TestAgainstHistory(t *testing.T) {
	const size, warps = 64, 4
	found := map[Kind]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		grain := 1 << r.IntN(3)
		s := New(size, grain)
		clocks := make([][]uint32, warps)
		for w := range clocks {
			clocks[w] = make([]uint32, warps)
			clocks[w][w] = 1
		}
		// Everything has been written, and all know it, or nothing has.
		var all []past
		if seed%2 == 0 {
			s.Write(&Access{Clock: clocks[0]}, 0, size)
			all = append(all, past{0, 0, size, 1, true})
			for w := range clocks {
				clocks[w][0] = 1
			}
		}
		for range 60 {
			if r.IntN(3) == 0 { // some warps meet
				meet(r, clocks)
				continue
			}
			w := r.IntN(warps)
			n := grain << r.IntN(3)
			off := r.IntN(size/n) * n
			write := r.IntN(2) == 0
			a := &Access{Warp: w, Clock: clocks[w]}
			var c *Conflict
			if write {
				c = s.Write(a, off, n)
			} else {
				c = s.Read(a, off, n)
			}
			unwritten, conflict := slow(all, a, off, n, write)
			if (c != nil) != (unwritten || conflict) {
				t.Fatalf("seed %d: %+v where unwritten is %v and conflict %v", seed, c, unwritten, conflict)
			}
			if c != nil {
				found[c.Kind]++
				break // what follows a fault has no meaning
			}
			all = append(all, past{w, off, n, clocks[w][w], write})
		}
	}
	for _, k := range []Kind{Unwritten, ReadAfterWrite, WriteAfterWrite, WriteAfterRead} {
		if found[k] == 0 {
			t.Errorf("kind %d never came", k)
		}
	}
}

// meet lets a random set of warps pass a barrier.
func meet(r *rand.Rand, clocks [][]uint32) {
	set := r.IntN(1 << len(clocks))
	joint := make([]uint32, len(clocks))
	for w, c := range clocks {
		for i, v := range c {
			if set>>w&1 == 1 {
				joint[i] = max(joint[i], v)
			}
		}
	}
	for w := range clocks {
		if set>>w&1 == 1 {
			copy(clocks[w], joint)
			clocks[w][w]++
		}
	}
}

// TestFlight follows a copy from its issue to its landing.
func TestFlight(t *testing.T) {
	s := New(64, 4)
	zero, one := &Access{Warp: 0, Clock: []uint32{1, 0}, Inst: 5}, &Access{Warp: 1, Clock: []uint32{0, 1}}
	if c := s.Issue(zero, 16, 16); c != nil {
		t.Fatal(c)
	}
	if c := s.Read(zero, 20, 4); c == nil || c.Kind != InFlight || c.Inst != 5 || c.Offset != 20 {
		t.Errorf("a read in flight: %+v", c)
	}
	if c := s.Write(one, 28, 4); c == nil || c.Kind != OverFlight {
		t.Errorf("a write in flight: %+v", c)
	}
	s.Land(zero, 16, 16)
	if c := s.Read(zero, 20, 4); c != nil {
		t.Errorf("a read after the wait: %+v", c)
	}
	if c := s.Read(one, 20, 4); c == nil || c.Kind != ReadAfterWrite {
		t.Errorf("a read of another warp without a barrier: %+v", c)
	}
	one.Clock[0] = 1
	if c := s.Read(one, 20, 4); c != nil {
		t.Errorf("a read of another warp after a barrier: %+v", c)
	}
}
