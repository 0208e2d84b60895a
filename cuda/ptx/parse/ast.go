// SPDX-License-Identifier: Apache-2.0

// Package parse reads PTX text, as NVRTC prints it, into instructions whose names are resolved to declarations. It
// knows the grammar of PTX and nothing of what an opcode does.
package parse

// Module is one translation unit.
type Module struct {
	// Name is the file or source that messages name.
	Name string
	// Version and Target are the texts behind .version and .target.
	Version, Target string
	// Vars are the variables of module scope, in the order of their declarations.
	Vars []*Var
	// Funcs are the functions with a body; an .entry is a kernel.
	Funcs []*Func
	// Lines is the text, line by line; Inst.Line - 1 is an index into it.
	Lines []string
	// Files are the sources of Inst.From by their numbers; "" where a number has none.
	Files []string
}

// Place is a line of a source: a number of Module.Files. Line 0 is none.
type Place struct{ File, Line int }

// Var is a variable or a parameter.
type Var struct {
	Name  string
	Space string // param, shared, global, const or local
	Type  string // "u32"; the element type
	Align int64  // bytes
	Size  int64  // bytes; 0 of an array without a length
	// Extern says that the variable is declared only; dynamic shared memory is.
	Extern bool
	// Init holds the bytes of an initialised variable; nil if it is not initialised.
	Init []byte
	// Refs are addresses of other variables within Init.
	Refs []Ref
	Line int
}

// Ref says that the address of Symbol plus Add stands at Offset of an initialised variable, Size bytes long. Generic
// says that it is a generic address, not one of the variable's own space.
type Ref struct {
	Offset, Size int64
	Symbol       string
	Add          int64
	Generic      bool
}

// Reg is a register of a function.
type Reg struct {
	Name string
	Type string // "b32", "pred"
}

// Func is a function with a body.
type Func struct {
	Name    string
	Entry   bool
	Returns []*Var
	Params  []*Var
	// Regs are all registers of the body; operands hold indices into them.
	Regs []Reg
	// Vars are the variables declared inside the body.
	Vars []*Var
	Body []Inst
	// Tables are the lists of labels that brx.idx names, by their own label.
	Tables map[string][]string
	// Labels gives the index of the instruction behind each label; len(Body) stands for the end.
	Labels map[string]int
	// MaxThreads is .maxntid or .reqntid; zero where it is not stated.
	MaxThreads [3]uint32
	Line       int
}

// Kind is what an operand is.
type Kind uint8

// The kinds of operands.
const (
	KindReg     Kind = iota // a register, or a pair of registers d|p
	KindInt                 // an integer constant, as 64 bits
	KindF32                 // 0f..., its 32 bits
	KindF64                 // 0d... or a decimal fraction, its 64 bits
	KindSymbol              // a variable, label or function, plus a constant
	KindSpecial             // a special register such as %tid.x
	KindVector              // {a, b, ...}
	KindAddr                // [base + constant], perhaps with coordinates behind it
	KindSink                // _
	KindList                // (a, b) of a call
)

// Operand is one operand of an instruction.
type Operand struct {
	Kind Kind
	// Reg is the register, or the base of an address; -1 where a symbol or constant is the base.
	Reg int
	// Pair is the second register of d|p, else -1; PairSink says that the first of the two is _.
	Pair int
	// Not says that a predicate is negated, or a number has a minus before a register.
	Not bool
	// Name is that of a symbol or special register, or the base of an address.
	Name string
	// Val is the value of a constant, or what is added to a base.
	Val uint64
	// Elems are the parts of a vector or list, or the coordinates behind an address.
	Elems []Operand
}

// Inst is one instruction.
type Inst struct {
	// Guard is the register of @p, else -1; Unless says @!p.
	Guard  int
	Unless bool
	// Op and Mods are the opcode without its modifiers and the modifiers: "ld" and global, v4, u32.
	Op   string
	Mods []string
	Args []Operand
	Line int
	// From is where the source has the instruction, if the text was compiled with lines.
	From Place
}
