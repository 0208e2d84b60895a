// SPDX-License-Identifier: Apache-2.0

package rtl_test

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/rtl"
)

// TestRegions reads files of weights as docs/memory.md says: words in beats, sets and regions from a page on, zeros
// between them.
func TestRegions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ width, depth, sets, port int }{
		{12, 10, 1, 64}, {64, 512, 2, 64}, {64, 513, 2, 64}, {130, 300, 3, 64}, {7, 1, 4, 128}, {513, 3, 2, 512},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			region := rtl.Region{Outside: &rtl.Outside{Width: c.width, Depth: c.depth, Sets: c.sets, Sweeps: 1, Port: c.port}}
			region.Words.Width = c.width
			for range c.depth * c.sets {
				w := new(big.Int)
				for range (c.width + 63) / 64 {
					w.Lsh(w, 64).Or(w, new(big.Int).SetUint64(r.Uint64()))
				}
				region.Words.Words = append(region.Words.Words, w.Rsh(w, uint((c.width+63)/64*64-c.width)))
			}
			file := rtl.Regions{region, region}.File("weights.bin")
			data := file.Bytes()
			if len(data) != 2*region.Bytes() || len(data)%(2*c.sets*rtl.Page) != 0 {
				t.Fatalf("%d bytes, %d a region", len(data), region.Bytes())
			}
			bits := littleEndian(data)
			for half := range 2 {
				for i, want := range region.Words.Words {
					at := place(i%c.depth, c.width, c.port) + 8*((half*c.sets+i/c.depth)*region.Bytes()/c.sets)
					got := new(big.Int).Rsh(bits, uint(at))
					got.And(got, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(c.width)), big.NewInt(1)))
					if got.Cmp(want) != 0 {
						t.Fatalf("word %d is %x, want %x", i, got, want)
					}
					bits.Xor(bits, new(big.Int).Lsh(got, uint(at)))
				}
			}
			if bits.Sign() != 0 {
				t.Error("what no word takes is not zero")
			}
		})
	}
}

// littleEndian is the number with these bytes.
func littleEndian(data []byte) *big.Int {
	reversed := bytes.Clone(data)
	for i, b := range data {
		reversed[len(data)-1-i] = b
	}
	return new(big.Int).SetBytes(reversed)
}

// place is the first bit of word i of a set.
func place(i, width, port int) int {
	if per := port / width; per > 0 {
		return i/per*port + i%per*width
	}
	return i * ((width + port - 1) / port * port)
}
