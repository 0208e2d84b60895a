// SPDX-License-Identifier: Apache-2.0

// Package kernel is a typed form of CUDA kernels with one printer. Every value is pure but for loads, and nothing that
// a kernel reads is written by it, but for shared buffers, which are read behind a Barrier: so a value may be computed
// wherever its variables are known, in the same Each.
package kernel

import "lathe/cuda/word"

// Var is a variable of a kernel body.
type Var struct {
	Name string
	Type word.Type
}

// Param is a buffer that a kernel takes.
type Param struct {
	Name string
	Type word.Type
	// Out: the kernel writes it, and does not read it.
	Out bool
	// Stride is the number of elements of one sample; 0: all samples share the buffer.
	Stride int64
	// Shared: the threads of a block write and read it, Stride elements of the block's own.
	Shared bool
	// Doc says what it holds, such as "conv1 1x8x8 fixed(8,4)".
	Doc string
}

// ExprKind tells what an Expr is.
type ExprKind uint8

// The expressions.
const (
	Lit    ExprKind = iota // Bits, as a value of Type
	Ref                    // Var
	Load                   // element Args[0] of Param
	Infix                  // Args[0] Name Args[1]
	Prefix                 // Name Args[0]
	Call                   // Name(Args...)
	Cast                   // (Type)Args[0]
	Choose                 // Args[0] ? Args[1] : Args[2]
)

// Expr is a value.
type Expr struct {
	Kind  ExprKind
	Type  word.Type
	Bits  uint64 // a literal: two's complement, or IEEE bits
	Name  string
	Var   *Var
	Param *Param
	Args  []*Expr
}

// Stmt is a statement.
type Stmt interface{ stmt() }

// Let names a value that stays.
type Let struct {
	Var   *Var
	Value *Expr
}

// Declare names a value that Set changes.
type Declare struct {
	Var   *Var
	Value *Expr
}

// Set gives a declared variable another value.
type Set struct {
	Var   *Var
	Value *Expr
}

// For runs Body for Var = 0 .. Count-1.
type For struct {
	Var   *Var
	Count int64
	Body  *Block
}

// If runs Then where Cond holds, else Else, which may be nil.
type If struct {
	Cond       *Expr
	Then, Else *Block
}

// Each runs Body for Var = 0 .. Count-1, which the threads of a block share.
type Each struct {
	Var   *Var
	Count int64
	Body  *Block
}

// Barrier lets no thread of a block go on before all have come here. It stands in no other statement.
type Barrier struct{}

// Store writes an element of an Out or Shared parameter.
type Store struct {
	Param        *Param
	Index, Value *Expr
}

func (Let) stmt()     {}
func (Declare) stmt() {}
func (Set) stmt()     {}
func (For) stmt()     {}
func (If) stmt()      {}
func (Store) stmt()   {}
func (Each) stmt()    {}
func (Barrier) stmt() {}

// Block is a list of statements.
type Block struct{ List []Stmt }

// Add appends a statement.
func (b *Block) Add(s Stmt) { b.List = append(b.List, s) }

// Threads is the number of threads of a block, in which each computes an element of its own.
const Threads = 128

// Kernel is one kernel: thread i of a sample, counted along grid axis x, computes element i of Count; grid axis y
// counts samples. Where Team is above 0, block i of as many threads computes row i instead.
type Kernel struct {
	Name   string
	Doc    []string
	Params []*Param
	// Local are the shared buffers of a block.
	Local []*Param
	// Index is the variable that holds the number of the thread's element, or of the block's row.
	Index *Var
	Count int64
	Team  int
	Body  *Block
}

// Blocks is the size of the grid along x.
func (k *Kernel) Blocks() int64 {
	if k.Team > 0 {
		return k.Count
	}
	return (k.Count + Threads - 1) / Threads
}

// Threads is the size of a block.
func (k *Kernel) Threads() int {
	if k.Team > 0 {
		return k.Team
	}
	return Threads
}
