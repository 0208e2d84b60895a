// SPDX-License-Identifier: Apache-2.0

package kernel

import "lathe/cuda/word"

// largest bounds the operations of one printed expression.
const largest = 6

// Inline puts values that are read once into the place where they are read, if that stands in the same block and the
// expression stays short enough to read, and drops values that nothing reads.
func (k *Kernel) Inline() {
	in := inliner{uses: map[*Var]int{}, at: map[*Var]*Block{}, values: map[*Var]*Expr{}}
	in.countBlock(k.Body)
	in.block(k.Body)
}

// inliner knows how often variables are read, the block of the last read, and the values that wait for it.
type inliner struct {
	uses   map[*Var]int
	at     map[*Var]*Block
	values map[*Var]*Expr
}

func (in *inliner) countBlock(b *Block) {
	for i := len(b.List) - 1; i >= 0; i-- {
		switch s := b.List[i].(type) {
		case Let:
			if in.uses[s.Var] > 0 { // else nothing reads it
				in.count(s.Value, b)
			}
		case Declare:
			in.count(s.Value, b)
		case Set:
			in.count(s.Value, b)
		case For:
			in.countBlock(s.Body)
		case Each:
			in.countBlock(s.Body)
		case If:
			in.countBlock(s.Then)
			if s.Else != nil {
				in.countBlock(s.Else)
			}
			in.count(s.Cond, b)
		case Store:
			in.count(s.Index, b)
			in.count(s.Value, b)
		}
	}
}

func (in *inliner) count(e *Expr, b *Block) {
	if e.Kind == Ref {
		in.uses[e.Var]++
		in.at[e.Var] = b
	}
	for _, a := range e.Args {
		in.count(a, b)
	}
}

func (in *inliner) block(b *Block) {
	var out []Stmt
	for _, s := range b.List {
		switch s := s.(type) {
		case Let:
			v := in.expr(s.Value)
			switch {
			case in.uses[s.Var] == 0:
			case in.uses[s.Var] == 1 && in.at[s.Var] == b && size(v) < largest:
				in.values[s.Var] = v
			default:
				out = append(out, Let{s.Var, v})
			}
		case Declare:
			out = append(out, Declare{s.Var, in.expr(s.Value)})
		case Set:
			out = append(out, Set{s.Var, in.expr(s.Value)})
		case For:
			in.block(s.Body)
			out = append(out, s)
		case Each:
			in.block(s.Body)
			out = append(out, s)
		case Barrier:
			out = append(out, s)
		case If:
			s.Cond = in.expr(s.Cond)
			in.block(s.Then)
			if s.Else != nil {
				in.block(s.Else)
			}
			out = append(out, s)
		case Store:
			out = append(out, Store{s.Param, in.expr(s.Index), in.expr(s.Value)})
		}
	}
	b.List = out
}

// expr puts waiting values into e.
func (in *inliner) expr(e *Expr) *Expr {
	if e.Kind == Ref {
		if v, ok := in.values[e.Var]; ok {
			return v
		}
		return e
	}
	if len(e.Args) == 0 {
		return e
	}
	c := *e
	c.Args = make([]*Expr, len(e.Args))
	for i, a := range e.Args {
		c.Args[i] = in.expr(a)
	}
	if inner := c.Args[0]; c.Kind == Cast && inner.Kind == Cast {
		// What C++ has widened must be narrowed.
		if x := inner.Args[0]; x.Kind != Infix && x.Kind != Prefix && keeps(x.Type, inner.Type) {
			c.Args[0] = x
		}
	}
	return &c
}

// keeps says that integer type to holds every value of type from.
func keeps(from, to word.Type) bool {
	if from.IsFloat() || to.IsFloat() || from == word.Bool || to == word.Bool {
		return false
	}
	if from.IsSigned() == to.IsSigned() {
		return to.Bytes() >= from.Bytes()
	}
	return to.IsSigned() && to.Bytes() > from.Bytes()
}

// size counts the operations of e.
func size(e *Expr) int {
	n := 0
	if e.Kind != Lit && e.Kind != Ref {
		n = 1
	}
	for _, a := range e.Args {
		n += size(a)
	}
	return n
}
