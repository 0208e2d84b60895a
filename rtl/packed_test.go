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

// TestRuns holds words that are made when they are read to the same words that are held, set one by one.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		width, lanes, blocks, run, count := 1+r.IntN(20), 1+r.IntN(9), 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(4)
		values := make([]int64, count*run*blocks*lanes)
		for i := range values {
			values[i] = r.Int64()
		}
		held := NewPacked(width*lanes*blocks, run*count)
		for i, v := range values {
			held.Set(i/(lanes*blocks), i%(lanes*blocks)*width, width, v)
		}
		made := NewRuns(held.Width, run*count, run, func(from int, p *Packed) {
			for i := range p.Len() * blocks {
				at := from*blocks + i
				p.SetRow(i/blocks, i%blocks*lanes*width, width, values[at*lanes:(at+1)*lanes])
			}
		})
		a, b := Image{Param: "W", Packed: held}, Image{Param: "W", Packed: made}
		if a.Sum() != b.Sum() || a.Len() != b.Len() {
			t.Fatalf("sum %x of %d words, want %x of %d", b.Sum(), b.Len(), a.Sum(), a.Len())
		}
		var text bytes.Buffer
		if err := b.File("u").Write(&text); err != nil {
			t.Fatal(err)
		}
		want := a.File("u").Data
		if f := b.File("u"); !bytes.Equal(text.Bytes(), want) || !bytes.Equal(f.Bytes(), want) || f.Size() != len(want) {
			t.Fatalf("%d fields of %d bits:\n%s\nwant\n%s", lanes, width, text.Bytes(), want)
		}
	}
}
