// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"math"
	"math/big"
)

// opposite says that the two terms of a sum have different signs, those of zeros counted.
func opposite(sign byte, a, b, c float64) bool {
	neg := math.Signbit
	switch sign {
	case '+':
		return neg(a) != neg(b)
	case '-':
		return neg(a) == neg(b)
	case 'f':
		return (neg(a) != neg(b)) != neg(c)
	}
	return false
}

// directed64 is an operation on doubles in a rounding mode that Go does not have.
func directed64(s style, sign byte) Op {
	n := 2
	if sign == 'f' {
		n = 3
	}
	return s.op(n, func(a, b, c float64) float64 {
		near := map[byte]float64{'+': a + b, '-': a - b, '*': a * b, 'f': math.FMA(a, b, c)}[sign]
		for _, v := range []float64{a, b, near} {
			if math.IsInf(v, 0) && (math.IsInf(a, 0) || math.IsInf(b, 0)) || math.IsNaN(v) {
				return near
			}
		}
		if n == 3 && (math.IsInf(c, 0) || math.IsNaN(c)) {
			return near
		}
		x, y, z := exact(a), exact(b), exact(c)
		switch sign {
		case '+':
			x.Add(x, y)
		case '-':
			x.Sub(x, y)
		case '*':
			x.Mul(x, y)
		default:
			x.Mul(x, y).Add(x, z)
		}
		if x.Sign() == 0 {
			if s.mode == down && opposite(sign, a, b, c) {
				return math.Copysign(0, -1)
			}
			return near // the sign of zero is that of rounding to nearest
		}
		return toward(near, x, s.mode)
	})
}

func exact(v float64) *big.Float {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return new(big.Float)
	}
	return new(big.Float).SetPrec(0).SetMode(big.ToNearestEven).SetPrec(4400).SetFloat64(v)
}

// toward is the double next to x by mode, where near is that by rounding to nearest.
func toward(near float64, x *big.Float, mode int) float64 {
	order := 1 // infinite near lies beyond x
	if math.IsInf(near, -1) {
		order = -1
	} else if !math.IsInf(near, 0) {
		order = exact(near).Cmp(x)
	}
	switch {
	case order == 0 || mode == nearest:
		return near
	case order > 0 && (mode == down || mode == toZero && x.Sign() > 0):
		return math.Nextafter(near, math.Inf(-1))
	case order < 0 && (mode == up || mode == toZero && x.Sign() < 0):
		return math.Nextafter(near, math.Inf(1))
	}
	return near
}

func divide(m *mods) Op {
	if m.one("approx", "full") == "" {
		mode, stated := rounding(m)
		if !stated {
			return Op{}
		}
		m.list = append([]string{[]string{"rn", "rz", "rm", "rp"}[mode]}, m.list...)
	}
	s, ok := styleOf(m)
	if !ok || s.sat || s.relu || s.t.Kind != 'f' || s.t.Bits < 32 || s.t.Pair {
		return Op{}
	}
	return s.op(2, func(a, b, _ float64) float64 { return s.quotient(a, b) })
}

// quotient is a/b, rounded to odd, or for doubles by the mode.
func (s style) quotient(a, b float64) float64 {
	q := a / b
	switch {
	case s.t.Bits == 32 && q != 0:
		return odd(q, math.FMA(-q, b, a)/b)
	case s.t.Bits == 32 || s.mode == nearest || q != q || a == 0 || b == 0 || math.IsInf(a, 0) || math.IsInf(b, 0):
		return q
	}
	x := exact(a)
	return toward(q, x.Quo(x, exact(b)), s.mode)
}

// nudge moves q, the nearest double to a number that is err greater, where the mode asks for its neighbour.
func nudge(q, err float64, mode int) float64 {
	switch {
	case err > 0 && (mode == up || mode == toZero && q < 0):
		return math.Nextafter(q, math.Inf(1))
	case err < 0 && (mode == down || mode == toZero && q > 0):
		return math.Nextafter(q, math.Inf(-1))
	}
	return q
}

func reciprocal(m *mods) Op {
	approximate := m.has("approx")
	s, ok := styleOf64(m, approximate)
	if !ok {
		return Op{}
	}
	return s.op(1, func(a, _, _ float64) float64 { return s.quotient(1, a) })
}

// styleOf64 reads the style of a function of one number; .approx.ftz.f64 drops its .ftz.
func styleOf64(m *mods, approximate bool) (style, bool) {
	double := len(m.list) == 2 && approximate && m.list[0] == "ftz" && m.list[1] == "f64"
	if double {
		m.list = m.list[1:]
	}
	s, ok := styleOf(m)
	return s, ok && !s.sat && !s.relu && s.t.Kind == 'f' && s.t.Bits >= 32 && !s.t.Pair
}

func root(m *mods) Op {
	s, ok := styleOf64(m, m.has("approx"))
	if !ok {
		return Op{}
	}
	return s.op(1, func(a, _, _ float64) float64 {
		r := math.Sqrt(a)
		if s.t.Bits == 64 && s.mode == nearest || r == 0 || math.IsInf(r, 0) || math.IsNaN(r) {
			return r
		}
		if s.t.Bits == 64 {
			x := exact(a)
			return toward(r, x.Sqrt(x), s.mode)
		}
		return odd(r, math.FMA(-r, r, a))
	})
}

// approx is the correctly rounded value of a function, as near as Go's double has it.
func approx(f func(float64) float64) func(m *mods) Op {
	return func(m *mods) Op {
		if !m.has("approx") {
			return Op{}
		}
		s, ok := styleOf(m)
		if !ok || s.sat || s.relu {
			return Op{}
		}
		return s.op(1, func(a, _, _ float64) float64 { return f(a) })
	}
}

// extremum is min or max of floating-point numbers: NaN loses, or wins with .NaN; -0 is less than +0.
func extremum(m *mods, less bool) Op {
	s := style{ftz: m.has("ftz")}
	wins := m.has("NaN")
	signs := m.has("xorsign")
	if signs && !m.has("abs") {
		return Op{}
	}
	s.t = m.typ()
	if !s.t.Float() {
		return Op{}
	}
	pick := func(a, b uint64) uint64 {
		x, y := s.load(a), s.load(b)
		flip := signs && math.Signbit(x) != math.Signbit(y)
		if signs {
			x, y = math.Abs(x), math.Abs(y)
		}
		var v float64
		switch {
		case x != x && y != y || wins && (x != x || y != y):
			return s.store(math.NaN())
		case x != x:
			v = y
		case y != y:
			v = x
		case less:
			v = math.Min(x, y)
		default:
			v = math.Max(x, y)
		}
		if flip {
			v = -v
		}
		return s.store(v)
	}
	return Op{s.each(func(a, b, _ uint64) uint64 { return pick(a, b) }), s.t, same(s.t, 2)}
}

func smaller(m *mods) Op { return extremum(m, true) }
func greater(m *mods) Op { return extremum(m, false) }

// signBits changes the signs of a code.
func signBits(m *mods, f func(code, sign uint64) uint64) Op {
	s := style{ftz: m.has("ftz")}
	s.t = m.typ()
	if !s.t.Float() {
		return Op{}
	}
	sign := uint64(1) << (s.t.Bits - 1)
	if s.t.Pair {
		sign = 1 << 15
	}
	return Op{s.each(func(a, _, _ uint64) uint64 {
		if v := s.load(a); s.ftz && v == 0 {
			a &= sign
		}
		return f(a, sign)
	}), s.t, same(s.t, 1)}
}

func negate(m *mods) Op {
	return signBits(m, func(a, sign uint64) uint64 { return a ^ sign })
}

func magnitude(m *mods) Op {
	return signBits(m, func(a, sign uint64) uint64 { return a &^ sign })
}

func copySign(m *mods) Op {
	t := m.typ()
	if t.Kind != 'f' || t.Bits < 32 || t.Pair {
		return Op{}
	}
	sign := uint64(1) << (t.Bits - 1)
	return Op{two(t.Mask(), func(a, b uint64) uint64 { return b&^sign | a&sign }), t, same(t, 2)}
}
