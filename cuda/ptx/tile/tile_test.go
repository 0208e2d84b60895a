// SPDX-License-Identifier: Apache-2.0

package tile

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/cuda/ptx/lane"
)

// manual is a layout as the PTX ISA words it: element i of a lane, group = lane / 4, t = lane % 4.
type manual struct {
	name  string
	shape Shape
	a, b  func(group, t, i int) (row, col int)
}

var layouts = []manual{
	{"m16n8k16, 16 bits", Shape{16, 16}, func(g, t, i int) (int, int) {
		row, col := g, t*2+i&1
		if !(i < 2 || 4 <= i && i < 6) {
			row += 8
		}
		if i >= 4 {
			col += 8
		}
		return row, col
	}, func(g, t, i int) (int, int) {
		row := t*2 + i&1
		if i >= 2 {
			row += 8
		}
		return row, g
	}},
	{"m16n8k8, 16 bits", Shape{8, 16}, func(g, t, i int) (int, int) {
		if i < 2 {
			return g, t*2 + i&1
		}
		return g + 8, t*2 + i&1
	}, func(g, t, i int) (int, int) { return t*2 + i, g }},
	{"m16n8k32, 8 bits", Shape{32, 8}, func(g, t, i int) (int, int) {
		row, col := g, t*4+i&3
		if !(i < 4 || 8 <= i && i < 12) {
			row += 8
		}
		if i >= 8 {
			col += 16
		}
		return row, col
	}, func(g, t, i int) (int, int) {
		row := t*4 + i&3
		if i >= 4 {
			row += 16
		}
		return row, g
	}},
	{"m16n8k16, 8 bits", Shape{16, 8}, func(g, t, i int) (int, int) {
		if i < 4 {
			return g, t*4 + i&3
		}
		return g + 8, t*4 + i&3
	}, func(g, t, i int) (int, int) { return t*4 + i, g }},
	{"m16n8k64, 4 bits", Shape{64, 4}, func(g, t, i int) (int, int) {
		row, col := g, t*8+i&7
		if !(i < 8 || 16 <= i && i < 24) {
			row += 8
		}
		if i >= 16 {
			col += 32
		}
		return row, col
	}, func(g, t, i int) (int, int) {
		row := t*8 + i&7
		if i >= 8 {
			row += 32
		}
		return row, g
	}},
	{"m16n8k8, tf32", Shape{8, 32}, func(g, t, i int) (int, int) {
		return g + 8*(i&1), t + 4*(i>>1)
	}, func(g, t, i int) (int, int) { return t + 4*i, g }},
}

// TestLayouts compares the maps with the manual's words, and demands that every element has one place.
func TestLayouts(t *testing.T) {
	for _, m := range layouts {
		s := m.shape
		seenA, seenB, seenC := map[[2]int]bool{}, map[[2]int]bool{}, map[[2]int]bool{}
		for l := range lane.Width {
			for reg := range s.RegsA() {
				for j := range s.Per() {
					row, k := s.A(l, reg, j)
					wr, wk := m.a(l/4, l%4, reg*s.Per()+j)
					if row != wr || k != wk {
						t.Fatalf("%s: a of lane %d, register %d, %d: (%d,%d), not (%d,%d)", m.name, l, reg, j, row, k, wr, wk)
					}
					seenA[[2]int{row, k}] = true
				}
			}
			for reg := range s.RegsB() {
				for j := range s.Per() {
					k, col := s.B(l, reg, j)
					wk, wc := m.b(l/4, l%4, reg*s.Per()+j)
					if k != wk || col != wc {
						t.Fatalf("%s: b of lane %d, register %d, %d: (%d,%d), not (%d,%d)", m.name, l, reg, j, k, col, wk, wc)
					}
					seenB[[2]int{k, col}] = true
				}
			}
			for reg := range 4 {
				row, col := C(l, reg)
				seenC[[2]int{row, col}] = true
			}
		}
		if len(seenA) != 16*s.K || len(seenB) != 8*s.K || len(seenC) != 128 {
			t.Errorf("%s: %d, %d, %d elements have a place", m.name, len(seenA), len(seenB), len(seenC))
		}
	}
}

// rows makes n registers.
func rows(n int) []*lane.Row {
	r := make([]*lane.Row, n)
	for i := range r {
		r[i] = new(lane.Row)
	}
	return r
}

// place puts codes into the registers of a and b as the manual says.
func place(m manual, a func(i, k int) uint64, b func(k, j int) uint64) (ra, rb []*lane.Row) {
	s := m.shape
	ra, rb = rows(s.RegsA()), rows(s.RegsB())
	for l := range lane.Width {
		for i := range s.RegsA() * s.Per() {
			row, k := m.a(l/4, l%4, i)
			ra[i/s.Per()][l] |= a(row, k) << (i % s.Per() * s.Bits)
		}
		for i := range s.RegsB() * s.Per() {
			k, col := m.b(l/4, l%4, i)
			rb[i/s.Per()][l] |= b(k, col) << (i % s.Per() * s.Bits)
		}
	}
	return ra, rb
}

func TestIntegerProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range layouts {
		s := m.shape
		if s.Bits > 8 {
			continue
		}
		for mode := range 8 {
			sa, sb, sat := mode&1 != 0, mode&2 != 0, mode&4 != 0
			var a [16][64]uint64
			var b [64][8]uint64
			for i := range a {
				for k := range a[i] {
					a[i][k] = r.Uint64() & (1<<s.Bits - 1)
				}
			}
			for k := range b {
				for j := range b[k] {
					b[k][j] = r.Uint64() & (1<<s.Bits - 1)
				}
			}
			ra, rb := place(m, func(i, k int) uint64 { return a[i][k] }, func(k, j int) uint64 { return b[k][j] })
			c := rows(4)
			for _, row := range c {
				for l := range row {
					row[l] = uint64(uint32(math.MaxInt32 - r.IntN(1000)))
				}
			}
			d := rows(4)
			Integer(s, sa, sb, sat, d, ra, rb, c)
			value := func(v uint64, signed bool) int64 {
				if signed && v>>(s.Bits-1) == 1 {
					return int64(v) - 1<<s.Bits
				}
				return int64(v)
			}
			for l := range lane.Width {
				for reg := range 4 {
					row, col := l/4+reg/2*8, l%4*2+reg%2
					want := int64(int32(c[reg][l]))
					for k := range s.K {
						want += value(a[row][k], sa) * value(b[k][col], sb)
					}
					if sat {
						want = max(min(want, math.MaxInt32), math.MinInt32)
					}
					if d[reg][l] != uint64(uint32(want)) {
						t.Fatalf("%s mode %d: d[%d,%d] is %d, not %d", m.name, mode, row, col, int32(d[reg][l]), want)
					}
				}
			}
		}
	}
}

// TestFloatProducts uses numbers small enough that every sum is exact, so that the order does not matter.
func TestFloatProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) }
	codes := map[string]func(v float64) uint64{
		"bf16": func(v float64) uint64 { return word(v) >> 16 },
		"f16":  lane.RoundHalf,
		"tf32": func(v float64) uint64 { return word(v) | 0xFFF }, // the low bits do not count
	}
	for _, m := range layouts {
		for name, code := range codes {
			if m.shape.Bits != 16 && name != "tf32" || m.shape.Bits != 32 && name == "tf32" || m.shape.Bits < 16 {
				continue
			}
			var a [16][16]float64
			var b [16][8]float64
			for i := range a {
				for k := range a[i] {
					a[i][k] = float64(r.IntN(17) - 8)
					b[i][k%8] = float64(r.IntN(17)-8) / 4
				}
			}
			ra, rb := place(m, func(i, k int) uint64 { return code(a[i][k]) }, func(k, j int) uint64 { return code(b[k][j]) })
			c := rows(4)
			for _, row := range c {
				for l := range row {
					row[l] = word(float64(r.IntN(100)))
				}
			}
			want := func(row, col int, start float64) float64 {
				for k := range m.shape.K {
					start += a[row][k] * b[k][col]
				}
				return start
			}
			var x Scratch
			d := rows(4)
			if name == "tf32" {
				x.Tensor32(m.shape, d, ra, rb, c)
			} else {
				x.Float(m.shape, name == "bf16", d, ra, rb, c)
			}
			for l := range lane.Width {
				for reg := range 4 {
					row, col := l/4+reg/2*8, l%4*2+reg%2
					w := want(row, col, float64(math.Float32frombits(uint32(c[reg][l]))))
					if d[reg][l] != word(w) {
						t.Fatalf("%s %s: d[%d,%d] is %#x, not %g", m.name, name, row, col, d[reg][l], w)
					}
				}
			}
			if name == "f16" {
				checkHalf(t, m, ra, rb, want)
			}
		}
	}
}

// checkHalf multiplies with accumulators of half precision.
func checkHalf(t *testing.T, m manual, ra, rb []*lane.Row, want func(row, col int, start float64) float64) {
	var x Scratch
	h := rows(2)
	x.FloatHalf(m.shape, h, ra, rb, rows(2))
	for l := range lane.Width {
		for i := range 4 {
			w := want(l/4+i/2*8, l%4*2+i%2, 0)
			if h[i/2][l]>>(16*(i%2))&0xFFFF != lane.RoundHalf(w) {
				t.Fatalf("%s: half %d of lane %d is %#x, not %g", m.name, i, l, h[i/2][l], w)
			}
		}
	}
}
