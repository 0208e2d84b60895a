// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"fmt"

	"lathe/cuda/gemm"
)

// Images are images x h x w x c, channels last, under square windows with as many pads on all sides.
func Images(images, h, w, c, window, stride, pad int) gemm.Images {
	out := func(size int) int { return (size+2*pad-window)/stride + 1 }
	i := gemm.Images{Count: images, H: h, W: w, C: c, OH: out(h), OW: out(w), KH: window, KW: window, SH: stride,
		SW: stride, DH: 1, DW: 1, PT: pad, PL: pad}
	return i.Laid(true)
}

// imagesText is the shape of images and of n windows over them.
func imagesText(i gemm.Images, n int) string {
	return fmt.Sprintf("%dx%dx%dx%d, %d of %dx%d", i.Count, i.H, i.W, i.C, n, i.KH, i.KW)
}

// windows are the rows of the product: what each pixel of the result sees of the images x, and elsewhere an element
// that is outside.
func windows(i gemm.Images, x, outside []byte) []byte {
	size := len(outside)
	var out []byte
	for image := range i.Count {
		for oy := range i.OH {
			for ox := range i.OW {
				for tap := range i.KH * i.KW {
					iy, ix := oy*i.SH-i.PT+tap/i.KW*i.DH, ox*i.SW-i.PL+tap%i.KW*i.DW
					for c := range i.C {
						if iy < 0 || iy >= i.H || ix < 0 || ix >= i.W {
							out = append(out, outside...)
							continue
						}
						at := image*i.H*i.W*i.C + c*i.Channel + iy*i.Row + ix*i.Column
						out = append(out, x[at*size:(at+1)*size]...)
					}
				}
			}
		}
	}
	return out
}
