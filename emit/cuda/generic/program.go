// SPDX-License-Identifier: Apache-2.0

// Package generic turns the StableHLO operations of a group of nodes into kernels, whatever they are: one thread an
// element of the result, values computed where they are needed. What would be computed again and again at some cost is
// computed once: into shared memory, where blocks of threads can compute rows of the results by themselves, else by a
// kernel of its own, into a scratch buffer.
package generic

import (
	"fmt"

	"lathe/cuda/word"
	"lathe/emit/cuda/kernel"
	"lathe/ir/hlo"
)

// Program is what one group of nodes computes, for a single sample: the leading axis of inputs and results has size 1.
type Program struct {
	Ops     []hlo.Operation
	Inputs  []Buffer    // of the operations of kind input, by their index
	Weights []hlo.Array // of the operations of kind weight, by their index
	Results []Result
}

// Buffer is how a value is stored.
type Buffer struct {
	Store word.Type
	Doc   string
}

// Result is an operation whose value is wanted.
type Result struct {
	Op int
	Buffer
}

// RefKind tells what a Ref refers to.
type RefKind uint8

// The buffers that a kernel may take.
const (
	Input   RefKind = iota // of the program
	Output                 // of the program
	Scratch                // of this group alone, for each sample
	Table                  // constant data, one for all samples
)

// Ref names a buffer of a group.
type Ref struct {
	Kind  RefKind
	Index int
}

// Step is one launch: a kernel and the buffers for its parameters.
type Step struct {
	Kernel *kernel.Kernel
	Args   []Ref
}

// Group is the compiled form of a Program. Steps run one after the other.
type Group struct {
	Steps   []Step
	Scratch []ScratchBuffer
	Tables  []TableData
	// Notes say why a value got a kernel of its own.
	Notes []string
}

// ScratchBuffer is an intermediate value of Elems elements a sample.
type ScratchBuffer struct {
	Type  word.Type
	Elems int64
}

// TableData is constant data, little endian.
type TableData struct {
	Type word.Type
	Data []byte
}

// Compile makes the kernels of p; their names start with name, and doc stands above each. An error names the operations
// that have no kernel form.
func Compile(name string, doc []string, p *Program) (*Group, error) {
	p = ranks(integers(p))
	if bad := unknown(p.Ops); len(bad) > 0 {
		return nil, &UnknownError{bad}
	}
	c := &compiler{p: p, name: name, doc: doc, group: &Group{}, place: map[int]Ref{}, tables: map[int]int{}}
	s := split(p, nil)
	if len(s.own) > 0 {
		if g := inRows(name, doc, p); g != nil {
			g.Notes = append(g.Notes, s.notes...)
			return g, nil
		}
	}
	c.group.Notes = s.notes
	for i, n := range s.own {
		c.place[n] = Ref{Scratch, i}
		t := p.Ops[n].Type
		c.group.Scratch = append(c.group.Scratch, ScratchBuffer{TypeOf(t.DType), int64(t.Len())})
	}
	for i, n := range s.own {
		if err := c.kernel(n, Ref{Scratch, i}, TypeOf(p.Ops[n].Type.DType), "scratch"); err != nil {
			return nil, err
		}
	}
	for i, r := range p.Results {
		if err := c.kernel(r.Op, Ref{Output, i}, r.Store, r.Doc); err != nil {
			return nil, err
		}
	}
	return c.group, nil
}

// UnknownError lists operations that have no kernel form.
type UnknownError struct{ Kinds []string }

func (e *UnknownError) Error() string { return fmt.Sprintf("no kernel form of %v", e.Kinds) }

// compiler holds what the kernels of one group share.
type compiler struct {
	p      *Program
	name   string
	doc    []string
	group  *Group
	place  map[int]Ref // of operations that have kernels of their own
	tables map[int]int // of weights and listed constants, by operation
}

// kernel appends the kernel that computes operation n into a buffer.
func (c *compiler) kernel(n int, to Ref, store word.Type, doc string) error {
	count := int64(c.p.Ops[n].Type.Len())
	if count == 0 {
		return nil
	}
	name := c.name
	if k := len(c.group.Steps); k > 0 {
		name = fmt.Sprintf("%s_%d", c.name, k)
	}
	g := widened(func(as word.Type) *gen {
		g := newGen(c, name, count, as)
		g.run(n, to, store, doc)
		return g
	})
	if g.err != nil {
		return g.err
	}
	c.add(g)
	return nil
}

// widened is the kernel that write writes with indices of 32 bits, or of 64 where they do not do.
func widened(write func(as word.Type) *gen) *gen {
	if g := write(word.U32); !g.wide {
		return g
	}
	return write(word.U64)
}

// add appends a kernel to the steps.
func (c *compiler) add(g *gen) {
	g.k.Inline()
	c.group.Steps = append(c.group.Steps, Step{Kernel: g.k, Args: g.args})
}

// TypeOf is the kernel type of a StableHLO element type.
func TypeOf(d hlo.DType) word.Type {
	switch d {
	case hlo.I1:
		return word.Bool
	case hlo.I8:
		return word.I8
	case hlo.I32:
		return word.I32
	case hlo.UI8:
		return word.U8
	case hlo.UI32:
		return word.U32
	case hlo.UI64:
		return word.U64
	case hlo.F32:
		return word.F32
	case hlo.F64:
		return word.F64
	}
	return word.I64
}

// table is the buffer of constant data of operation n, in the narrowest type that holds it.
func (c *compiler) table(n int, a hlo.Array) (Ref, word.Type) {
	i, ok := c.tables[n]
	if !ok {
		i = len(c.group.Tables)
		c.tables[n] = i
		c.group.Tables = append(c.group.Tables, narrow(a))
	}
	return Ref{Table, i}, c.group.Tables[i].Type
}

// narrow stores integers in as few bytes as the largest of them needs, and floats whose lower halves are 0 as bf16.
func narrow(a hlo.Array) TableData {
	d := a.Type.DType
	if d == hlo.F32 {
		if upper, ok := upperHalves(a.Data); ok {
			return TableData{word.BF16, upper}
		}
	}
	if d.IsFloat() || d == hlo.I1 || d == hlo.UI64 {
		return TableData{TypeOf(d), a.Data}
	}
	values := a.Int64s()
	lo, hi := int64(0), int64(0)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	t := word.I64
	for _, s := range []struct {
		t      word.Type
		lo, hi int64
	}{{word.I32, -1 << 31, 1<<31 - 1}, {word.I16, -1 << 15, 1<<15 - 1}, {word.U8, 0, 255}, {word.I8, -128, 127}} {
		if lo >= s.lo && hi <= s.hi {
			t = s.t
		}
	}
	return TableData{t, t.Append(nil, values...)}
}

// upperHalves are those of words of four bytes, unless a lower half is not 0.
func upperHalves(words []byte) (upper []byte, ok bool) {
	for i := 0; i < len(words); i += 4 {
		if words[i] != 0 || words[i+1] != 0 {
			return nil, false
		}
	}
	upper = make([]byte, 0, len(words)/2)
	for i := 0; i < len(words); i += 4 {
		upper = append(upper, words[i+2], words[i+3])
	}
	return upper, true
}
