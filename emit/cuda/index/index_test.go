// SPDX-License-Identifier: Apache-2.0

package index

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// value evaluates e for given variables.
func (s *Space) value(t *testing.T, e Expr, vars map[string]int64) int64 {
	t.Helper()
	v := e.K
	for _, m := range e.Terms {
		a := s.atoms[m.Atom]
		x := vars[a.Name]
		if a.Kind != Var {
			of := s.value(t, a.Of, vars)
			if of < 0 {
				t.Fatalf("quotient or remainder of %d", of)
			}
			x = of / a.By
			if a.Kind == Mod {
				x = of % a.By
			}
		}
		if x < 0 || x > a.Max {
			t.Fatalf("atom %+v is %d", a, x)
		}
		v += m.Mul * x
	}
	return v
}

// split draws dimensions with the product n.
func split(r *rand.Rand, n int) []int {
	var dims []int
	for n > 1 {
		d := 1 + r.IntN(n)
		for n%d != 0 {
			d--
		}
		dims = append(dims, d)
		n /= d
	}
	for range r.IntN(3) {
		dims = slices.Insert(dims, r.IntN(len(dims)+1), 1)
	}
	return dims
}

// TestReshape compares chains of reshapes with flat positions, and demands that a way back is the identity.
func TestReshape(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := []int{1, 6, 8, 36, 60, 64, 210}[r.IntN(7)]
		s := NewSpace()
		i := s.Var("i", int64(n))
		dims := []int{n}
		at := []Expr{i}
		var chain [][]int
		for range 1 + r.IntN(4) {
			next := split(r, n)
			at = s.Reshape(at, dims, next)
			dims, chain = next, append(chain, next)
			for axis, e := range at {
				if lo, hi := s.Range(e); lo < 0 || hi >= int64(dims[axis]) {
					t.Fatalf("%v: axis %d of %v spans %d to %d", chain, axis, dims, lo, hi)
				}
			}
		}
		flat := s.Flat(at, dims)
		if n > 1 && flat.Key() != i.Key() {
			t.Fatalf("%v: back at %s, not %s", chain, flat.Key(), i.Key())
		}
		for v := range int64(n) {
			rest := v
			for axis := len(dims) - 1; axis >= 0; axis-- {
				d := int64(dims[axis])
				if got := s.value(t, at[axis], map[string]int64{"i": v}); got != rest%d {
					t.Fatalf("%v: axis %d of element %d is %d", chain, axis, v, got)
				}
				rest /= d
			}
		}
	}
}

// TestArithmetic compares random sums, quotients and remainders with integers.
func TestArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		s := NewSpace()
		vars := map[string]int64{"a": r.Int64N(7), "b": r.Int64N(5), "c": r.Int64N(12)}
		pool := []Expr{s.Var("a", 7), s.Var("b", 5), s.Var("c", 12), Const(r.Int64N(9))}
		for range 8 {
			x, y := pool[r.IntN(len(pool))], pool[r.IntN(len(pool))]
			c := 1 + r.Int64N(8)
			want := s.value(t, x, vars)
			var e Expr
			switch r.IntN(4) {
			case 0:
				e, want = s.Add(x, y), want+s.value(t, y, vars)
			case 1:
				e, want = s.Scale(x, c-3), want*(c-3)
			case 2:
				if lo, _ := s.Range(x); lo < 0 {
					continue
				}
				e, want = s.Div(x, c), want/c
			default:
				if lo, _ := s.Range(x); lo < 0 {
					continue
				}
				e, want = s.Mod(x, c), want%c
			}
			if got := s.value(t, e, vars); got != want {
				t.Fatalf("%s is %d, want %d", e.Key(), got, want)
			}
			if lo, hi := s.Range(e); want < lo || want > hi {
				t.Fatalf("%d outside of %d to %d", want, lo, hi)
			}
			pool = append(pool, e)
		}
	}
}
