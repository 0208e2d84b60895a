// SPDX-License-Identifier: Apache-2.0

package tile

import (
	"encoding/binary"
	"math"

	"lathe/cuda/ptx/lane"
)

// GroupRows is the number of rows of wgmma that one warp of the four computes: that of rank w has those from 16w on.
const GroupRows = 16

// MaxN is the greatest number of columns of wgmma.
const MaxN = 256

// GroupC gives row and column of register reg of a lane of wgmma's accumulators of 32 bits, among the 16 rows of its
// warp (PTX ISA, "wgmma.m64nNk16, register fragment of D").
func GroupC(l, reg int) (row, col int) { return l/4 + reg/2%2*8, reg/4*8 + l%4*2 + reg%2 }

// Elements says what the elements of wgmma are, and what becomes of them on the way.
type Elements struct {
	// Brain says bfloat16, else half precision; Bytes that they are integers of 8 bits, SignedA and SignedB of which kind.
	Brain, Bytes, SignedA, SignedB bool
	// NegateA and NegateB change the signs of floats, Saturate clamps sums of integers.
	NegateA, NegateB, Saturate bool
}

// depth is the number of elements of 32 bytes.
func (e Elements) depth() int {
	if e.Bytes {
		return 32
	}
	return 16
}

// Group is the room of one wgmma by one warp: fill A, B and C, then Multiply.
type Group struct {
	e Elements
	a [GroupRows][32]float64
	b [MaxN][16]float64
	c [GroupRows][MaxN]float64
	// Integers have room of their own.
	ia [GroupRows][32]int32
	ib [MaxN][32]int32
	ic [GroupRows][MaxN]int32
}

// Begin says what the next matrices hold.
func (g *Group) Begin(e Elements) { g.e = e }

// value is a float of 16 bits.
func (g *Group) value(code uint16, negate bool) float64 {
	v := 0.0
	if g.e.Brain {
		v = brains(uint64(code))
	} else {
		v = halves()[code]
	}
	if negate {
		return -v
	}
	return v
}

// RegistersA reads A from four registers: the fragment of mma with K of 32 bytes.
func (g *Group) RegistersA(rows []*lane.Row) {
	s := Shape{K: g.e.depth(), Bits: 256 / g.e.depth()}
	for reg, row := range rows {
		for l, v := range row {
			i, k := s.A(l, reg, 0)
			if g.e.Bytes {
				spread(g.ia[i][k:k+4], uint32(v), 8, g.e.SignedA)
			} else {
				g.a[i][k], g.a[i][k+1] = g.value(uint16(v), g.e.NegateA), g.value(uint16(v>>16), g.e.NegateA)
			}
		}
	}
}

// ChunkA takes 16 bytes of A: with K along memory those from 16c on of row r, else rows 8c to 8c+7 of column r.
func (g *Group) ChunkA(r, c int, across bool, v []byte) {
	if g.e.Bytes {
		integers(g.ia[r][16*c:][:16], v, g.e.SignedA)
		return
	}
	for j := range 8 {
		x := g.value(binary.LittleEndian.Uint16(v[2*j:]), g.e.NegateA)
		if across {
			g.a[8*c+j][r] = x
		} else {
			g.a[r][8*c+j] = x
		}
	}
}

// ChunkB takes 16 bytes of B, whose columns are rows here.
func (g *Group) ChunkB(r, c int, across bool, v []byte) {
	if g.e.Bytes {
		integers(g.ib[r][16*c:][:16], v, g.e.SignedB)
		return
	}
	for j := range 8 {
		x := g.value(binary.LittleEndian.Uint16(v[2*j:]), g.e.NegateB)
		if across {
			g.b[8*c+j][r] = x
		} else {
			g.b[r][8*c+j] = x
		}
	}
}

func integers(to []int32, v []byte, signed bool) {
	for i := range to {
		if signed {
			to[i] = int32(int8(v[i]))
		} else {
			to[i] = int32(v[i])
		}
	}
}

// Multiply computes d = a*b, plus d where add is set. Floats are summed in double precision, k ascending, and rounded
// once; integers exactly, modulo 2^32 or clamped.
func (g *Group) Multiply(d []*lane.Row, add bool) {
	if g.e.Bytes {
		g.whole(d, add)
		return
	}
	n := len(d) * 2
	for reg, row := range d {
		for l, v := range row {
			i, j := GroupC(l, reg)
			if add {
				g.c[i][j] = float64(math.Float32frombits(uint32(v)))
			} else {
				g.c[i][j] = 0
			}
		}
	}
	for j := 0; j < n; j += 4 { // four columns stay at hand for all rows
		b := (*[4][16]float64)(g.b[j:])
		for i := 0; i < GroupRows; i += 2 {
			dot8((*[16]float64)(g.a[i][:]), (*[16]float64)(g.a[i+1][:]), b, (*[4]float64)(g.c[i][j:]),
				(*[4]float64)(g.c[i+1][j:]))
		}
	}
	for reg, row := range d {
		for l := range row {
			i, j := GroupC(l, reg)
			f := float32(g.c[i][j])
			row[l] = uint64(math.Float32bits(f))
			if f != f {
				row[l] = 0x7FFFFFFF
			}
		}
	}
}

// whole multiplies integers.
func (g *Group) whole(d []*lane.Row, add bool) {
	n := len(d) * 2
	for j := range n {
		b := &g.ib[j]
		for i := 0; i < GroupRows; i += 4 {
			var p, q, r, s int32
			a0, a1, a2, a3 := &g.ia[i], &g.ia[i+1], &g.ia[i+2], &g.ia[i+3]
			for k, x := range b {
				p += x * a0[k]
				q += x * a1[k]
				r += x * a2[k]
				s += x * a3[k]
			}
			g.ic[i][j], g.ic[i+1][j], g.ic[i+2][j], g.ic[i+3][j] = p, q, r, s
		}
	}
	for reg, row := range d {
		for l, was := range row {
			i, j := GroupC(l, reg)
			v := int64(g.ic[i][j])
			if add {
				v += int64(int32(was))
			}
			if g.e.Saturate {
				v = min(max(v, math.MinInt32), math.MaxInt32)
			}
			row[l] = uint64(uint32(v))
		}
	}
}
