// SPDX-License-Identifier: Apache-2.0

package rtl

import "sync"

// Packed is the words of a large memory side by side: word i is limbs i*n to i*n+n-1, the low bits first, with
// n = ceil(Width/64). A []*big.Int takes eight times as much.
type Packed struct {
	Width int
	Limbs []uint64
	n     int

	// Words that are made when they are needed, a run at a time; 0: all stand in Limbs.
	words, run int
	fill       func(from int, p *Packed)
	once       sync.Once
	total      uint32
}

// NewPacked makes words of zeros.
func NewPacked(width, words int) *Packed {
	n := (width + 63) / 64
	return &Packed{Width: width, Limbs: make([]uint64, n*words), n: n}
}

// NewRuns are words that are not held: fill puts words from to from+run-1 into p, which has zeros. It is called
// whenever the words are read, by several at once, and must put the same each time. run divides words.
func NewRuns(width, words, run int, fill func(from int, p *Packed)) *Packed {
	return &Packed{Width: width, n: (width + 63) / 64, words: words, run: run, fill: fill}
}

// Len is the number of words.
func (p *Packed) Len() int {
	if p.fill != nil {
		return p.words
	}
	return len(p.Limbs) / max(p.n, 1)
}

// Set puts the low bits of v, width of them and 64 at most, at bit at of word i, where zeros stand.
func (p *Packed) Set(i, at, width int, v int64) {
	limb, shift := i*p.n+at/64, uint(at%64)
	bits := uint64(v)
	if width < 64 {
		bits &= 1<<uint(width) - 1
	}
	p.Limbs[limb] |= bits << shift
	if int(shift)+width > 64 {
		p.Limbs[limb+1] |= bits >> (64 - shift)
	}
}

// SetRow sets fields of width bits side by side, from bit at of word i on, where zeros stand.
func (p *Packed) SetRow(i, at, width int, values []int64) {
	if at%64+len(values)*width > 64 {
		for k, v := range values {
			p.Set(i, at+k*width, width, v)
		}
		return
	}
	var bits uint64
	mask := uint64(1)<<uint(width) - 1
	for k := len(values) - 1; k >= 0; k-- {
		bits = bits<<uint(width) | uint64(values[k])&mask
	}
	p.Limbs[i*p.n+at/64] |= bits << uint(at%64)
}

// each hands on all words in order, in parts that stand in Limbs.
func (p *Packed) each(visit func(part *Packed) error) error {
	if p.fill == nil {
		return visit(p)
	}
	part := NewPacked(p.Width, p.run)
	for from := 0; from < p.words; from += p.run {
		clear(part.Limbs)
		p.fill(from, part)
		if err := visit(part); err != nil {
			return err
		}
	}
	return nil
}

const hexDigits = "0123456789abcdef"

// digits is the characters of a word in $readmemh form, without the end of its line.
func (p *Packed) digits() int { return (p.Width + 3) / 4 }

// text appends the words of Limbs in $readmemh form, one a line.
func (p *Packed) text(out []byte) []byte {
	digits := p.digits()
	for i := range len(p.Limbs) / max(p.n, 1) {
		word := p.Limbs[i*p.n : (i+1)*p.n]
		for d := digits - 1; d >= 0; {
			limb, low := word[d/16], d/16*16
			for ; d >= low; d-- {
				out = append(out, hexDigits[limb>>(4*(d-low))&15])
			}
		}
		out = append(out, '\n')
	}
	return out
}

// sum adds the words as limbs of 32 bits, modulo 2^32.
func (p *Packed) sum() uint32 {
	p.once.Do(func() {
		_ = p.each(func(part *Packed) error { // which has no errors
			for _, l := range part.Limbs {
				p.total += uint32(l) + uint32(l>>32)
			}
			return nil
		})
	})
	return p.total
}
