// SPDX-License-Identifier: Apache-2.0

// Package ptx executes PTX, the assembly of NVIDIA GPUs, as NVRTC prints it: whole warps per instruction, with a
// program counter for each lane, under chosen schedules, and with checks that no GPU makes.
package ptx

import (
	"slices"

	"lathe/cuda/ptx/global"
	"lathe/cuda/ptx/parse"
	"lathe/internal/diag"
)

// Module is a translation unit whose kernels can be launched. It is not changed by launches.
type Module struct {
	// Name is the file or source that messages name.
	Name    string
	text    *parse.Module
	kernels []*Kernel
}

// Param is a parameter of a kernel.
type Param struct {
	Name string
	// Offset, Size and Align are in bytes; Offset is that in the parameters of Machine.Launch.
	Offset, Size, Align int64
}

// Kernel is an .entry of a module.
type Kernel struct {
	Name   string
	Params []Param
	// Static is the size in bytes of the shared memory that the kernel declares itself.
	Static int64
	// MaxThreads is the number of threads a block that the kernel states; 0 if it states none.
	MaxThreads int
	mod        *Module
	prog       *program
}

// Parse reads a module and decodes its kernels. name stands in messages. Errors are diag.Errors: L0960 for text
// that is no PTX, L0961 for an opcode, modifier or operand that is not executed here.
func Parse(name string, src []byte) (*Module, error) {
	text, err := parse.Parse(name, src)
	if err != nil {
		return nil, err
	}
	mod := &Module{Name: name, text: text}
	for _, f := range text.Funcs {
		if !f.Entry {
			continue
		}
		prog, err := decode(mod, f)
		if err != nil {
			return nil, err
		}
		k := &Kernel{Name: f.Name, Static: prog.static, mod: mod, prog: prog, Params: prog.params}
		if f.MaxThreads[0] > 0 {
			k.MaxThreads = int(f.MaxThreads[0]) * int(max(f.MaxThreads[1], 1)) * int(max(f.MaxThreads[2], 1))
		}
		mod.kernels = append(mod.kernels, k)
	}
	return mod, nil
}

// Kernel finds a kernel by name; nil if the module has none of that name.
func (m *Module) Kernel(name string) *Kernel {
	for _, k := range m.kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Kernels are all kernels of the module, in the order of the text.
func (m *Module) Kernels() []*Kernel { return m.kernels }

// ParamBytes is the length of the parameters that Machine.Launch wants.
func (k *Kernel) ParamBytes() int64 { return k.prog.paramSize }

// Schedule is the order in which the warps of a block take turns. A warp gives its turn away only where another warp
// can notice: behind an access to memory, a barrier or a wait.
type Schedule int

// The schedules. A sound kernel yields the same bits under all of them.
const (
	// RoundRobin gives every warp one turn after the other.
	RoundRobin Schedule = iota
	// RunAhead lets the lowest warp run until it must wait.
	RunAhead
	// Reverse lets the highest warp run until it must wait.
	Reverse
	// Random draws the next warp; Options.Seed begins the sequence.
	Random
)

// Copies says when asynchronous copies take place.
type Copies int

const (
	// Eager performs a copy where it is issued.
	Eager Copies = iota
	// Lazy performs a copy at the last moment: at the wait for it, or at the end of the warp.
	Lazy
	// Anytime draws the moment of each copy, and whether a wgmma is computed where it is issued or at its wait;
	// Options.Seed begins the sequence.
	Anytime
)

// Options say how a machine runs kernels.
type Options struct {
	Schedule Schedule
	Seed     uint64
	Copies   Copies
	// Races checks the shared memory byte by byte: races, reads of what was never written, accesses to what is being
	// copied.
	Races bool
	// Grid checks global memory byte by byte: no read or write of what another block or warp wrote, unless a barrier
	// stands in between, or an atomic write behind a fence and an atomic read of it before a fence; and no read by .nc of
	// what the launch has written. Reads are not kept: what is written after a read shows in another order. Blocks run
	// one at a time.
	Grid bool
	// Blocks is the order in which blocks run.
	Blocks Order
	// Lanes lets Races demand order between the lanes of a warp too: a barrier or bar.warp.sync between an access of one
	// lane and that of another, as GPUs from sm_70 on need it.
	Lanes bool
	// Count fills the counters of Stats beyond Instructions.
	Count bool
	// Workers is the number of blocks that run at a time; 0 and 1 mean one after the other. The result does not depend
	// on it: a kernel with atomics on global memory runs its blocks in order.
	Workers int
	// First is the number of blocks at the start of a launch that do not run, x counted fastest: of a grid over more than
	// 2^31 elements only the end is of interest.
	First int64
	// Limit ends a launch with an error once a block has executed that many warp instructions; 0 means 2^36.
	Limit int64
	// Cancel, once it is closed, ends a launch with context.Canceled.
	Cancel <-chan struct{}
}

// Machine is a device: global memory and the options under which kernels run. It is not safe for concurrent use.
type Machine struct {
	opt    Options
	mem    *global.Memory
	loaded []loadedModule
}

// NewMachine returns a machine without buffers.
func NewMachine(opt Options) *Machine {
	if opt.Limit == 0 {
		opt.Limit = 1 << 36
	}
	return &Machine{opt: opt, mem: global.New()}
}

// cancelled says whether Options.Cancel is closed.
func (m *Machine) cancelled() bool {
	select {
	case <-m.opt.Cancel:
		return true
	default:
		return false
	}
}

// Options are those that the machine was made with.
func (m *Machine) Options() Options { return m.opt }

// AllocOptions say how a buffer is placed.
type AllocOptions = global.Options

// Alloc makes a buffer whose bytes are all 0xFF and returns its address. Around it lie guard zones that belong to no
// buffer.
func (m *Machine) Alloc(bytes int64, opt AllocOptions) (uint64, error) {
	return m.mem.Alloc(bytes, opt)
}

// Free gives a buffer back; addr is what Alloc returned.
func (m *Machine) Free(addr uint64) error { return m.mem.Free(addr) }

// Write stores data at an address of global memory.
func (m *Machine) Write(addr uint64, data []byte) error { return m.mem.Transfer(addr, data, true) }

// Read fills data from an address of global memory.
func (m *Machine) Read(addr uint64, data []byte) error { return m.mem.Transfer(addr, data, false) }

// loadedModule is a module whose variables have their place.
type loadedModule struct {
	mod  *Module
	vars map[string]uint64
}

// load places the variables of a module at its first launch.
func (m *Machine) load(mod *Module) (map[string]uint64, error) {
	for _, l := range m.loaded {
		if l.mod == mod {
			return l.vars, nil
		}
	}
	vars := map[string]uint64{}
	for _, v := range mod.globals() {
		if v.Space == "shared" {
			continue
		}
		addr, err := m.Alloc(max(v.Size, 1), AllocOptions{Name: v.Name})
		if err != nil {
			return nil, err
		}
		vars[v.Name] = addr
		zero := make([]byte, v.Size)
		copy(zero, v.Init)
		if err := m.Write(addr, zero); err != nil {
			return nil, err
		}
	}
	for _, v := range mod.globals() {
		for _, r := range v.Refs {
			to, ok := vars[r.Symbol]
			if !ok {
				return nil, diag.New(diag.PTXLaunch, mod.Name, "variable %s refers to %s, which does not exist", v.Name, r.Symbol)
			}
			if err := m.Write(vars[v.Name]+uint64(r.Offset), little(to + uint64(r.Add))[:r.Size]); err != nil {
				return nil, err
			}
		}
	}
	m.loaded = append(m.loaded, loadedModule{mod, vars})
	return vars, nil
}

// Unload forgets a module and gives its variables back; another launch of it places them anew.
func (m *Machine) Unload(mod *Module) error {
	at := slices.IndexFunc(m.loaded, func(l loadedModule) bool { return l.mod == mod })
	if at < 0 { // never launched
		return nil
	}
	vars := m.loaded[at].vars
	m.loaded = slices.Delete(m.loaded, at, at+1)
	for _, addr := range vars {
		if err := m.Free(addr); err != nil {
			return err
		}
	}
	return nil
}

func little(v uint64) []byte {
	b := make([]byte, 16)
	for i := range 8 {
		b[i] = byte(v >> (8 * i))
	}
	return b
}
