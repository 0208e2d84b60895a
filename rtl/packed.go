// SPDX-License-Identifier: Apache-2.0

package rtl

// Packed is the words of a large memory side by side: word i is limbs i*n to i*n+n-1, the low bits first, with
// n = ceil(Width/64). A []*big.Int takes eight times as much.
type Packed struct {
	Width int
	Limbs []uint64
	n     int
}

// NewPacked makes words of zeros.
func NewPacked(width, words int) *Packed {
	n := (width + 63) / 64
	return &Packed{Width: width, Limbs: make([]uint64, n*words), n: n}
}

// Len is the number of words.
func (p *Packed) Len() int { return len(p.Limbs) / max(p.n, 1) }

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

const hexDigits = "0123456789abcdef"

// text is the words in $readmemh form, one a line.
func (p *Packed) text() []byte {
	digits := (p.Width + 3) / 4
	out := make([]byte, p.Len()*(digits+1))
	for at, i := 0, 0; i < p.Len(); i++ {
		word := p.Limbs[i*p.n : (i+1)*p.n]
		for d := digits - 1; d >= 0; d-- {
			out[at] = hexDigits[word[d/16]>>(4*(d%16))&15]
			at++
		}
		out[at] = '\n'
		at++
	}
	return out
}

// sum adds the words as limbs of 32 bits, modulo 2^32.
func (p *Packed) sum() uint32 {
	var sum uint32
	for _, l := range p.Limbs {
		sum += uint32(l) + uint32(l>>32)
	}
	return sum
}
