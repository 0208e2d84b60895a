// SPDX-License-Identifier: Apache-2.0

// Package tensor describes tensors in global memory for bulk copies of boxes (cp.async.bulk.tensor): what
// cuTensorMapEncodeTiled takes, a layout of 128 bytes for it that the interpreter reads, and which bytes a box has.
// The driver's own layout is not published; kernels cannot look inside either.
package tensor

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

const (
	// Size is that of an encoded map in bytes.
	Size = 128
	// Align is the alignment of its address.
	Align = 64
	// MaxRank is the greatest number of dimensions.
	MaxRank = 5
	// MaxBox is the greatest extent of a box along a dimension.
	MaxBox = 256
)

// Type is the type of elements, with the numbers of CUtensorMapDataType.
type Type uint8

// The types.
const (
	U8 Type = iota
	U16
	U32
	I32
	U64
	I64
	F16
	F32
	F64
	BF16
)

// Bytes is the size of an element; 0 of an unknown type.
func (t Type) Bytes() int64 {
	sizes := [...]int64{1, 2, 4, 4, 8, 8, 2, 4, 8, 2}
	if int(t) >= len(sizes) {
		return 0
	}
	return sizes[t]
}

// Swizzle is how rows of a box are mixed in shared memory, with the numbers of CUtensorMapSwizzle: of every so many
// bytes, the 16-byte pieces are exchanged by the bits of the address above 128 bytes.
type Swizzle uint8

// The swizzles.
const (
	None Swizzle = iota
	Swizzle32
	Swizzle64
	Swizzle128
)

// Bytes is the length of the rows that are mixed; 0 of None.
func (s Swizzle) Bytes() int64 { return []int64{0, 32, 64, 128}[s&3] }

// Pattern is the number of bytes after which the mix repeats: boxes begin at a multiple of it.
func (s Swizzle) Pattern() int64 { return max(8*s.Bytes(), 128) }

// At is where the byte of a linear address of shared memory lies.
func (s Swizzle) At(addr uint64) uint64 { return addr ^ addr>>7&(1<<(s&3)-1)<<4 }

// Map is a tensor of which boxes are copied. Dimension 0 is the one whose elements lie side by side.
type Map struct {
	Type Type `json:"type"`
	// Address is that of the first element, a multiple of 16.
	Address uint64 `json:"address,omitempty"`
	// Dims are the extents, Strides the bytes from one element to the next along dimensions 1 and up: multiples of 16.
	Dims    []int64 `json:"dims"`
	Strides []int64 `json:"strides"`
	// Box is the extent of a copy, Steps which elements of it are copied: every n-th; nil stands for ones.
	Box     []int64 `json:"box"`
	Steps   []int64 `json:"steps,omitempty"`
	Swizzle Swizzle `json:"swizzle"`
	// NaN fills floats outside of the tensor with NaN instead of zero.
	NaN bool `json:"nan,omitempty"`
	// Interleave and Promotion are passed on to the driver: only 0 of the first is executed here, the second is a hint.
	Interleave uint8 `json:"interleave,omitempty"`
	Promotion  uint8 `json:"promotion,omitempty"`
}

// Check says what the driver would refuse; nil if nothing.
func (m *Map) Check() error {
	n := len(m.Dims)
	switch {
	case m.Type.Bytes() == 0:
		return fmt.Errorf("element type %d is not executed", m.Type)
	case n < 1 || n > MaxRank || len(m.Strides) != n-1 || len(m.Box) != n || len(m.Steps) != 0 && len(m.Steps) != n:
		return fmt.Errorf("%d dimensions with %d strides and a box of %d; there are 1 to %d", n, len(m.Strides),
			len(m.Box), MaxRank)
	case m.Interleave != 0:
		return fmt.Errorf("interleave %d is not executed", m.Interleave)
	case m.Swizzle > Swizzle128:
		return fmt.Errorf("swizzle %d is not executed", m.Swizzle)
	case m.Address%16 != 0:
		return fmt.Errorf("the address %#x is not a multiple of 16", m.Address)
	case m.NaN && (m.Type < F16 || m.Type > BF16):
		return fmt.Errorf("integers cannot be filled with NaN")
	}
	for i := range n {
		switch {
		case m.Dims[i] < 1 || m.Dims[i] > 1<<32:
			return fmt.Errorf("dimension %d has %d elements, not 1 to 2^32", i, m.Dims[i])
		case m.Box[i] < 1 || m.Box[i] > MaxBox:
			return fmt.Errorf("the box has %d elements along dimension %d, not 1 to %d", m.Box[i], i, MaxBox)
		case m.step(i) < 1 || m.step(i) > 8:
			return fmt.Errorf("step %d along dimension %d, not 1 to 8", m.step(i), i)
		case i > 0 && (m.Strides[i-1]%16 != 0 || m.Strides[i-1] < 0 || m.Strides[i-1] >= 1<<40):
			return fmt.Errorf("the stride of dimension %d is %d bytes, not a multiple of 16 below 2^40", i, m.Strides[i-1])
		}
	}
	row := m.Box[0] * m.Type.Bytes()
	switch {
	case row%16 != 0:
		return fmt.Errorf("the box has %d bytes along dimension 0, not a multiple of 16", row)
	case m.Swizzle != None && row > m.Swizzle.Bytes():
		return fmt.Errorf("the box has %d bytes along dimension 0, the swizzle %d", row, m.Swizzle.Bytes())
	}
	return nil
}

// step is the step of copied elements along a dimension.
func (m *Map) step(i int) int64 {
	if len(m.Steps) == 0 {
		return 1
	}
	return m.Steps[i]
}

// count is the number of copied elements along a dimension.
func (m *Map) count(i int) int64 { return (m.Box[i] + m.step(i) - 1) / m.step(i) }

// Bytes is the length of a copy: what its mbarrier expects, with what lies outside of the tensor.
func (m *Map) Bytes() int64 {
	n := m.Type.Bytes()
	for i := range m.Box {
		n *= m.count(i)
	}
	return n
}

var magic = [4]byte{'L', 'T', 'M', '1'}

// Encode is the map in the interpreter's layout. It is an error what the driver would refuse.
func (m *Map) Encode() ([Size]byte, error) {
	var out [Size]byte
	if err := m.Check(); err != nil {
		return out, err
	}
	b := append(out[:0], magic[:]...)
	flags := byte(m.Swizzle)
	if m.NaN {
		flags |= 1 << 7
	}
	b = append(b, byte(m.Type), byte(len(m.Dims)), flags, m.Promotion)
	b = binary.LittleEndian.AppendUint64(b, m.Address)
	for i := range m.Dims {
		b = binary.LittleEndian.AppendUint32(b, uint32(m.Dims[i]-1))
		b = append(b, byte(m.Box[i]-1), byte(m.step(i)))
	}
	for _, s := range m.Strides {
		b = binary.LittleEndian.AppendUint64(b, uint64(s))
	}
	binary.LittleEndian.PutUint32(out[Size-4:], crc32.ChecksumIEEE(out[:Size-4]))
	return out, nil
}

// Decode reads what Encode wrote. An error for any other bytes.
func Decode(b []byte) (*Map, error) {
	if len(b) != Size || !slices.Equal(b[:4], magic[:]) ||
		binary.LittleEndian.Uint32(b[Size-4:]) != crc32.ChecksumIEEE(b[:Size-4]) {
		return nil, fmt.Errorf("the bytes are no tensor map")
	}
	m := &Map{Type: Type(b[4]), Swizzle: Swizzle(b[6] & 3), NaN: b[6]>>7 == 1, Promotion: b[7]}
	m.Address = binary.LittleEndian.Uint64(b[8:])
	at, n := 16, int(b[5])
	for range n {
		m.Dims = append(m.Dims, int64(binary.LittleEndian.Uint32(b[at:]))+1)
		m.Box = append(m.Box, int64(b[at+4])+1)
		m.Steps = append(m.Steps, int64(b[at+5]))
		at += 6
	}
	for range n - 1 {
		m.Strides = append(m.Strides, int64(binary.LittleEndian.Uint64(b[at:])))
		at += 8
	}
	return m, m.Check()
}
