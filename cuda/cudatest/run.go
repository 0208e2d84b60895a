// SPDX-License-Identifier: Apache-2.0

package cudatest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/cuda/ptx"
)

// Buffer is a piece of global memory that a job works on.
type Buffer struct {
	// Name stands in messages.
	Name string
	// Data is the content at the start; with Bytes larger, that of the first bytes. What is not given is 0xFF.
	Data []byte
	// Bytes is the size; 0 stands for that of Data.
	Bytes int64
	// Out says that the buffer is handed back. The content of every other buffer must be left as it was.
	Out bool
	// Sparse buffers may be larger than this machine's memory: Pieces are written and, where Out is set, read back in the
	// same order, one after the other. Data must be nil.
	Sparse bool
	Pieces []Piece
}

// Piece is a part of a sparse buffer: content at the start, or, for an output, the place that is read.
type Piece struct {
	At    int64 // bytes from the start of the buffer
	Data  []byte
	Bytes int64 // to be read; 0 stands for the length of Data
}

func (b Buffer) size() int64 { return max(b.Bytes, int64(len(b.Data))) }

// Job is a few launches over buffers.
type Job struct {
	Kernels  []cuda.Instance
	Launches []cuda.Launch
	Buffers  []Buffer
	// Quick runs two orders only, one of them with the race detector; for large jobs of a kernel that runs all orders
	// elsewhere.
	Quick bool
	// Order, if not 0, draws the one order that runs: for sweeps over many jobs.
	Order uint64
	// First is the number of blocks at the start of each launch that do not run: of a grid over more than 2^31 elements
	// only the end is of interest.
	First int64
	// Arch is the target whose PTX runs; "" is the portable one.
	Arch string
}

// order is one way to run a job.
type order struct {
	schedule ptx.Schedule
	seed     uint64
	copies   ptx.Copies
	races    bool
}

func (o order) String() string {
	name := [...]string{"round robin", "run-ahead", "reverse", "random"}[o.schedule]
	return fmt.Sprintf("%s, seed %d, %s copies", name, o.seed, [...]string{"eager", "lazy", "drawn"}[o.copies])
}

// orders are {round robin, run-ahead, reverse, three random ones} x {eager, lazy}, where one of the random ones draws
// the moment of each copy instead. The race detector is on in the first, since it does not depend on the order; quick
// jobs keep the first and one that differs from it in everything.
func orders(quick bool) []order {
	if quick {
		return []order{{ptx.RoundRobin, 0, ptx.Eager, true}, {ptx.Reverse, 0, ptx.Lazy, false}}
	}
	var all []order
	for _, c := range []ptx.Copies{ptx.Eager, ptx.Lazy} {
		for _, s := range []ptx.Schedule{ptx.RoundRobin, ptx.RunAhead, ptx.Reverse} {
			all = append(all, order{s, 0, c, len(all) == 0})
		}
		for seed := uint64(1); seed <= 3; seed++ {
			if seed == 3 && c == ptx.Eager {
				c = ptx.Anytime
			}
			all = append(all, order{ptx.Random, seed, c, false})
		}
	}
	return all
}

// drawn is one of all orders, every fourth with the race detector on.
func drawn(seed uint64) order {
	r := rand.New(rand.NewPCG(seed, 0x6f72646572))
	schedule, copies := ptx.Schedule(r.IntN(int(ptx.Random)+1)), ptx.Copies(r.IntN(int(ptx.Anytime)+1))
	return order{schedule, r.Uint64(), copies, r.IntN(4) == 0}
}

// orders are those in which the job runs.
func (j Job) orders() []order {
	if j.Order != 0 {
		return []order{drawn(j.Order)}
	}
	return orders(j.Quick)
}

// Run compiles the kernels of a job and runs it in every order. All orders must give the same bits and leave the inputs
// alone. It returns the outputs, in the order of the buffers.
func Run(t testing.TB, j Job) [][]byte {
	t.Helper()
	out, _ := Trace(t, j)
	return out
}

// Trace is Run, and returns the counters of each launch in the first order.
func Trace(t testing.TB, j Job) ([][]byte, []*ptx.Stats) {
	t.Helper()
	mod, changed := load(t, j.Arch, j.Kernels...)
	for _, l := range j.Launches {
		if err := fit(j.Kernels, l); err != nil {
			t.Fatal(err)
		}
	}
	var first [][]byte
	var counted []*ptx.Stats
	all := j.orders()
	if !changed {
		all = all[:1] // these runs have passed
	}
	for k, o := range all {
		out, stats, err := j.run(mod, o)
		if err != nil {
			t.Fatalf("%s: %v", o, err)
		}
		if k == 0 {
			first, counted = out, stats
			continue
		}
		for i := range out {
			if !bytes.Equal(out[i], first[i]) {
				t.Fatalf("%s: output %d differs from that of the first order: %s", o, i, FirstDifference(out[i], first[i], 1))
			}
		}
	}
	return first, counted
}

// Load compiles kernels for an architecture, "" being the portable one, and reads their PTX.
func Load(t testing.TB, arch string, kernels ...cuda.Instance) *ptx.Module {
	t.Helper()
	mod, _ := load(t, arch, kernels...)
	return mod
}

// load is Load; changed is that of compile.
func load(t testing.TB, arch string, kernels ...cuda.Instance) (mod *ptx.Module, changed bool) {
	t.Helper()
	if arch == "" {
		arch = cuda.PortablePTX
	}
	m, changed := compile(t, Compiler(t), kernels, arch)
	mod, err := ptx.Parse(name(kernels)+".ptx", m.PTX)
	if err != nil {
		t.Fatal(err)
	}
	return mod, changed
}

func fit(kernels []cuda.Instance, l cuda.Launch) error {
	for _, i := range kernels {
		if i.Kernel == l.Kernel {
			return i.Fit(l)
		}
	}
	return fmt.Errorf("no kernel %s in the job", l.Kernel)
}

// run runs the job in one order.
func (j Job) run(mod *ptx.Module, o order) ([][]byte, []*ptx.Stats, error) {
	return j.On(mod, ptx.Options{
		Schedule: o.schedule, Seed: o.seed, Copies: o.copies, Races: o.races, Lanes: o.races, Count: o.races,
		Blocks: blockOrder(o.schedule), Grid: o.races || o.schedule == ptx.Reverse && o.copies == ptx.Lazy,
		Workers: 1, First: j.First,
	})
}

// blockOrder goes with an order of warps: what runs in reverse does so altogether.
func blockOrder(s ptx.Schedule) ptx.Order {
	switch s {
	case ptx.Reverse:
		return ptx.Descending
	case ptx.Random:
		return ptx.Shuffled
	}
	return ptx.Ascending
}

// On runs the launches of the job once, by what is in mod, on a machine of its own. It returns the outputs, in the
// order of the buffers, and the counters of each launch. An error where the machine stops, or an input has changed.
func (j Job) On(mod *ptx.Module, o ptx.Options) ([][]byte, []*ptx.Stats, error) {
	m := ptx.NewMachine(o)
	addresses, err := j.place(m)
	if err != nil {
		return nil, nil, err
	}
	var stats []*ptx.Stats
	for _, l := range j.Launches {
		params, err := l.Pack(addresses)
		if err != nil {
			return nil, nil, err
		}
		s, err := m.Launch(mod.Kernel(l.Kernel), l.Grid, l.Block, l.Shared, params)
		if err != nil {
			return nil, nil, err
		}
		stats = append(stats, s)
	}
	out, err := j.read(m, addresses)
	return out, stats, err
}

// place makes the buffers and returns their addresses.
func (j Job) place(m *ptx.Machine) ([]uint64, error) {
	var addresses []uint64
	for _, b := range j.Buffers {
		at, err := m.Alloc(b.size(), ptx.AllocOptions{Name: b.Name, Sparse: b.Sparse})
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, at)
		if len(b.Data) > 0 {
			if err := m.Write(at, b.Data); err != nil {
				return nil, err
			}
		}
		for _, p := range b.Pieces {
			if len(p.Data) == 0 {
				continue
			}
			if err := m.Write(at+uint64(p.At), p.Data); err != nil {
				return nil, err
			}
		}
	}
	return addresses, nil
}

// read returns the outputs, and an error where another buffer has changed.
func (j Job) read(m *ptx.Machine, addresses []uint64) ([][]byte, error) {
	var out [][]byte
	for i, b := range j.Buffers {
		got, want, err := b.contents(m, addresses[i])
		if err != nil {
			return nil, err
		}
		if b.Out {
			out = append(out, got)
		} else if !bytes.Equal(got, want) {
			return nil, fmt.Errorf("the input %s has changed: %s", b.Name, FirstDifference(got, want, 1))
		}
	}
	return out, nil
}

// contents reads a buffer, and what it held at the start as far as that was given.
func (b Buffer) contents(m *ptx.Machine, at uint64) (now, before []byte, err error) {
	if !b.Sparse {
		now = make([]byte, b.size())
		before = bytes.Repeat([]byte{0xFF}, len(now))
		copy(before, b.Data)
		if len(now) > 0 {
			err = m.Read(at, now)
		}
		return now, before, err
	}
	for _, p := range b.Pieces {
		part := make([]byte, max(p.Bytes, int64(len(p.Data))))
		if err := m.Read(at+uint64(p.At), part); err != nil {
			return nil, nil, err
		}
		now, before = append(now, part...), append(before, p.Data...)
		before = append(before, bytes.Repeat([]byte{0xFF}, len(part)-len(p.Data))...)
	}
	return now, before, nil
}

// Plan is the plan of a problem, on sm_90 where it depends on the architecture.
func Plan[O any](t testing.TB, p cuda.Problem[O]) cuda.Plan[O] {
	t.Helper()
	a, err := cuda.FindArch("sm_90")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(a)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// Add adds the launches of a problem to a job, and its kernels as far as the job lacks them.
func Add[O any](t testing.TB, j *Job, p cuda.Problem[O], o O) {
	t.Helper()
	plan := Plan(t, p)
	for _, i := range plan.Instances {
		if !slices.ContainsFunc(j.Kernels, func(k cuda.Instance) bool { return k.Kernel == i.Kernel }) {
			j.Kernels = append(j.Kernels, i)
		}
	}
	j.Launches = append(j.Launches, plan.Launches(o)...)
}
