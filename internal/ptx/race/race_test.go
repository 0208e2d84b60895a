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
	inst         int32
	lane         uint8
	sync         uint32
}

// against says whether two accesses of one byte conflict; lanes demands order between those of a warp too.
func (p *past) against(a *Access, write, lanes bool) bool {
	switch {
	case !p.write && !write:
		return false
	case p.warp != a.Warp:
		return a.Clock[p.warp] < p.clock
	}
	return lanes && p.sync == a.Sync && (p.lane != a.Lane || p.lane == Many)
}

// slow says whether an access is sound, from all that has happened, and whether told, the conflict that was found,
// names an earlier access of its granule that conflicts.
func slow(all []past, a *Access, off, n int, write bool, s *Shadow, told *Conflict) (unwritten, conflict, named bool) {
	for i := off; i < off+n; i++ {
		written := false
		for k := range all {
			p := &all[k]
			if i < p.off || i >= p.off+p.n {
				continue
			}
			written = written || p.write
			if !p.against(a, write, s.Lanes) {
				continue
			}
			conflict = true
			named = named || told != nil && i/s.grain == told.Offset/s.grain && p.warp == told.Warp && p.inst == told.Inst &&
				(told.Kind == WithinWarp) == (p.warp == a.Warp) &&
				(told.Kind == WithinWarp || p.write == (told.Kind != WriteAfterRead))
		}
		unwritten = unwritten || !written && !write
	}
	return unwritten, conflict, named
}

// TestAgainstHistory compares the shadow with the whole history, on random accesses and barriers of some warps: whether
// there is a conflict, and which accesses are named.
func TestAgainstHistory(t *testing.T) {
	found := map[Kind]int{}
	for seed := range uint64(3000) {
		c := history(t, seed)
		if c != nil {
			found[c.Kind]++
		}
	}
	for _, k := range []Kind{Unwritten, ReadAfterWrite, WriteAfterWrite, WriteAfterRead, WithinWarp} {
		if found[k] < 20 {
			t.Errorf("kind %d came %d times", k, found[k])
		}
	}
}

// history plays one history up to its first fault.
func history(t *testing.T, seed uint64) *Conflict {
	const size, warps = 64, 4
	r := rand.New(rand.NewPCG(seed, 1))
	grain := 1 << r.IntN(3)
	s := New(size, grain)
	s.Lanes = seed%3 == 0
	var clocks [warps][]uint32
	var syncs [warps]uint32
	for w := range clocks {
		clocks[w] = make([]uint32, warps)
		clocks[w][w] = 1
	}
	var all []past
	if seed%2 == 0 { // everything has been written, and all know it; else nothing has
		s.Write(&Access{Clock: clocks[0], Inst: -1}, 0, size)
		all = append(all, past{n: size, clock: 1, write: true, inst: -1})
		for w := range clocks {
			clocks[w][0] = 1
			syncs[w]++
		}
	}
	for step := range 60 {
		switch r.IntN(6) {
		case 0, 1: // some warps meet
			meet(r, clocks[:], syncs[:])
			continue
		case 2: // the lanes of one do
			syncs[r.IntN(warps)]++
			continue
		}
		w := r.IntN(warps)
		n := grain << r.IntN(3)
		off := r.IntN(size/n) * n
		write := r.IntN(3) == 0
		a := &Access{Warp: w, Clock: clocks[w], Inst: int32(r.IntN(5)), Lane: uint8(r.IntN(2)), Sync: syncs[w]}
		if write {
			a.Inst = int32(100 + step) // lanes that write at once in one instruction are not for this test
		}
		if r.IntN(8) == 0 {
			a.Lane = Many
		}
		access := s.Read
		if write {
			access = s.Write
		}
		c := access(a, off, n)
		unwritten, conflict, named := slow(all, a, off, n, write, s, c)
		if (c != nil) != (unwritten || conflict) {
			t.Fatalf("seed %d: %+v where unwritten is %v and conflict %v", seed, c, unwritten, conflict)
		}
		if c != nil {
			if c.Kind != Unwritten && !named {
				t.Fatalf("seed %d: %+v names an access that is no conflict with %+v", seed, c, a)
			}
			return c // what follows a fault has no meaning
		}
		all = append(all, past{w, off, n, clocks[w][w], write, a.Inst, a.Lane, a.Sync})
	}
	return nil
}

// meet lets a random set of warps pass a barrier.
func meet(r *rand.Rand, clocks [][]uint32, syncs []uint32) {
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
			syncs[w]++
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
