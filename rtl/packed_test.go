// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestPacked holds packed words to the same words as big integers: text, checksum, length.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		field, lanes, words := 1+r.IntN(33), 1+r.IntN(9), 1+r.IntN(5)
		p := NewPacked(field*lanes, words)
		plain := Image{Param: "W", Width: field * lanes}
		for i := range words {
			word := new(big.Int)
			for l := range lanes {
				v := r.Int64() >> r.IntN(64)
				p.Set(i, l*field, field, v)
				mask := new(big.Int).Lsh(big.NewInt(1), uint(field))
				low := new(big.Int).And(big.NewInt(v), mask.Sub(mask, big.NewInt(1)))
				word.Or(word, low.Lsh(low, uint(l*field)))
			}
			plain.Words = append(plain.Words, word)
		}
		packed := Image{Param: "W", Width: field * lanes, Packed: p}
		if a, b := packed.File("u"), plain.File("u"); a.Name != b.Name || !bytes.Equal(a.Data, b.Data) {
			t.Fatalf("%d lanes of %d bits:\n%s\nwant\n%s", lanes, field, a.Data, b.Data)
		}
		if packed.Sum() != plain.Sum() || packed.Len() != words || plain.Len() != words {
			t.Fatalf("%d lanes of %d bits: sum %x, want %x", lanes, field, packed.Sum(), plain.Sum())
		}
	}
}
