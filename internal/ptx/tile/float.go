// SPDX-License-Identifier: Apache-2.0

package tile

import (
	"math"
	"sync"

	"lathe/internal/ptx/lane"
)

// halves are the values of all codes of half precision.
var halves = sync.OnceValue(func() *[1 << 16]float64 {
	var t [1 << 16]float64
	for c := range t {
		t[c] = lane.Half(uint64(c))
	}
	return &t
})

func brains(code uint64) float64 { return float64(math.Float32frombits(uint32(code) << 16)) }

// unpack16 reads the fragments of a and b of 16-bit elements.
func unpack16(s Shape, brain bool, ra, rb []*lane.Row, a *[16][16]float64, b *[8][16]float64) {
	value := brains
	if !brain {
		t := halves()
		value = func(c uint64) float64 { return t[c] }
	}
	for reg, row := range ra {
		for l, v := range row {
			x := &a[l/4+reg%2*8]
			k := (reg/2*8 + l%4*2) & 15
			x[k], x[k+1&15] = value(v&0xFFFF), value(v>>16)
		}
	}
	for reg, row := range rb {
		for l, v := range row {
			y := &b[l/4]
			k := (reg*8 + l%4*2) & 15
			y[k], y[k+1&15] = value(v&0xFFFF), value(v>>16)
		}
	}
	if s.K == 8 { // the other half adds nothing
		for i := range a {
			clear(a[i][8:])
		}
		for i := range b {
			clear(b[i][8:])
		}
	}
}

// dot8 adds to two rows of four columns each.
func dot8(a0, a1, b0, b1, b2, b3 *[16]float64, c *[8]float64) {
	c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	for k := range 16 {
		x, y := a0[k], a1[k]
		p, q, r, s := b0[k], b1[k], b2[k], b3[k]
		c0 += x * p
		c1 += x * q
		c2 += x * r
		c3 += x * s
		c4 += y * p
		c5 += y * q
		c6 += y * r
		c7 += y * s
	}
	c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7] = c0, c1, c2, c3, c4, c5, c6, c7
}

// product adds a*b to c.
func product(a *[16][16]float64, b *[8][16]float64, c *[16][8]float64) {
	var acc [8]float64
	for i := 0; i < 16; i += 2 {
		for j := 0; j < 8; j += 4 {
			copy(acc[:4], c[i][j:j+4])
			copy(acc[4:], c[i+1][j:j+4])
			dot8(&a[i], &a[i+1], &b[j], &b[j+1], &b[j+2], &b[j+3], &acc)
			copy(c[i][j:j+4], acc[:4])
			copy(c[i+1][j:j+4], acc[4:])
		}
	}
}

// Float multiplies 16-bit floats (bfloat16 if brain is set, else half precision) with accumulators of single
// precision. d may be the rows of c.
func Float(s Shape, brain bool, d, ra, rb, rc []*lane.Row) {
	var a [16][16]float64
	var b [8][16]float64
	var c [16][8]float64
	unpack16(s, brain, ra, rb, &a, &b)
	for reg, row := range rc {
		for l, v := range row {
			i, j := C(l, reg)
			c[i&15][j&7] = float64(math.Float32frombits(uint32(v)))
		}
	}
	product(&a, &b, &c)
	for reg, row := range d {
		for l := range row {
			i, j := C(l, reg)
			f := float32(c[i&15][j&7])
			row[l] = uint64(math.Float32bits(f))
			if f != f {
				row[l] = 0x7FFFFFFF
			}
		}
	}
}

// FloatHalf multiplies half precision with accumulators of half precision.
func FloatHalf(s Shape, d, ra, rb, rc []*lane.Row) {
	var a [16][16]float64
	var b [8][16]float64
	var c [16][8]float64
	unpack16(s, false, ra, rb, &a, &b)
	for reg, row := range rc {
		for l, v := range row {
			i, j := C16(l, reg, 0)
			c[i][j], c[i][j+1] = lane.Half(v&0xFFFF), lane.Half(v>>16)
		}
	}
	product(&a, &b, &c)
	for reg, row := range d {
		for l := range row {
			i, j := C16(l, reg, 0)
			row[l] = lane.RoundHalf(c[i][j]) | lane.RoundHalf(c[i][j+1])<<16
		}
	}
}

// Tensor32 multiplies floats of 32 bits of which only the upper 19 count (tf32).
func Tensor32(s Shape, d, ra, rb, rc []*lane.Row) {
	var a [16][16]float64
	var b [8][16]float64
	var c [16][8]float64
	value := func(v uint64) float64 { return float64(math.Float32frombits(uint32(v) &^ (1<<13 - 1))) }
	for reg, row := range ra {
		for l, v := range row {
			i, k := s.A(l, reg, 0)
			a[i][k] = value(v)
		}
	}
	for reg, row := range rb {
		for l, v := range row {
			k, j := s.B(l, reg, 0)
			b[j][k] = value(v)
		}
	}
	for reg, row := range rc {
		for l, v := range row {
			i, j := C(l, reg)
			c[i][j] = float64(math.Float32frombits(uint32(v)))
		}
	}
	product(&a, &b, &c)
	for reg, row := range d {
		for l := range row {
			i, j := C(l, reg)
			row[l] = lane.RoundSingle(c[i][j])
		}
	}
}
