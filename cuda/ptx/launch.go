// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"slices"

	"lathe/cuda/ptx/global"
	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/race"
	"lathe/cuda/ptx/tile"
	"lathe/internal/diag"
	"lathe/internal/workers"
)

// maxThreads is the greatest number of threads a block.
const maxThreads = 1024

// Launch runs a kernel: grid blocks of block threads, shared bytes of dynamic shared memory, and the parameters as
// they lie in memory (Kernel.Params). It returns when all threads have ended. Errors are diag.Errors that name the
// kernel, the line of the module, the instruction and the thread; memory is then as the fault left it. A launch that
// Options.Cancel ends returns context.Canceled.
func (m *Machine) Launch(k *Kernel, grid, block [3]uint32, shared uint32, params []byte) (*Stats, error) {
	if k == nil {
		return nil, diag.New(diag.PTXLaunch, "",
			"no kernel is named to launch").WithHint("Module.Kernels are those of a module")
	}
	if err := k.check(grid, block, shared, params); err != nil {
		return nil, err
	}
	vars, err := m.load(k.mod)
	if err != nil {
		return nil, err
	}
	init := slices.Clone(k.prog.init)
	for _, r := range k.prog.relocs {
		init[r.row] = splat(vars[r.symbol] + r.add)
	}
	total := int64(grid[0]) * int64(grid[1]) * int64(grid[2])
	most := min(int64(max(m.opt.Workers, 1)), total)
	if k.prog.ordered || m.opt.Grid {
		most = min(most, 1)
	}
	all := make([]*cta, most)
	faults := make([]*fault, most)
	at := make([]int64, most)
	for i := range all {
		all[i] = newCTA(m, k.prog, init, grid, block, shared, params)
		if m.opt.Grid {
			all[i].history = race.NewGrid()
		}
	}
	workers.Each(len(all), func(i int) {
		for k := int64(i); k < total-m.opt.First && faults[i] == nil; k += most {
			at[i] = m.opt.block(k, total-m.opt.First)
			faults[i] = all[i].run(at[i])
		}
	})
	stats, first := &Stats{}, -1
	for i, c := range all {
		stats.add(&c.stats)
		if faults[i] != nil && (first < 0 || at[i] < at[first]) {
			first = i
		}
	}
	if first >= 0 {
		return stats, faults[first].err
	}
	return stats, nil
}

// MaxShared is the most shared memory that a block has on any GPU, in bytes: that of compute capability 9.0 and 10.0.
const MaxShared = 232448

// check refuses launches that a device would refuse.
func (k *Kernel) check(grid, block [3]uint32, shared uint32, params []byte) error {
	threads := uint64(block[0]) * uint64(block[1]) * uint64(block[2])
	refuse := func(msg string, args ...any) error {
		return diag.New(diag.PTXLaunch, k.mod.Name, "kernel "+k.Name+": "+msg, args...)
	}
	switch {
	case threads == 0 || threads > maxThreads || block[0] > maxThreads || block[1] > maxThreads || block[2] > 64:
		return refuse("blocks of (%d,%d,%d) threads", block[0], block[1], block[2])
	case k.MaxThreads > 0 && threads > uint64(k.MaxThreads):
		return refuse("%d threads a block, and it is compiled for %d", threads, k.MaxThreads)
	case grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[0] >= 1<<31 || grid[1] >= 1<<16 || grid[2] >= 1<<16:
		return refuse("a grid of (%d,%d,%d) blocks", grid[0], grid[1], grid[2])
	case int64(len(params)) != k.prog.paramSize:
		return refuse("%d bytes of parameters, and it has %d", len(params), k.prog.paramSize)
	case int64(shared)+k.Static > MaxShared:
		return refuse("%d bytes of shared memory a block", int64(shared)+k.Static)
	}
	return nil
}

// cta is a block of threads while it runs; one is used for many blocks in turn.
type cta struct {
	m           *Machine
	mem         *global.Memory
	prog        *program
	init        []lane.Row
	grid, block [3]uint32
	id          [3]uint32
	threads     int
	params      []byte
	shared      []byte
	dynamic     uint32
	cache       []*global.Buffer // the buffer that each instruction hit last
	warps       []*warp
	bars        [16]barrier
	stats       Stats
	counting    bool
	races       bool
	shadow      *race.Shadow
	index       int64 // of the block in the grid
	history     *race.Grid
	rng         uint64
	scratch     tile.Scratch
	// objects are the mbarriers by their offsets, flying the bulk copies to shared memory that have not landed, squads
	// the warpgroups; futile counts how often warps that wait for phases were all told to go on.
	objects map[int]*object
	flying  []*bulk
	squads  []squad
	futile  int
	group   *tile.Group
}

func newCTA(m *Machine, p *program, init []lane.Row, grid, block [3]uint32, shared uint32, params []byte) *cta {
	c := &cta{m: m, mem: m.mem, prog: p, init: init, grid: grid, block: block, params: params, dynamic: shared}
	c.threads = int(block[0] * block[1] * block[2])
	size := p.dynamic - sharedStart + int64(shared)
	if shared == 0 {
		size = p.static
	}
	c.shared = make([]byte, size)
	c.cache = make([]*global.Buffer, len(p.insts))
	c.counting, c.races = m.opt.Count, m.opt.Races
	n := (c.threads + lane.Width - 1) / lane.Width
	for i := range n {
		w := &warp{cta: c, id: i, rows: make([]lane.Row, len(init)), preds: make([]uint32, max(p.preds, 1))}
		w.local = make([]byte, p.local*lane.Width)
		w.clock = make([]uint32, n)
		if p.proxied {
			w.clock = make([]uint32, 2*n+maxObjects)
		}
		c.warps = append(c.warps, w)
	}
	if c.races {
		c.shadow = race.New(len(c.shared), p.grain())
		c.shadow.Lanes = m.opt.Lanes
	}
	return c
}

// threadOf is the place of a lane in its block.
func (c *cta) threadOf(warp, lane int) [3]uint32 {
	t := uint32(warp*32 + lane)
	return [3]uint32{t % c.block[0], t / c.block[0] % c.block[1], t / c.block[0] / c.block[1]}
}

// reset makes the block ready for its next place in the grid.
func (c *cta) reset(index int64) {
	g := [3]int64{int64(c.grid[0]), int64(c.grid[1]), int64(c.grid[2])}
	c.id = [3]uint32{uint32(index % g[0]), uint32(index / g[0] % g[1]), uint32(index / g[0] / g[1])}
	for i := range c.shared {
		c.shared[i] = 0xFF
	}
	c.bars, c.index = [16]barrier{}, index
	c.objects, c.flying, c.futile = map[int]*object{}, c.flying[:0], 0
	c.squads = make([]squad, (len(c.warps)+3)/4)
	c.rng = c.m.opt.Seed*0x9E3779B97F4A7C15 + uint64(index)
	if c.shadow != nil {
		c.shadow.Reset()
	}
	for _, w := range c.warps {
		copy(w.rows, c.init)
		clear(w.preds)
		for i := range w.local {
			w.local[i] = 0xFF
		}
		n := min(c.threads-w.id*lane.Width, lane.Width)
		w.live = uint32(uint64(1)<<n - 1)
		w.active, w.pc, w.next, w.wait, w.carry = w.live, 0, never, nil, 0
		w.syncs, w.all, w.met, w.story = 0, 0, nil, story{}
		w.polls, w.toldNo, w.unfenced = nil, false, 0
		w.stores, w.groups = w.stores[:0], [lane.Width]int{}
		if c.prog.grouped {
			w.flights.reset(len(w.rows))
		}
		w.copies = copyQueue{pieces: w.copies.pieces[:0], ends: w.copies.ends[:0]}
		for i := range w.clock {
			w.clock[i] = 0
		}
		w.clock[w.id] = 1
		for _, s := range c.prog.specials {
			w.rows[s.row] = w.specialRow(s.name)
		}
	}
}

// specialRow is the value of a special register at the start of a warp. The clocks stand still; there is one
// multiprocessor, and a cluster is one block.
func (w *warp) specialRow(name string) lane.Row {
	c := w.cta
	axis := func(v [3]uint32) lane.Row { return splat(uint64(v[name[len(name)-1]-'x'])) }
	each := func(f func(i int) uint64) (r lane.Row) {
		for i := range r {
			r[i] = f(i)
		}
		return r
	}
	switch name {
	case "%tid.x", "%tid.y", "%tid.z":
		return each(func(i int) uint64 { return uint64(c.threadOf(w.id, i)[name[5]-'x']) })
	case "%ntid.x", "%ntid.y", "%ntid.z":
		return axis(c.block)
	case "%ctaid.x", "%ctaid.y", "%ctaid.z", "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z":
		if len(name) > 8 {
			return splat(0)
		}
		return axis(c.id)
	case "%nctaid.x", "%nctaid.y", "%nctaid.z":
		return axis(c.grid)
	case "%laneid":
		return each(func(i int) uint64 { return uint64(i) })
	case "%warpid":
		return splat(uint64(w.id))
	case "%nwarpid":
		return splat(uint64(len(c.warps)))
	case "%nsmid", "%cluster_nctarank", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z":
		return splat(1)
	case "%lanemask_eq":
		return each(func(i int) uint64 { return 1 << i })
	case "%lanemask_lt":
		return each(func(i int) uint64 { return 1<<i - 1 })
	case "%lanemask_le":
		return each(func(i int) uint64 { return 2<<i - 1 })
	case "%lanemask_gt":
		return each(func(i int) uint64 { return full &^ (2<<i - 1) })
	case "%lanemask_ge":
		return each(func(i int) uint64 { return full &^ (1<<i - 1) })
	case "%dynamic_smem_size":
		return splat(uint64(c.dynamic))
	case "%total_smem_size":
		return splat(uint64(len(c.shared)))
	}
	return splat(0)
}
