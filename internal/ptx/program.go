// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"lathe/internal/ptx/lane"
	"lathe/internal/ptx/parse"
)

// kind says how the loop of a warp treats an instruction.
type kind uint8

const (
	kindLane    kind = iota // fn on rows
	kindCompare             // setp with one destination
	kindSelect              // selp
	kindBranch
	kindExit
	kindRun // run does it
)

// inst is a decoded instruction. Operands are indices of rows; predicates are indices of masks.
type inst struct {
	kind   kind
	unless bool
	// visible says that other warps can notice the instruction, so that the turn passes behind it.
	visible bool
	// together says that all live lanes must execute it at once.
	together      bool
	guard         int32
	d, a, b, c, e int32
	target        int32 // of a branch
	fn            lane.Func
	cmp           lane.Cmp
	run           func(w *warp, in *inst, mask uint32) *fault
	mem           *access
	more          any // what rare instructions need besides
	src           *parse.Inst
	index         int32
}

// program is a kernel, decoded.
type program struct {
	name   string
	mod    *Module
	insts  []inst
	params []Param
	// paramSize is the length of the parameters; static that of declared shared memory; local that of a thread's own.
	paramSize, static, local int64
	// dynamic is the address at which dynamic shared memory begins.
	dynamic int64
	// init holds what the rows hold at the start of a warp: constants, and poison in registers.
	init     []lane.Row
	preds    int
	specials []special
	relocs   []reloc
	// ordered says that blocks may communicate through atomics, so that they run one after the other.
	ordered bool
}

// special is a row that holds a special register.
type special struct {
	row  int32
	name string
}

// reloc is a row that holds the address of a variable of module scope.
type reloc struct {
	row    int32
	symbol string
	add    uint64
}

func (m *Module) globals() []*parse.Var { return m.text.Vars }
