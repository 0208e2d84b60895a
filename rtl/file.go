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
