// SPDX-License-Identifier: Apache-2.0

// Package index computes with element indices: sums of multiples of variables, quotients and remainders, in a normal
// form in which taking an index apart along the axes of a tensor and putting it together again gives the index.
package index

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind tells what an Atom is.
type Kind uint8

// The atoms.
const (
	Var Kind = iota // a variable of the kernel
	Div             // floor(Of / By)
	Mod             // Of - By*floor(Of / By)
)

// Atom is an index that is no sum. Its value lies in 0..Max.
type Atom struct {
	Kind Kind
	Name string // of a variable
	Of   Expr
	By   int64
	Max  int64
}

// Term is a multiple of an atom, by its number in the Space.
type Term struct {
	Atom int
	Mul  int64
}

// Expr is K plus the terms, in ascending order of atoms, none of which is zero.
type Expr struct {
	K     int64
	Terms []Term
}

// Const is the index k.
func Const(k int64) Expr { return Expr{K: k} }

// IsConst says that e is the same for every thread.
func (e Expr) IsConst() bool { return len(e.Terms) == 0 }

// Space holds the atoms of one kernel.
type Space struct {
	atoms []Atom
	found map[string]int
}

// NewSpace is an empty space.
func NewSpace() *Space { return &Space{found: map[string]int{}} }

// Atom returns atom number i.
func (s *Space) Atom(i int) Atom { return s.atoms[i] }

// Var is the variable called name, which takes values from 0 to limit-1.
func (s *Space) Var(name string, limit int64) Expr {
	return s.intern(Atom{Kind: Var, Name: name, Max: max(limit-1, 0)}, "v"+name)
}

func (s *Space) intern(a Atom, key string) Expr {
	i, ok := s.found[key]
	if !ok {
		i = len(s.atoms)
		s.atoms = append(s.atoms, a)
		s.found[key] = i
	}
	return Expr{Terms: []Term{{i, 1}}}
}

// Key is the same text for equal indices.
func (e Expr) Key() string {
	var b strings.Builder
	b.WriteString(strconv.FormatInt(e.K, 10))
	for _, t := range e.Terms {
		fmt.Fprintf(&b, "+%d*%d", t.Mul, t.Atom)
	}
	return b.String()
}

// Range is the least and the greatest value that e can take, as far as its atoms are independent.
func (s *Space) Range(e Expr) (lo, hi int64) {
	lo, hi = e.K, e.K
	for _, t := range e.Terms {
		if d := t.Mul * s.atoms[t.Atom].Max; d > 0 {
			hi += d
		} else {
			lo += d
		}
	}
	return lo, hi
}

// Scale is c*e.
func (s *Space) Scale(e Expr, c int64) Expr {
	if c == 0 {
		return Expr{}
	}
	out := Expr{K: e.K * c, Terms: slices.Clone(e.Terms)}
	for i := range out.Terms {
		out.Terms[i].Mul *= c
	}
	return out
}

// Add is a + b.
func (s *Space) Add(a, b Expr) Expr {
	out := Expr{K: a.K + b.K}
	i, j := 0, 0
	for i < len(a.Terms) || j < len(b.Terms) {
		switch {
		case j == len(b.Terms) || i < len(a.Terms) && a.Terms[i].Atom < b.Terms[j].Atom:
			out.Terms = append(out.Terms, a.Terms[i])
			i++
		case i == len(a.Terms) || b.Terms[j].Atom < a.Terms[i].Atom:
			out.Terms = append(out.Terms, b.Terms[j])
			j++
		default:
			if m := a.Terms[i].Mul + b.Terms[j].Mul; m != 0 {
				out.Terms = append(out.Terms, Term{a.Terms[i].Atom, m})
			}
			i, j = i+1, j+1
		}
	}
	return s.join(out)
}

// join replaces (x mod c)*m + (x div c)*c*m by x*m, as often as it occurs.
func (s *Space) join(e Expr) Expr {
	for again := true; again; {
		again = false
		for _, t := range e.Terms {
			a := s.atoms[t.Atom]
			if a.Kind != Mod {
				continue
			}
			q := s.Div(a.Of, a.By)
			if q.K != 0 || len(q.Terms) != 1 || q.Terms[0].Mul != 1 {
				continue
			}
			at := slices.Index(e.Terms, Term{q.Terms[0].Atom, t.Mul * a.By})
			if at < 0 {
				continue
			}
			rest := Expr{K: e.K}
			for _, r := range e.Terms {
				if r != t && r != e.Terms[at] {
					rest.Terms = append(rest.Terms, r)
				}
			}
			e, again = s.Add(rest, s.Scale(a.Of, t.Mul)), true
			break
		}
	}
	return e
}

// part splits e = c*quotient + rest with 0 <= rest; ok says that it could.
func (s *Space) part(e Expr, c int64) (quotient, rest Expr, ok bool) {
	k := e.K / c
	if e.K%c < 0 {
		k--
	}
	quotient, rest = Const(k), Const(e.K-k*c)
	for _, t := range e.Terms {
		if t.Mul%c == 0 {
			quotient.Terms = append(quotient.Terms, Term{t.Atom, t.Mul / c})
		} else {
			rest.Terms = append(rest.Terms, t)
		}
	}
	lo, _ := s.Range(rest)
	return quotient, rest, lo >= 0
}

// Div is floor(e / c) for c > 0 and e that is never negative.
func (s *Space) Div(e Expr, c int64) Expr {
	if c == 1 {
		return e
	}
	q, rest, ok := s.part(e, c)
	if !ok {
		q, rest = Expr{}, e
	}
	_, hi := s.Range(rest)
	if hi < c {
		return s.join(q)
	}
	if len(rest.Terms) == 1 && rest.K == 0 && rest.Terms[0].Mul == 1 {
		switch a := s.atoms[rest.Terms[0].Atom]; {
		case a.Kind == Div:
			return s.Add(q, s.quotient(a.Of, a.By*c))
		case a.Kind == Mod && a.By%c == 0:
			return s.Add(q, s.Mod(s.Div(a.Of, c), a.By/c))
		}
	}
	return s.Add(q, s.quotient(rest, c))
}

func (s *Space) quotient(e Expr, c int64) Expr {
	_, hi := s.Range(e)
	return s.intern(Atom{Kind: Div, Of: e, By: c, Max: hi / c}, fmt.Sprintf("d%d:%s", c, e.Key()))
}

// Mod is the remainder of Div.
func (s *Space) Mod(e Expr, c int64) Expr {
	if c == 1 {
		return Expr{}
	}
	_, rest, ok := s.part(e, c)
	if !ok {
		rest = e
	}
	if _, hi := s.Range(rest); hi < c {
		return rest
	}
	if len(rest.Terms) == 1 && rest.K == 0 && rest.Terms[0].Mul == 1 {
		if a := s.atoms[rest.Terms[0].Atom]; a.Kind == Mod && a.By%c == 0 {
			return s.Mod(a.Of, c)
		}
	}
	return s.intern(Atom{Kind: Mod, Of: rest, By: c, Max: c - 1}, fmt.Sprintf("m%d:%s", c, rest.Key()))
}

// Flat is the row-major position of an element of a tensor.
func (s *Space) Flat(at []Expr, dims []int) Expr {
	flat := Expr{}
	for i, d := range dims {
		flat = s.Add(s.Scale(flat, int64(d)), at[i])
	}
	return flat
}

// Apart is the inverse of Flat; there must be an element.
func (s *Space) Apart(flat Expr, dims []int) []Expr {
	at := make([]Expr, len(dims))
	stride := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		q := s.Div(flat, stride)
		if i == 0 || dims[i] == 1 {
			at[i] = q
		} else {
			at[i] = s.Mod(q, int64(dims[i]))
		}
		if dims[i] == 1 {
			at[i] = Expr{}
		}
		stride *= int64(dims[i])
	}
	return at
}

// Reshape is the position in a tensor of dims from that has the same place in row-major order as at in one of dims to.
// Axes that both have in common keep their index.
func (s *Space) Reshape(at []Expr, to, from []int) []Expr {
	out := make([]Expr, 0, len(from))
	i, j := 0, 0
	for i < len(to) || j < len(from) {
		m, n := 1, 1 // elements of a group of axes on both sides
		i0, j0 := i, j
		for i0 == i && j0 == j || m != n || i < len(to) && to[i] == 1 || j < len(from) && from[j] == 1 {
			if j == len(from) || i < len(to) && (m < n || m == n && to[i] == 1 || m == n && i == i0) {
				m *= to[i]
				i++
			} else {
				n *= from[j]
				j++
			}
		}
		out = append(out, s.Apart(s.Flat(at[i0:i], to[i0:i]), from[j0:j])...)
	}
	return out
}
