// SPDX-License-Identifier: Apache-2.0

package tile

import (
	"math"
	"sync"

	"lathe/cuda/ptx/lane"
)

// halves are the values of all codes of half precision.
var halves = sync.OnceValue(func() *[1 << 16]float64 {
	var t [1 << 16]float64
	for c := range t {
		t[c] = lane.Half(uint64(c))
	}
	return &t
})

// Scratch is the room that products need; one serves one goroutine.
type Scratch struct {
	a *[16][16]float64 // one of lefts
	b [8][16]float64
	c [16][8]float64
	// Fragments that were unpacked lately: a kernel passes the same ones to many products.
	lefts [4]left
	next  int // of lefts, to be replaced
	right operand16
}

// left is a fragment of a and its values.
type left struct {
	operand16
	values [16][16]float64
}

// operand16 is a fragment of 16-bit elements as registers hold it.
type operand16 struct {
	rows  [4]lane.Row
	count int // of rows; 0 for none
	brain bool
}

// is says that this is the fragment.
func (h *operand16) is(rows []*lane.Row, brain bool) bool {
	if h.count != len(rows) || h.brain != brain {
		return false
	}
	for i, r := range rows {
		if h.rows[i] != *r {
			return false
		}
	}
	return true
}

// hold notes a fragment.
func (h *operand16) hold(rows []*lane.Row, brain bool) {
	h.count, h.brain = len(rows), brain
	for i, r := range rows {
		h.rows[i] = *r
	}
}

// blank makes room for values that come from elsewhere; those of a and b are 0.
func (x *Scratch) blank() {
	x.lefts[0].count, x.right.count = 0, 0
	x.a, x.b = &x.lefts[0].values, [8][16]float64{}
	*x.a = [16][16]float64{}
}

func brains(code uint64) float64 { return float64(math.Float32frombits(uint32(code) << 16)) }

// unpack16 reads the fragments of a and b of 16-bit elements.
func (x *Scratch) unpack16(s Shape, brain bool, ra, rb []*lane.Row) {
	t := halves()
	if !x.known(ra, brain) {
		x.unpackA(t, s, brain, ra)
	}
	if x.right.is(rb, brain) {
		return
	}
	if x.right.hold(rb, brain); s.K == 8 { // the other half adds nothing
		x.b = [8][16]float64{}
	}
	for reg, row := range rb {
		for l, v := range row {
			to := &x.b[l/4]
			k := (reg*8 + l%4*2) & 14
			if brain {
				to[k], to[k+1] = brains(v), brains(v>>16)
			} else {
				to[k], to[k+1] = t[v&0xFFFF], t[v>>16&0xFFFF]
			}
		}
	}
}

// known finds the fragment of a among those unpacked.
func (x *Scratch) known(ra []*lane.Row, brain bool) bool {
	for i := range x.lefts {
		if l := &x.lefts[i]; l.is(ra, brain) {
			x.a = &l.values
			return true
		}
	}
	return false
}

// unpackA reads the fragment of a.
func (x *Scratch) unpackA(t *[1 << 16]float64, s Shape, brain bool, ra []*lane.Row) {
	here := &x.lefts[x.next]
	x.next = (x.next + 1) % len(x.lefts)
	here.hold(ra, brain)
	if x.a = &here.values; s.K == 8 { // the other half adds nothing
		*x.a = [16][16]float64{}
	}
	for reg, row := range ra {
		for l, v := range row {
			to := &x.a[(l/4+reg%2*8)&15]
			k := (reg/2*8 + l%4*2) & 14
			if brain {
				to[k], to[k+1] = brains(v), brains(v>>16)
			} else {
				to[k], to[k+1] = t[v&0xFFFF], t[v>>16&0xFFFF]
			}
		}
	}
}

// dot8 adds to two rows of four columns each.
func dot8(a0, a1 *[16]float64, b *[4][16]float64, d0, d1 *[4]float64) {
	c0, c1, c2, c3 := d0[0], d0[1], d0[2], d0[3]
	c4, c5, c6, c7 := d1[0], d1[1], d1[2], d1[3]
	for k := range 16 {
		x, y := a0[k], a1[k]
		p, q, r, s := b[0][k], b[1][k], b[2][k], b[3][k]
		c0 += x * p
		c1 += x * q
		c2 += x * r
		c3 += x * s
		c4 += y * p
		c5 += y * q
		c6 += y * r
		c7 += y * s
	}
	d0[0], d0[1], d0[2], d0[3] = c0, c1, c2, c3
	d1[0], d1[1], d1[2], d1[3] = c4, c5, c6, c7
}

// product adds a*b to c.
func (x *Scratch) product() {
	for i := 0; i < 16; i += 2 {
		a0, a1, c0, c1 := &x.a[i], &x.a[i+1], &x.c[i], &x.c[i+1]
		for j := 0; j < 8; j += 4 {
			dot8(a0, a1, (*[4][16]float64)(x.b[j:]), (*[4]float64)(c0[j:]), (*[4]float64)(c1[j:]))
		}
	}
}

// singles reads accumulators of single precision.
func (x *Scratch) singles(rc []*lane.Row) {
	for reg, row := range rc {
		for l, v := range row {
			x.c[(l/4+reg/2*8)&15][(l%4*2+reg%2)&7] = float64(math.Float32frombits(uint32(v)))
		}
	}
}

// store rounds accumulators to single precision.
func (x *Scratch) store(d []*lane.Row) {
	for reg, row := range d {
		for l := range row {
			f := float32(x.c[(l/4+reg/2*8)&15][(l%4*2+reg%2)&7])
			row[l] = uint64(math.Float32bits(f))
			if f != f {
				row[l] = 0x7FFFFFFF
			}
		}
	}
}

// Float multiplies 16-bit floats (bfloat16 if brain is set, else half precision) with accumulators of single
// precision. d may be the rows of c.
func (x *Scratch) Float(s Shape, brain bool, d, ra, rb, rc []*lane.Row) {
	x.unpack16(s, brain, ra, rb)
	x.singles(rc)
	x.product()
	x.store(d)
}

// FloatHalf multiplies half precision with accumulators of half precision.
func (x *Scratch) FloatHalf(s Shape, d, ra, rb, rc []*lane.Row) {
	x.unpack16(s, false, ra, rb)
	for reg, row := range rc {
		for l, v := range row {
			i, j := C16(l, reg, 0)
			x.c[i][j], x.c[i][j+1] = lane.Half(v&0xFFFF), lane.Half(v>>16)
		}
	}
	x.product()
	for reg, row := range d {
		for l := range row {
			i, j := C16(l, reg, 0)
			row[l] = lane.RoundHalf(x.c[i][j]) | lane.RoundHalf(x.c[i][j+1])<<16
		}
	}
}

// Tensor32 multiplies floats of 32 bits of which only the upper 19 count (tf32).
func (x *Scratch) Tensor32(s Shape, d, ra, rb, rc []*lane.Row) {
	x.blank()
	value := func(v uint64) float64 { return float64(math.Float32frombits(uint32(v) &^ (1<<13 - 1))) }
	for reg, row := range ra {
		for l, v := range row {
			i, k := s.A(l, reg, 0)
			x.a[i][k] = value(v)
		}
	}
	for reg, row := range rb {
		for l, v := range row {
			k, j := s.B(l, reg, 0)
			x.b[j][k] = value(v)
		}
	}
	x.singles(rc)
	x.product()
	x.store(d)
}
