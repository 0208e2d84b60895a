// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"encoding/binary"
	"fmt"
	"io"

	"lathe/ir/hlo"
)

// A frame is a header of 24 bytes (little endian: magic, version, kind, two zero bytes, sequence number, four zero
// bytes, payload length) and the payload. A reply repeats the sequence number of its request.
const (
	frameMagic   = 0x4a50484c // "LHPJ"
	frameVersion = 1
	headerSize   = 24
	// maxPayload bounds what either side believes of a length field.
	maxPayload = 4 << 30
	// growStep bounds what is allocated before the bytes have in fact arrived.
	growStep = 64 << 20
	maxRank  = 64
	maxCount = 1 << 20 // arrays in one frame
)

type kind byte

const (
	kindHello    kind = iota + 1 // number of devices; reply: text fields of Info
	kindCompile                  // program text; reply: id, number of results
	kindBind                     // id, how many arrays are bound already (0: none stay), arrays
	kindRun                      // id, arrays; reply: arrays
	kindDrop                     // id
	kindUpload                   // axis that devices divide, from 1, or 0; arrays; reply: id of the first buffer
	kindStep                     // id, how many buffers, for each its id and whether it is donated; reply: as of upload
	kindDownload                 // id of a buffer, device; reply: arrays
	kindFree                     // id of a buffer
	kindOK                       // reply
	kindFail                     // reply: code, message
	numKinds
)

type frame struct {
	kind    kind
	seq     uint32
	payload []byte
}

// writeFrame writes one frame whose payload is the concatenation of parts.
func writeFrame(w io.Writer, k kind, seq uint32, parts ...[]byte) error {
	total := uint64(0)
	for _, p := range parts {
		total += uint64(len(p))
	}
	if total > maxPayload {
		return fmt.Errorf("message of %d bytes, limit %d", total, uint64(maxPayload))
	}
	h := make([]byte, headerSize)
	binary.LittleEndian.PutUint32(h[0:], frameMagic)
	h[4], h[5] = frameVersion, byte(k)
	binary.LittleEndian.PutUint32(h[8:], seq)
	binary.LittleEndian.PutUint64(h[16:], total)
	for _, p := range append([][]byte{h}, parts...) {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// readFrame reads one frame; io.EOF means that the stream ended between frames.
func readFrame(r io.Reader) (frame, error) {
	var h [headerSize]byte
	if n, err := io.ReadFull(r, h[:]); err != nil {
		if n == 0 {
			return frame{}, io.EOF
		}
		return frame{}, fmt.Errorf("stream ends inside a frame header: %w", err)
	}
	f := frame{kind: kind(h[5]), seq: binary.LittleEndian.Uint32(h[8:])}
	n := binary.LittleEndian.Uint64(h[16:])
	switch {
	case binary.LittleEndian.Uint32(h[:]) != frameMagic:
		return f, fmt.Errorf("bytes %q are not a frame header", h[:8])
	case h[4] != frameVersion:
		return f, fmt.Errorf("protocol version %d, this side has %d", h[4], frameVersion)
	case f.kind == 0 || f.kind >= numKinds || h[6]|h[7]|h[12]|h[13]|h[14]|h[15] != 0:
		return f, fmt.Errorf("malformed frame header, kind %d", f.kind)
	case n > maxPayload:
		return f, fmt.Errorf("frame of %d bytes, limit %d", n, uint64(maxPayload))
	}
	var err error
	f.payload, err = readGrowing(r, int(n))
	return f, err
}

// readGrowing reads n bytes, allocating as they come, so that a wrong length costs no memory.
func readGrowing(r io.Reader, n int) ([]byte, error) {
	buf := make([]byte, min(n, growStep))
	have := 0
	for {
		m, err := io.ReadFull(r, buf[have:])
		have += m
		if err != nil {
			return nil, fmt.Errorf("stream ends after %d of %d payload bytes: %w", have, n, err)
		}
		if have == n {
			return buf, nil
		}
		grown := make([]byte, min(n, 2*len(buf)))
		copy(grown, buf)
		buf = grown
	}
}

// wireTypes numbers the element types of the wire.
var wireTypes = [...]hlo.DType{hlo.I1, hlo.I8, hlo.I32, hlo.I64, hlo.UI8, hlo.UI32, hlo.UI64, hlo.F32, hlo.F64}

// arrayParts encodes arrays as pieces that share their data: a count, then for each element type, rank, dimensions,
// and data, whose length follows from the type.
func arrayParts(arrays []hlo.Array) ([][]byte, error) {
	parts := [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(len(arrays)))}
	for i, a := range arrays {
		if msg := a.Check(); msg != "" {
			return nil, fmt.Errorf("array %d: %s", i, msg)
		}
		code := 0
		for wireTypes[code] != a.Type.DType {
			code++
		}
		head := []byte{byte(code), byte(a.Type.Rank())}
		for _, d := range a.Type.Dims {
			head = binary.LittleEndian.AppendUint64(head, uint64(d))
		}
		parts = append(parts, head, a.Data)
	}
	return parts, nil
}

// cursor reads a payload; after a mistake it gives zeros and keeps the mistake in err.
type cursor struct {
	rest []byte
	err  error
}

func (c *cursor) take(n int) []byte {
	if c.err == nil && (n < 0 || n > len(c.rest)) {
		c.err = fmt.Errorf("payload ends early: %d bytes wanted, %d left", n, len(c.rest))
	}
	if c.err != nil {
		return nil
	}
	out := c.rest[:n:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) u8() byte {
	if p := c.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if p := c.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if p := c.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (c *cursor) text() string { return string(c.take(int(c.u32()))) }

// arrays decodes what arrayParts made; the data stays inside the payload.
func (c *cursor) arrays() []hlo.Array {
	n := c.u32()
	if n > maxCount && c.err == nil {
		c.err = fmt.Errorf("%d arrays in one frame", n)
	}
	var out []hlo.Array
	for i := 0; i < int(n) && c.err == nil; i++ {
		code, rank := int(c.u8()), int(c.u8())
		if c.err == nil && (code >= len(wireTypes) || rank > maxRank) {
			c.err = fmt.Errorf("array %d has element type %d, rank %d", i, code, rank)
			return nil
		}
		t := hlo.Type{Dims: make([]int, rank)}
		for j := range t.Dims {
			t.Dims[j] = int(c.u64())
		}
		if c.err != nil {
			return nil
		}
		t.DType = wireTypes[code]
		if msg := t.Check(); msg != "" {
			c.err = fmt.Errorf("array %d: %s", i, msg)
			return nil
		}
		out = append(out, hlo.Array{Type: t, Data: c.take(t.Len() * t.DType.Bytes())})
	}
	if c.err != nil {
		return nil
	}
	return out
}

// end demands that the payload is used up.
func (c *cursor) end() error {
	if c.err == nil && len(c.rest) != 0 {
		c.err = fmt.Errorf("%d bytes too many in a payload", len(c.rest))
	}
	return c.err
}

func appendText(p []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(p, uint32(len(s))), s...)
}
