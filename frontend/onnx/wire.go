// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"google.golang.org/protobuf/encoding/protowire"

	"lathe/internal/diag"
)

// message is the bytes of one protobuf message, their offset in the file, and how many messages it stands in.
type message struct {
	buf   []byte
	at    int
	depth int
}

// maxNesting bounds messages inside each other.
const maxNesting = 64

// field is one field of a message. Of val and sub, the wire type decides which one holds.
type field struct {
	num protowire.Number
	typ protowire.Type
	val uint64
	sub message
	at  int // offset of the tag in the file
}

// broken is an error at a byte offset; the caller's layers add the file name.
func broken(at int, msg string, args ...any) *diag.Error {
	return diag.New(diag.ModelBroken, "", msg, args...).WithNote("at byte %d", at)
}

// each calls visit for every field in order. Lengths are checked against the bytes left in this message.
func (m message) each(visit func(f *field) error) error {
	var f field
	for pos := 0; pos < len(m.buf); {
		num, typ, n := protowire.ConsumeTag(m.buf[pos:])
		if n < 0 {
			return broken(m.at+pos, "broken or truncated field tag")
		}
		f = field{num: num, typ: typ, at: m.at + pos}
		pos += n
		rest := m.buf[pos:]
		switch typ {
		case protowire.VarintType:
			f.val, n = protowire.ConsumeVarint(rest)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(rest)
			f.val = uint64(v)
		case protowire.Fixed64Type:
			f.val, n = protowire.ConsumeFixed64(rest)
		case protowire.BytesType:
			f.sub.buf, n = protowire.ConsumeBytes(rest)
			f.sub.at, f.sub.depth = m.at+pos+n-len(f.sub.buf), m.depth+1
		default:
			return broken(f.at, "field %d has wire type %d, which no ONNX file uses", num, typ)
		}
		if n < 0 {
			return broken(f.at, "field %d is truncated: %d bytes are left", num, len(rest)).
				WithHint("the file may be cut off: compare its size with that of the original")
		}
		pos += n
		if err := visit(&f); err != nil {
			return err
		}
	}
	return nil
}

// count says how often each of the given fields occurs, so that slices are made in their final size.
func (m message) count(nums ...protowire.Number) ([]int, error) {
	counts := make([]int, len(nums))
	err := m.each(func(f *field) error {
		for i, n := range nums {
			if f.num == n {
				counts[i]++
			}
		}
		return nil
	})
	return counts, err
}

// maxName bounds names, types and other short texts.
const maxName = 64 << 10

// text reads a short string.
func (f *field) text() (string, error) {
	if err := f.want(protowire.BytesType); err != nil {
		return "", err
	}
	if len(f.sub.buf) > maxName {
		return "", diag.New(diag.ModelLimit, "", "a name has %d bytes, the limit is %d", len(f.sub.buf), maxName).
			WithNote("at byte %d", f.at)
	}
	return string(f.sub.buf), nil
}

// want demands a wire type.
func (f *field) want(t protowire.Type) error {
	if f.typ != t {
		return broken(f.at, "field %d has wire type %d instead of %d", f.num, f.typ, t)
	}
	return nil
}

// message reads a nested message.
func (f *field) message() (message, error) {
	if f.sub.depth > maxNesting {
		return f.sub, diag.New(diag.ModelLimit, "", "messages stand more than %d deep in each other", maxNesting).
			WithNote("at byte %d", f.at)
	}
	return f.sub, f.want(protowire.BytesType)
}

// integer reads an int64, int32 or enum.
func (f *field) integer() (int64, error) { return int64(f.val), f.want(protowire.VarintType) }

// terms is the number of integers in the field: one, or as many as are packed. Nothing is allocated.
func (f *field) terms() (int, error) {
	switch f.typ {
	case protowire.VarintType:
		return 1, nil
	case protowire.BytesType:
		n := 0
		for _, b := range f.sub.buf {
			if b < 0x80 {
				n++
			}
		}
		return n, nil
	}
	return 0, f.want(protowire.VarintType)
}

// varints calls add for every integer of a repeated field, packed or not.
func (f *field) varints(add func(v uint64)) error {
	if f.typ != protowire.BytesType {
		add(f.val)
		return f.want(protowire.VarintType)
	}
	for pos := 0; pos < len(f.sub.buf); {
		v, n := protowire.ConsumeVarint(f.sub.buf[pos:])
		if n < 0 {
			return broken(f.sub.at+pos, "broken integer in field %d", f.num)
		}
		add(v)
		pos += n
	}
	return nil
}

// fixed returns the bytes of a repeated fixed-width field, packed or not: little-endian elements of the given width.
// An element that stands alone is written to spare.
func (f *field) fixed(width int, spare []byte) ([]byte, error) {
	single := protowire.Fixed32Type
	if width == 8 {
		single = protowire.Fixed64Type
	}
	if f.typ == single {
		for i := range width {
			spare[i] = byte(f.val >> (8 * i))
		}
		return spare[:width], nil
	}
	if err := f.want(protowire.BytesType); err != nil {
		return nil, err
	}
	if len(f.sub.buf)%width != 0 {
		return nil, broken(f.at, "field %d has %d packed bytes, no multiple of %d", f.num, len(f.sub.buf), width)
	}
	return f.sub.buf, nil
}
