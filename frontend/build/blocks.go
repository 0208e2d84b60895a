// SPDX-License-Identifier: Apache-2.0

package build

import (
	"lathe/internal/diag"
	"lathe/ir"
)

// BlockOrder says where the channel stands that a block of pixels makes of one channel, before or behind the block's
// own place: DCR or CRD, as ONNX names them. torch's pixel_shuffle and pixel_unshuffle are CRD.
type BlockOrder int

// The orders.
const (
	DCR BlockOrder = iota // channel = (row*block + column)*channels + c
	CRD                   // channel = (c*block + row)*block + column
)

// DepthToSpace makes blocks of pixels of channels: x [N,C*block*block,H,W] gives [N,C,H*block,W*block].
func (b *Builder) DepthToSpace(at Place, x *ir.Node, block int, order BlockOrder) (*ir.Node, error) {
	c, s := b.chain(at), x.Type.Shape
	if len(s) != 4 || block < 1 || block > 1<<15 || s[1]%(block*block) != 0 {
		c.fail(diag.OperandShapes, "blocks of %d by %d do not divide the channels of %s", block, block, ir.ShapeString(s))
		return c.done(nil)
	}
	n, channels, h, w := s[0], s[1]/block/block, s[2], s[3]
	cut, perm := []int{n, block, block, channels, h, w}, []int{0, 3, 4, 1, 5, 2}
	if order == CRD {
		cut, perm = []int{n, channels, block, block, h, w}, []int{0, 1, 4, 2, 5, 3}
	}
	y := c.transpose("move", c.reshape("cut", x, cut...), perm...)
	return c.done(c.reshape("", y, n, channels, h*block, w*block))
}

// SpaceToDepth makes channels of blocks of pixels: x [N,C,H*block,W*block] gives [N,C*block*block,H,W]. ONNX has it in
// the order DCR.
func (b *Builder) SpaceToDepth(at Place, x *ir.Node, block int, order BlockOrder) (*ir.Node, error) {
	c, s := b.chain(at), x.Type.Shape
	if len(s) != 4 || block < 1 || block > 1<<15 || s[2]%block != 0 || s[3]%block != 0 {
		c.fail(diag.OperandShapes, "blocks of %d by %d do not divide the pixels of %s", block, block, ir.ShapeString(s))
		return c.done(nil)
	}
	n, channels, h, w := s[0], s[1], s[2]/block, s[3]/block
	perm := []int{0, 3, 5, 1, 2, 4}
	if order == CRD {
		perm = []int{0, 1, 3, 5, 2, 4}
	}
	y := c.transpose("move", c.reshape("cut", x, n, channels, h, block, w, block), perm...)
	return c.done(c.reshape("", y, n, channels*block*block, h, w))
}
