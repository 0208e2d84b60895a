// SPDX-License-Identifier: Apache-2.0

package tile

import "fmt"

// Descriptor says where a matrix of wgmma lies in shared memory (PTX ISA, "matrix descriptor"; offsets in bytes).
// In units of 16 bytes the matrix is stored in groups of eight rows (of columns where it is transposed): Start is its
// first byte, and what Leading and Stride skip tells Chunk.
type Descriptor struct {
	Start, Leading, Stride uint64
	// Row is the length in bytes of the rows that the swizzle mixes; 16 without a swizzle.
	Row uint64
}

// ReadDescriptor reads the 64 bits that an instruction takes. An error where they are none, or the matrix does not
// begin where the pattern of its swizzle does.
func ReadDescriptor(bits uint64) (Descriptor, error) {
	d := Descriptor{Start: bits & 0x3FFF << 4, Leading: bits >> 16 & 0x3FFF << 4, Stride: bits >> 32 & 0x3FFF << 4}
	d.Row = [...]uint64{16, 128, 64, 32}[bits>>62]
	switch {
	case d.Row > 16 && bits>>49&7 != 0: // without a swizzle it says nothing
		return d, fmt.Errorf("a descriptor with base offset %d is not executed", bits>>49&7)
	case bits&^(0x3FFF|0x3FFF<<16|0x3FFF<<32|7<<49|3<<62) != 0:
		return d, fmt.Errorf("%#x is not a descriptor: bits are set that have no meaning", bits)
	case d.Row > 16 && d.Start%(8*d.Row)>>7 != 0:
		return d, fmt.Errorf("the matrix begins at address %#x, inside of the pattern of its swizzle, which repeats every "+
			"%d bytes", d.Start, 8*d.Row)
	}
	return d, nil
}

// Chunk is the address of 16 bytes. With K along memory (across = false) they are those from 16*c on of row r, of which
// two make the depth of an instruction. With rows along memory (across) they are elements 8c to 8c+7 of column k = r.
// (Canonical layouts as the PTX ISA and CUTLASS's mma_sm90_desc.hpp give them.)
func (d Descriptor) Chunk(r, c uint64, across bool) uint64 {
	addr := d.Start + r%8*d.Row
	switch per := d.Row / 16; {
	case d.Row == 16 && !across:
		addr += r/8*d.Stride + c*d.Leading
	case d.Row == 16:
		addr += r/8*d.Leading + c*d.Stride
	case !across:
		addr += r/8*d.Stride + c*16
	default:
		addr += r/8*d.Stride + c%per*16 + c/per*d.Leading
	}
	if d.Row > 16 {
		addr ^= addr >> 7 & (d.Row/16 - 1) << 4
	}
	return addr & 0x3FFFF
}
