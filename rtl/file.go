// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"bytes"
	"io"
)

// File is a source file or a memory image: a bare name without folder, and its bytes.
type File struct {
	Name string
	Data []byte
	// words are those of a large image instead, whose text is made when it is read; nil: Data.
	words *Packed
	// regions are those of a file of weights instead; nil: none.
	regions Regions
}

// Size is the number of bytes.
func (f File) Size() int {
	switch {
	case f.regions != nil:
		return f.regions.Size()
	case f.words != nil:
		return f.words.Len() * (f.words.digits() + 1)
	}
	return len(f.Data)
}

// Bytes is all that the file holds. For large images Write takes less memory.
func (f File) Bytes() []byte {
	if f.regions != nil {
		var b bytes.Buffer
		_ = f.regions.write(&b) // which has no errors
		return b.Bytes()
	}
	if f.words == nil {
		return f.Data
	}
	out := make([]byte, 0, f.Size())
	_ = f.words.each(func(part *Packed) error { // which has no errors
		out = part.text(out)
		return nil
	})
	return out
}

// Write writes the bytes to w, those of large images in parts. Errors are those of w.
func (f File) Write(w io.Writer) error {
	if f.regions != nil {
		return f.regions.write(w)
	}
	if f.words == nil {
		_, err := w.Write(f.Data)
		return err
	}
	var text []byte
	return f.words.each(func(part *Packed) error {
		text = part.text(text[:0])
		_, err := w.Write(text)
		return err
	})
}

// Regions is a file of weights for a memory outside: one region after the other, each of whole pages. Multi-byte values
// are little-endian.
type Regions []Region

// Region is the weights of one unit. The image has its words, made or not.
type Region struct {
	*Outside
	Words Image
}

// Size is the number of bytes.
func (r Regions) Size() (size int) {
	for _, p := range r {
		size += p.Bytes()
	}
	return size
}

// File is the file of the given name, whose bytes are made when they are read.
func (r Regions) File(name string) File { return File{Name: name, regions: r} }

// write writes all bytes to w.
func (r Regions) write(w io.Writer) error {
	for _, p := range r {
		if err := p.write(w); err != nil {
			return err
		}
	}
	return nil
}

// chunk is how many bytes are written at once.
const chunk = 1 << 20

func (p Region) write(w io.Writer) error {
	size := p.Port / 8 // of what a line of whole words takes
	if p.PerBeat() == 0 {
		size *= (p.Width + p.Port - 1) / p.Port
	}
	out := &beats{to: w, line: make([]byte, size)}
	left, filled, words := p.stride(), 0, 0
	err := p.Words.limbs(func(word []uint64) error {
		place(out.line, filled*p.Width, p.Width, word)
		filled, words = filled+1, words+1
		ends := words == p.Depth // of the set
		if filled == max(p.PerBeat(), 1) || ends {
			filled, left = 0, left-size
			out.end()
		}
		if ends {
			out.Write(make([]byte, left))
			left, words = p.stride(), 0
		}
		return out.flush(chunk)
	})
	if err != nil {
		return err
	}
	return out.flush(1)
}

// beats gathers what is written at once.
type beats struct {
	bytes.Buffer
	to   io.Writer
	line []byte // not yet ended
}

// end ends the line, and begins one of zeros.
func (b *beats) end() {
	b.Write(b.line)
	clear(b.line)
}

// flush passes on what has gathered, if that is so many bytes.
func (b *beats) flush(least int) error {
	if b.Len() < least {
		return nil
	}
	_, err := b.WriteTo(b.to)
	return err
}

// place puts the low bits of word, width of them, at bit at of line, where zeros stand.
func place(line []byte, at, width int, word []uint64) {
	for i := 0; i < width; {
		n := min(8-(at+i)%8, width-i, 64-i%64)
		bits := byte(word[i/64] >> (i % 64) & (1<<n - 1))
		line[(at+i)/8] |= bits << ((at + i) % 8)
		i += n
	}
}
