// SPDX-License-Identifier: Apache-2.0

package race

import "maps"

// Known says of blocks how far the clocks of their warps have been heard of. It is not changed once it is made.
type Known map[int64][]uint32

// Join is what both know.
func (k Known) Join(o Known) Known {
	switch {
	case len(o) == 0:
		return k
	case len(k) == 0:
		return o
	}
	all := maps.Clone(k)
	for block, clock := range o {
		if all[block] == nil {
			all[block] = clock
			continue
		}
		both := append([]uint32(nil), clock...)
		for i, c := range all[block] {
			both[i] = max(both[i], c)
		}
		all[block] = both
	}
	return all
}

// GridAccess is an access to a byte of global memory.
type GridAccess struct {
	Warp int
	// Block is the place of the warp's block in the grid, Clock what the warp knows of the warps of that block, and Known
	// what it knows of other blocks.
	Block int64
	Clock []uint32
	Known Known
	// Inst is an index that GridConflict gives back.
	Inst int32
	// Atomic accesses do not conflict with each other.
	Atomic bool
}

// GridConflict is the earlier access, a write, that a later one does not follow.
type GridConflict struct {
	Block int64
	Warp  int
	Inst  int32
}

// written is who wrote a byte last; inst is an index + 1, 0 where nobody has.
type written struct {
	block  int64
	clock  uint32
	inst   int32
	warp   uint8
	atomic bool
}

const gridPage = 1 << 12

// Grid is the history of global memory during a launch: who wrote each byte, and what atomic accesses tell of blocks.
// Reads are not kept: what is written after a read is, in another order of blocks or warps, read after it was written.
type Grid struct {
	pages map[uint64]*[gridPage]written
	told  map[uint64]Known
	// The page that was asked for last, nil where nothing of it was written.
	last   *[gridPage]written
	lastAt uint64
}

// NewGrid is the history before the first access.
func NewGrid() *Grid {
	return &Grid{pages: map[uint64]*[gridPage]written{}, told: map[uint64]Known{}, lastAt: 1<<64 - 1}
}

// page is the one of an address, or nil.
func (g *Grid) page(addr uint64) *[gridPage]written {
	if at := addr / gridPage; at != g.lastAt {
		g.last, g.lastAt = g.pages[at], at
	}
	return g.last
}

// Earlier is the write of a byte that an access does not follow, or nil.
func (g *Grid) Earlier(a *GridAccess, addr uint64) *GridConflict {
	page := g.page(addr)
	if page == nil {
		return nil
	}
	w := &page[addr%gridPage]
	if w.inst == 0 || a.Atomic && w.atomic {
		return nil
	}
	clock := a.Clock
	if w.block != a.Block {
		clock = a.Known[w.block]
	} else if int(w.warp) == a.Warp {
		return nil
	}
	if clock != nil && clock[w.warp] >= w.clock {
		return nil
	}
	return &GridConflict{w.block, int(w.warp), w.inst - 1}
}

// Touched is the last write of a byte in the launch, or nil: what is read past the caches' order must have none.
func (g *Grid) Touched(addr uint64) *GridConflict {
	if page := g.page(addr); page != nil && page[addr%gridPage].inst != 0 {
		w := &page[addr%gridPage]
		return &GridConflict{w.block, int(w.warp), w.inst - 1}
	}
	return nil
}

// Write notes a write of a byte.
func (g *Grid) Write(a *GridAccess, addr uint64) {
	page := g.page(addr)
	if page == nil {
		page = new([gridPage]written)
		g.pages[addr/gridPage], g.last = page, page
	}
	page[addr%gridPage] = written{a.Block, a.Clock[a.Warp], a.Inst + 1, uint8(a.Warp), a.Atomic}
}

// Hear is what atomic writes to an address tell who reads it atomically.
func (g *Grid) Hear(addr uint64) Known { return g.told[addr] }

// Tell notes what an atomic write tells: all that its warp had told by its last fence, nil without one. A
// read-modify-write passes on what it found.
func (g *Grid) Tell(addr uint64, what Known, modifies bool) {
	if modifies {
		what = what.Join(g.told[addr])
	}
	if what == nil {
		delete(g.told, addr)
		return
	}
	g.told[addr] = what
}
