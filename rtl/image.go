// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
)

// Image is the contents of a memory: Words[i], each taken modulo 2^Width (so signed codes may be given as they are),
// at address i. Param names the parameter that takes the file name; the checksum goes to Param+"_SUM". Suffix tells
// the files of one instance apart; empty means "_" and the parameter's name in lower case.
type Image struct {
	Param  string
	Suffix string
	Width  int
	Words  []*big.Int
	// Packed holds the words of a large memory instead; nil: Words.
	Packed *Packed
	// Make, if not nil, sets Words or Packed when they are needed: a unit that is only weighed needs none.
	Make func(*Image) error
}

// Made is the image with its words. Errors are those of Make.
func (im Image) Made() (Image, error) {
	if im.Make == nil {
		return im, nil
	}
	err := im.Make(&im)
	im.Make = nil
	return im, err
}

// Len is the number of words.
func (im Image) Len() int {
	if im.Packed != nil {
		return im.Packed.Len()
	}
	return len(im.Words)
}

// FileName is the bare name of the image's file for the instance of the given name.
func (im Image) FileName(instance string) string {
	suffix := im.Suffix
	if suffix == "" {
		suffix = "_" + strings.ToLower(im.Param)
	}
	return instance + suffix + ".mem"
}

// File renders the image in $readmemh form (IEEE 1800-2017 section 21.4), one word a line. That of words that are not
// held is rendered when it is read, and has no Data.
func (im Image) File(instance string) File {
	switch f := (File{Name: im.FileName(instance), words: im.Packed}); {
	case im.Packed != nil && im.Packed.fill == nil:
		return File{Name: f.Name, Data: f.Bytes()}
	case im.Packed != nil:
		return f
	}
	var b bytes.Buffer
	digits := (im.Width + 3) / 4
	for _, w := range im.Words {
		fmt.Fprintf(&b, "%0*x\n", digits, im.wrap(w))
	}
	return File{Name: im.FileName(instance), Data: b.Bytes()}
}

// Sum is the checksum that the memory compares at its first clock edge: the sum of all words cut into 32-bit limbs,
// modulo 2^32.
func (im Image) Sum() uint32 {
	if im.Packed != nil {
		return im.Packed.sum()
	}
	var sum uint32
	for _, w := range im.Words {
		x := im.wrap(w)
		for x.BitLen() > 0 {
			sum += uint32(x.Uint64())
			x.Rsh(x, 32)
		}
	}
	return sum
}

// Params returns the two parameters that bind the image to the instance of the given name: file name and checksum.
func (im Image) Params(instance string) []Param {
	return []Param{
		{Name: im.Param, Value: `"` + im.FileName(instance) + `"`},
		{Name: im.Param + "_SUM", Value: fmt.Sprintf("32'h%08x", im.Sum())},
	}
}

// wrap returns w modulo 2^Width in a new integer.
func (im Image) wrap(w *big.Int) *big.Int {
	mask := new(big.Int).Lsh(big.NewInt(1), uint(im.Width))
	return new(big.Int).And(w, mask.Sub(mask, big.NewInt(1)))
}

// limbs visits the words as 64-bit limbs, the low bits first.
func (im Image) limbs(visit func(word []uint64) error) error {
	if im.Packed != nil {
		return im.Packed.each(func(part *Packed) error {
			for i := range len(part.Limbs) / max(part.n, 1) {
				if err := visit(part.Limbs[i*part.n : (i+1)*part.n]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	word := make([]uint64, (im.Width+63)/64)
	for _, w := range im.Words {
		clear(word)
		x := im.wrap(w)
		for i := 0; x.BitLen() > 0; i++ {
			word[i] = x.Uint64()
			x.Rsh(x, 64)
		}
		if err := visit(word); err != nil {
			return err
		}
	}
	return nil
}

// RandomImage is a memory image, in $readmemh form, of random words of so many bits; the same ones in each run.
func RandomImage(words, bits int) string {
	r, text := rand.New(rand.NewPCG(7, uint64(bits))), &strings.Builder{}
	for range words {
		for rest := bits; rest > 0; rest -= 32 {
			fmt.Fprintf(text, "%0*x", (min(rest, 32)+3)/4, r.Uint32()>>(32-min(rest, 32)))
		}
		text.WriteByte('\n')
	}
	return text.String()
}
