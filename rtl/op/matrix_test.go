// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"math/big"
	mathbits "math/bits"
	"math/rand/v2"

	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// matrix is the constants and formats of a linear operation.
type matrix struct {
	in, out      int
	inW, wW      int
	inSigned     bool
	inE, wE      int  // bits of the fields of codes of floats, 0: integers, -1: signs
	inNaN        bool // the code of all ones is one
	biasW, pshW  int
	mW           int // 0: no factors
	cast         num.Cast
	zero         int64
	keep, of     int       // weights that are kept of so many neighbours, 0: all
	weights      [][]int64 // [out][in]
	bias         []int64
	psh          []int
	m            []int64
	dotW, totalW int // the exact widths, from fill
}

// bounds returns the least and greatest code of a format.
func bounds(width int, signed bool) (least, most int64) {
	if !signed {
		return 0, 1<<width - 1
	}
	return -(1 << (width - 1)), 1<<(width-1) - 1
}

// ends are the codes of the least and of the greatest value of an operand, an integer or a float of which e bits are
// the field.
func ends(width int, signed bool, e int, nan bool) (least, most int64) {
	if e < 0 {
		return 0, 1
	}
	if e == 0 {
		return bounds(width, signed)
	}
	most = 1<<(width-1) - 1
	if nan {
		most--
	}
	return most | 1<<(width-1), most
}

// number is the integer of an operand, the code itself or what the code of a float stands for.
func number(code int64, width, e int, nan bool) int64 {
	if e < 0 {
		return 2*code - 1
	}
	if e == 0 {
		return code
	}
	return num.FloatValue(code, width, e, nan)
}

// between draws from [least, most].
func between(r *rand.Rand, least, most int64) int64 { return least + r.Int64N(most-least+1) }

// fill draws the constants. Row 0 is the most negative weight throughout, row 1 the most positive, row 2 zero; column
// 1 is zero too. Biases and shifts reach their extremes in the first rows.
func (m *matrix) fill(r *rand.Rand) {
	wLeast, wMost := ends(m.wW, true, m.wE, false)
	bLeast, bMost := bounds(m.biasW, true)
	m.weights = make([][]int64, m.out)
	for o := range m.weights {
		m.weights[o] = make([]int64, m.in)
		for j := range m.weights[o] {
			switch {
			case o == 0:
				m.weights[o][j] = wLeast
			case o == 1:
				m.weights[o][j] = wMost
			case o > 2 && j != 1 && m.wE != 0:
				m.weights[o][j] = r.Int64N(1 << m.wW)
			case o > 2 && j != 1:
				m.weights[o][j] = between(r, wLeast, wMost)
			}
		}
		m.bias = append(m.bias, []int64{bLeast, bMost, bMost, between(r, bLeast, bMost)}[min(o, 3)])
		if m.mW > 0 {
			m.m = append(m.m, []int64{1<<m.mW - 1, 1 << (m.mW - 1), between(r, 1, 1<<m.mW-1)}[min(o, 2)])
		}
		m.psh = append(m.psh, 0)
		if m.pshW > 0 {
			m.psh[o] = []int{1<<m.pshW - 1, r.IntN(1 << m.pshW)}[min(o, 1)]
		}
	}
	for _, row := range m.weights {
		for from := 0; m.of > 1 && from < m.in; from += m.of {
			for _, at := range r.Perm(m.of)[m.keep:] {
				row[from+at] = 0
			}
		}
	}
	m.measure()
}

// measure finds the widths that just hold every result.
func (m *matrix) measure() {
	m.dotW, m.totalW = 1, 1
	for o, row := range m.weights {
		for _, worst := range []bool{false, true} {
			x := m.worst(row, worst)
			dot := m.dot(row, x)
			m.dotW = max(m.dotW, bits(dot))
			m.totalW = max(m.totalW, bits(m.total(o, dot)))
		}
	}
	m.totalW = max(m.totalW, m.dotW)
}

// bits is the width in two's complement.
func bits(v *big.Int) int {
	if v.Sign() < 0 {
		v = new(big.Int).Not(v)
	}
	return v.BitLen() + 1
}

// worst is the input with the greatest (or least) product with the row.
func (m *matrix) worst(row []int64, greatest bool) []int64 {
	least, most := ends(m.inW, m.inSigned, m.inE, m.inNaN)
	x := make([]int64, m.in)
	for j, w := range row {
		x[j] = least
		if number(w, m.wW, m.wE, false) > 0 == greatest {
			x[j] = most
		}
	}
	return x
}

func (m *matrix) dot(row, x []int64) *big.Int {
	sum := new(big.Int)
	for j, w := range row {
		a, b := number(x[j], m.inW, m.inE, m.inNaN), number(w, m.wW, m.wE, false)
		sum.Add(sum, new(big.Int).Mul(big.NewInt(a), big.NewInt(b)))
	}
	return sum
}

func (m *matrix) total(o int, dot *big.Int) *big.Int {
	t := new(big.Int).Lsh(dot, uint(m.psh[o]))
	return t.Add(t, big.NewInt(m.bias[o]))
}

// apply is the operation on one vector.
func (m *matrix) apply(x []int64) []int64 {
	y := make([]int64, m.out)
	for o, row := range m.weights {
		y[o] = m.code(o, m.total(o, m.dot(row, x)))
	}
	return y
}

// code is what becomes of the sum t of output o.
func (m *matrix) code(o int, t *big.Int) int64 {
	if m.mW > 0 {
		t.Mul(t, big.NewInt(m.m[o]))
	}
	return m.cast.Offset(t, m.zero).Int64()
}

// gen puts the worst inputs of every row behind the usual extremes.
func (m *matrix) gen(_ *rand.Rand, _, frame int) []int64 {
	if k := frame - 6; k >= 0 && k < 2*m.out {
		return m.worst(m.weights[k/2], k%2 == 0)
	}
	return nil
}

// numeric are the parameters that all modules with weights share.
func (m *matrix) numeric() []rtl.Param {
	p := rtltest.P
	all := []rtl.Param{p("IN_W", m.inW), p("IN_SIGNED", flag(m.inSigned)), p("W_W", m.wW), p("DOT_W", m.dotW),
		p("BIAS_W", m.biasW), p("PSH_W", m.pshW), p("T_W", m.totalW), p("M_W", m.mW),
		p("ZERO", int(m.zero)), p("SHIFT", m.cast.Shift), p("OUT_W", m.cast.Width),
		p("OUT_SIGNED", flag(m.cast.Signed)), p("ROUND", m.cast.Round), p("OVER", m.cast.Over)}
	if m.inE != 0 || m.wE != 0 {
		all = append(all, p("IN_E", m.inE), p("IN_NAN", flag(m.inNaN)), p("W_E", m.wE))
	}
	return all
}

// word packs fields of the given width, the first one lowest.
func word(width int, fields []int64) *big.Int {
	wide := make([]*big.Int, len(fields))
	for i, f := range fields {
		wide[i] = big.NewInt(f)
	}
	return wideWord(width, wide)
}

func wideWord(width int, fields []*big.Int) *big.Int {
	w := new(big.Int)
	for i := len(fields) - 1; i >= 0; i-- {
		w.Lsh(w, uint(width)).Add(w, num.Fit(fields[i], width, false, num.Wrap))
	}
	return w
}

// konstW is the width of the constants of an output.
func (m *matrix) konstW() int { return m.mW + m.pshW + m.biasW }

// konst is the field {m, psh, bias} of output o.
func (m *matrix) konst(o int) *big.Int {
	k := num.Fit(big.NewInt(m.bias[o]), m.biasW, false, num.Wrap)
	k.Or(k, new(big.Int).Lsh(big.NewInt(int64(m.psh[o])), uint(m.biasW)))
	if m.mW > 0 {
		k.Or(k, new(big.Int).Lsh(big.NewInt(m.m[o]), uint(m.pshW+m.biasW)))
	}
	return k
}

// fieldW is the bits of a weight in the image, with its place.
func (m *matrix) fieldW() int { return m.wW + mathbits.Len(uint(max(m.of-1, 0))) }

// sparse are the parameters of weights that are kept.
func (m *matrix) sparse() []rtl.Param {
	if m.of < 2 {
		return nil
	}
	return []rtl.Param{rtltest.P("KEEP", m.keep), rtltest.P("OF", m.of)}
}

// kept are the fields {place, weight} of row o for lanes elements of x from sf on: those that are not 0 first, then
// zeros at any place.
func (m *matrix) kept(o, sf, lanes int) (fields []int64) {
	if m.of < 2 {
		return m.weights[o][sf : sf+lanes]
	}
	for from := sf; from < sf+lanes; from += m.of {
		var list []int64
		for at, w := range m.weights[o][from : from+m.of] {
			if w != 0 {
				list = append(list, int64(at)<<m.wW|w&(1<<m.wW-1))
			}
		}
		for len(list) < m.keep {
			list = append(list, int64(len(list)%m.of)<<m.wW)
		}
		fields = append(fields, list...)
	}
	return fields
}

// images are the two memories of a folded unit.
func (m *matrix) images(inLanes, outLanes int) []rtl.Image {
	weights := rtl.Image{Param: "WEIGHTS", Width: len(m.kept(0, 0, inLanes)) * outLanes * m.fieldW()}
	consts := rtl.Image{Param: "CONSTS", Width: outLanes * m.konstW()}
	for nf := 0; nf < m.out; nf += outLanes {
		var fields []*big.Int
		for p := range outLanes {
			fields = append(fields, m.konst(nf+p))
		}
		consts.Words = append(consts.Words, wideWord(m.konstW(), fields))
		for sf := 0; sf < m.in; sf += inLanes {
			var lanes []int64
			for p := range outLanes {
				lanes = append(lanes, m.kept(nf+p, sf, inLanes)...)
			}
			weights.Words = append(weights.Words, word(m.fieldW(), lanes))
		}
	}
	return []rtl.Image{weights, consts}
}

// literals are the parameters WEIGHTS and CONSTS of the unrolled unit.
func (m *matrix) literals() []rtl.Param {
	var lanes []int64
	var fields []*big.Int
	for o, row := range m.weights {
		lanes = append(lanes, row...)
		fields = append(fields, m.konst(o))
	}
	literal := func(name string, width int, word *big.Int) rtl.Param {
		return rtl.Param{Name: name, Value: fmt.Sprintf("%d'h%x", width, word)}
	}
	return []rtl.Param{literal("WEIGHTS", m.wW*len(lanes), word(m.wW, lanes)),
		literal("CONSTS", m.konstW()*len(fields), wideWord(m.konstW(), fields))}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
