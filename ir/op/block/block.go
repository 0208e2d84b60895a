// SPDX-License-Identifier: Apache-2.0

// Package block is what ops must know of block formats: lengths of blocks, lanes within them, ranges of scales.
package block

import (
	"fmt"

	"lathe/ir/format"
)

// Bounds of block formats in operations: element width, and the width of the fixed formats that they are cast from and
// to, which is also that of the window accumulator.
const (
	minW     = 2
	MaxW     = 16
	WindowW  = 48 // the widest window accumulator
	maxRun   = 1 << 12
	scaleMax = 8 // bits of a scale field

	latticeMax = 40 // bits of elements as integers of one step

	minScale, maxScale = -149, 127 // exponents of the powers of two in float32, as which types list scales
)

// Encodes says that format f, which is fixed, can be cast to blocks and back.
func Encodes(f format.Format) bool {
	fx, ok := format.AsFixed(f)
	return ok && fx.W <= WindowW && fx.Round <= format.RoundOutward
}

// BlockProblem says why a block format cannot be used in a graph; empty if it can.
func BlockProblem(b format.Block) string {
	_, codec := b.(format.BlockCodec)
	lo, hi := b.ScaleLimits()
	_, bits, lattice := b.Element().Lattice()
	switch w, r := b.Width(), format.Rounding(b); {
	case w < minW || w > MaxW:
		return fmt.Sprintf("elements of blocks have %d to %d bits here, not %d", minW, MaxW, w)
	case b.BlockSize() > maxRun:
		return fmt.Sprintf("blocks have up to %d elements here, not %d", maxRun, b.BlockSize())
	case b.ScaleWidth() > scaleMax:
		return fmt.Sprintf("scales of blocks have up to %d bits here, not %d", scaleMax, b.ScaleWidth())
	case lo < minScale || hi > maxScale:
		return fmt.Sprintf("scales of blocks are 2^%d to 2^%d here, not 2^%d to 2^%d", minScale, maxScale, lo, hi)
	case r > format.RoundOutward && r != format.RoundLog:
		return fmt.Sprintf("round=%s has no hardware", r)
	case !lattice || bits > latticeMax:
		return fmt.Sprintf("elements of blocks span up to %d bits here, not those of %s", latticeMax, b)
	case !codec:
		return "it has no circuits"
	}
	return ""
}
