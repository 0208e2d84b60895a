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
	atomic       bool
}

// crowd are the meetings of lanes of a warp, one after the other.
type crowd []uint32

// join lets a set of lanes meet.
func (c *crowd) join(a *Access, lanes uint32) {
	*c = append(*c, lanes)
	a.Sync++
	if lanes == 1<<32-1 {
		a.All = a.Sync
		return
	}
	if a.Met == nil {
		a.Met = new(Met)
	}
	a.Met.Join(lanes, a.Sync)
}

// ordered says that what each of some lanes did before the meetings from `sync` on is known to all of others.
func (c crowd) ordered(from, to, sync uint32) bool {
	for ; from != 0; from &= from - 1 {
		reach := from & -from
		for _, group := range c[sync:] {
			if group&reach != 0 {
				reach |= group
			}
		}
		if to&^reach != 0 {
			return false
		}
	}
	return true
}

// against says whether two accesses of one byte conflict; lanes demands order between those of a warp too.
func (p *past) against(a *Access, write, lanes bool, c crowd) bool {
	switch {
	case !p.write && !write, p.atomic && a.Atomic:
		return false
	case p.warp != a.Warp:
		return a.Clock[p.warp] < p.clock
	}
	return lanes && (p.lane != a.Lane || p.lane == Many) && !c.ordered(lanesOf(p.lane), lanesOf(a.Lane), p.sync)
}

// slow says whether an access is sound, from all that has happened, and whether told, the conflict that was found,
// names an earlier access of its granule that conflicts.
func slow(all []past, a *Access, off, n int, write bool, s *Shadow, told *Conflict,
	c crowd) (unwritten, conflict, named bool) {
	for i := off; i < off+n; i++ {
		written := false
		for k := range all {
			p := &all[k]
			if i < p.off || i >= p.off+p.n {
				continue
			}
			written = written || p.write
			if !p.against(a, write, s.Lanes, c) {
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

// world are four warps, what each knows, and all that has happened.
type world struct {
	r      *rand.Rand
	grain  int
	clocks [4][]uint32
	state  [4]Access
	crowds [4]crowd
	all    []past
	parts  bool // some lanes meet, others do not
	atomic bool // some accesses are atomic
}

// shared is the number of bytes.
const shared = 64

const everyone = 1<<32 - 1

func newWorld(seed uint64) (*world, *Shadow) {
	v := &world{r: rand.New(rand.NewPCG(seed, 1)), parts: seed%9 == 0, atomic: seed%3 != 0 && seed%5 < 2}
	v.grain = 1 << v.r.IntN(3)
	s := New(shared, v.grain)
	s.Lanes = seed%3 == 0
	for w := range v.clocks {
		v.clocks[w] = make([]uint32, len(v.clocks))
		v.clocks[w][w] = 1
		v.state[w] = Access{Warp: w, Clock: v.clocks[w]}
	}
	if seed%2 == 0 { // everything has been written, and all know it; else nothing has
		s.Write(&Access{Clock: v.clocks[0], Inst: -1}, 0, shared)
		v.all = append(v.all, past{n: shared, clock: 1, write: true, inst: -1})
		for w := range v.clocks {
			v.clocks[w][0] = 1
			v.crowds[w].join(&v.state[w], everyone)
		}
	}
	return v, s
}

// gather lets warps meet, or the lanes of one.
func (v *world) gather(warps bool) {
	if warps {
		set := meet(v.r, v.clocks[:])
		for w := range v.crowds {
			if set>>w&1 == 1 {
				v.crowds[w].join(&v.state[w], everyone)
			}
		}
		return
	}
	group := uint32(everyone)
	if v.parts && v.r.IntN(4) != 0 {
		group = uint32(1 + v.r.IntN(15))
	}
	w := v.r.IntN(len(v.crowds))
	v.crowds[w].join(&v.state[w], group)
}

// access draws the next access.
func (v *world) access(step int) (a Access, off, n int, write bool) {
	a = v.state[v.r.IntN(len(v.state))]
	n = v.grain << v.r.IntN(3)
	off = v.r.IntN(shared/n) * n
	write = v.r.IntN(3) == 0
	a.Inst, a.Lane, a.Turn = int32(v.r.IntN(5)), uint8(v.r.IntN(2)), uint32(step)
	a.Atomic = v.atomic && v.r.IntN(2) == 0
	if v.parts {
		a.Lane = uint8(v.r.IntN(4))
	}
	if write {
		a.Inst = int32(100 + step) // lanes that write at once in one instruction are not for this test
	}
	if v.r.IntN(8) == 0 {
		a.Lane = Many
	}
	return a, off, n, write
}

// history plays one history up to its first fault.
func history(t *testing.T, seed uint64) *Conflict {
	v, s := newWorld(seed)
	for step := range 60 {
		if kind := v.r.IntN(6); kind < 3 {
			v.gather(kind < 2)
			continue
		}
		a, off, n, write := v.access(step)
		access := s.Read
		if write {
			access = s.Write
		}
		c := access(&a, off, n)
		unwritten, conflict, named := slow(v.all, &a, off, n, write, s, c, v.crowds[a.Warp])
		if v.parts && c != nil && c.Kind == WithinWarp && !conflict {
			return nil // of readers that met in parts only the last meeting counts: an alarm too many, never one too few
		}
		if (c != nil) != (unwritten || conflict) {
			t.Fatalf("seed %d: %+v where unwritten is %v and conflict %v", seed, c, unwritten, conflict)
		}
		if c != nil {
			if c.Kind != Unwritten && !named {
				t.Fatalf("seed %d: %+v names an access that is not a conflict with %+v", seed, c, a)
			}
			return c // what follows a fault has no meaning
		}
		v.all = append(v.all, past{a.Warp, off, n, a.Clock[a.Warp], write, a.Inst, a.Lane, a.Sync, a.Atomic})
	}
	return nil
}

// meet lets a random set of warps pass a barrier.
func meet(r *rand.Rand, clocks [][]uint32) int {
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
	return set
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
