// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"lathe/cuda"
)

// Images are Count images of C channels, H rows and W columns, and the windows over them: OH rows of OW columns a
// image, KH x KW elements each. Of what lies beyond an image, windows see PT rows above it and PL columns left of it
// among others.
type Images struct {
	Count, H, W, C         int
	OH, OW, KH, KW, SH, SW int
	DH, DW, PT, PL         int
	// Channel, Row and Column are the distances of elements; images are dense.
	Channel, Row, Column int
}

// Laid are images with the channels of a pixel side by side, or with planes of channels.
func (i Images) Laid(channelsLast bool) Images {
	i.Channel, i.Row, i.Column = i.H*i.W, i.W, 1
	if channelsLast {
		i.Channel, i.Row, i.Column = 1, i.W*i.C, i.C
	}
	return i
}

// windows is their number, window that of the elements of each.
func (i Images) windows() int { return i.Count * i.OH * i.OW }
func (i Images) window() int  { return i.KH * i.KW * i.C }

// elements are those of all images.
func (i Images) elements() int64 { return int64(i.Count) * int64(i.H) * int64(i.W) * int64(i.C) }

// valid refuses what are no images: error L0990.
func (i Images) valid(kernel string) error {
	for _, n := range []int{i.Count, i.H, i.W, i.C, i.OH, i.OW, i.KH, i.KW, i.SH, i.SW, i.DH, i.DW} {
		if n < 1 || n > limit {
			return refuse(kernel, "a size of %d: sizes lie between 1 and %d", n, limit)
		}
	}
	return nil
}

// unit is how many elements of the given size a kernel copies at once: those of 16, 8 or 4 bytes, or 1.
func (i Images) unit(size int) int {
	for n := 16 / size; n*size >= 4 && i.Channel == 1; n /= 2 {
		if i.C%n == 0 && i.Row%n == 0 && i.Column%n == 0 {
			return n
		}
	}
	return 1
}

// args are the arguments of a kernel, behind those of a product.
func (i Images) args() []cuda.Arg {
	out := []cuda.Arg{cuda.I64(int64(i.H) * int64(i.W) * int64(i.C))}
	for _, s := range []int{i.Channel, i.Row, i.Column} {
		out = append(out, cuda.I64(int64(s)))
	}
	for _, n := range []int{i.H, i.W, i.C, i.OH, i.OW, i.KW, i.SH, i.SW, i.DH, i.DW, i.PT, i.PL} {
		out = append(out, cuda.I32(int32(n)))
	}
	return out
}

// reduced is one image with as few windows as fill a tile, and as many channels, of that unit, as fill its stages of so
// many products.
func (i Images) reduced(t tile, products, unit int) Images {
	i.Count, i.OW, i.OH = 1, 9, ceil(t.bm+3, 9)
	i.C = unit * (ceil(products*(t.stages+1)+unit, unit*i.KH*i.KW) | 1) // no multiple of a greater unit
	i.H = max((i.OH-1)*i.SH+(i.KH-1)*i.DH+1-i.PT, 1)
	i.W = max((i.OW-1)*i.SW+(i.KW-1)*i.DW+1-i.PL, 1)
	return i.Laid(i.Channel == 1)
}
