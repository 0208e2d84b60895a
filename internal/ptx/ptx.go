// SPDX-License-Identifier: Apache-2.0

// Package ptx executes PTX, the assembly of NVIDIA GPUs, as NVRTC prints it: whole warps per instruction, with a program
// counter for each lane, under chosen schedules, and with checks that no GPU makes. docs/ptx.md says what it executes,
// what it checks and what it cannot prove.
package ptx

import (
	"lathe/internal/ptx/parse"
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

// Parse reads a module and decodes its kernels. name stands in messages. Errors are diag.Errors: L0960 for text that is
// no PTX, L0961 for an opcode, modifier or operand that is not executed here.
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
