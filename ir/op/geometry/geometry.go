// SPDX-License-Identifier: Apache-2.0

// Package geometry is where windows lie on images: sizes, strides, padding, and what of an image each window sees.
package geometry

import (
	"fmt"

	"lathe/ir"
)

// Window is how a window moves over an image; slices have one entry per spatial axis (1 or 2), Pads begins then ends.
type Window struct {
	Kernel, Strides, Pads, Dilations []int
	// CeilMode lets a last window start inside the image and end outside of it.
	CeilMode bool
	// ChannelsLast says that images are N, H, W, C (lowered graphs) and not N, C, H, W (imported ones).
	ChannelsLast bool
}

// Grid is a window operation on an image of H x W pixels with C channels; 1-D data has H = 1.
type Grid struct {
	N, H, W, C     int
	KH, KW, SH, SW int
	DH, DW         int
	PT, PL, PB, PR int
	OH, OW         int
}

// New reads shape (N, C and one or two spatial axes) under w, and computes the output size.
func New(shape []int, w *Window) (*Grid, error) {
	rank := len(w.Kernel)
	if rank < 1 || rank > 2 || len(shape) != rank+2 {
		return nil, fmt.Errorf("shape %s with a kernel of %d axes: 1-D and 2-D images with batch and channels are supported",
			ir.ShapeString(shape), rank)
	}
	if len(w.Strides) != rank || len(w.Dilations) != rank || len(w.Pads) != 2*rank {
		return nil, fmt.Errorf("strides %v, dilations %v, pads %v do not fit %d spatial axes", w.Strides, w.Dilations,
			w.Pads, rank)
	}
	g := &Grid{N: shape[0], H: 1, KH: 1, SH: 1, DH: 1, C: shape[1]}
	spatial := shape[2:]
	if w.ChannelsLast {
		spatial, g.C = shape[1:1+rank], shape[1+rank]
	}
	last := rank - 1
	g.W, g.KW, g.SW, g.DW, g.PL, g.PR = spatial[last], w.Kernel[last], w.Strides[last], w.Dilations[last],
		w.Pads[last], w.Pads[last+rank]
	if rank == 2 {
		g.H, g.KH, g.SH, g.DH, g.PT, g.PB = spatial[0], w.Kernel[0], w.Strides[0], w.Dilations[0], w.Pads[0], w.Pads[2]
	}
	return g, g.outputs(w.CeilMode)
}

func (g *Grid) outputs(ceil bool) error {
	if min(g.KH, g.KW, g.SH, g.SW, g.DH, g.DW) < 1 || min(g.PT, g.PL, g.PB, g.PR) < 0 {
		return fmt.Errorf("kernel %dx%d, strides %dx%d, dilations %dx%d must be positive and pads not negative",
			g.KH, g.KW, g.SH, g.SW, g.DH, g.DW)
	}
	var err error
	if g.OH, err = windows(g.H, g.KH, g.SH, g.DH, g.PT, g.PB, ceil); err != nil {
		return err
	}
	g.OW, err = windows(g.W, g.KW, g.SW, g.DW, g.PL, g.PR, ceil)
	return err
}

// windows counts window positions along one axis (ONNX: Conv, MaxPool).
func windows(in, k, s, d, begin, end int, ceil bool) (int, error) {
	span := in + begin + end - (k-1)*d - 1
	if span < 0 {
		return 0, fmt.Errorf("kernel %d (dilation %d) is larger than %d padded elements", k, d, in+begin+end)
	}
	n := span/s + 1
	if ceil && span%s != 0 && n*s < in+begin { // a window that starts in the end padding does not count
		n++
	}
	return n, nil
}

// Empty reports windows that see padding only, along either axis: they have no maximum and no mean.
func (g *Grid) Empty() error {
	if at, found := emptyWindow(g.H, g.KH, g.SH, g.DH, g.PT, g.OH); found {
		return fmt.Errorf("the windows of output row %d lie entirely in the padding", at)
	}
	if at, found := emptyWindow(g.W, g.KW, g.SW, g.DW, g.PL, g.OW); found {
		return fmt.Errorf("the windows of output column %d lie entirely in the padding", at)
	}
	return nil
}

// emptyWindow finds the first of n windows along an axis without an element of the image.
func emptyWindow(in, k, s, d, begin, n int) (at int, found bool) {
	for o := range n {
		inside := false
		for i := range k {
			p := o*s - begin + i*d
			inside = inside || p >= 0 && p < in
		}
		if !inside {
			return o, true
		}
	}
	return 0, false
}

// OutShape is the result shape with c channels in the layout of w.
func (g *Grid) OutShape(w *Window, c int) []int {
	spatial := []int{g.OH, g.OW}
	if len(w.Kernel) == 1 {
		spatial = []int{g.OW}
	}
	if w.ChannelsLast {
		return append(append([]int{g.N}, spatial...), c)
	}
	return append([]int{g.N, c}, spatial...)
}

// At is the index of element (n, y, x, c) of the input in the given layout.
func (g *Grid) At(last bool, n, y, x, c int) int {
	if last {
		return ((n*g.H+y)*g.W+x)*g.C + c
	}
	return ((n*g.C+c)*g.H+y)*g.W + x
}

// OutAt is the index of element (n, y, x, c) of a result with channels C.
func (g *Grid) OutAt(last bool, channels, n, y, x, c int) int {
	if last {
		return ((n*g.OH+y)*g.OW+x)*channels + c
	}
	return ((n*channels+c)*g.OH+y)*g.OW + x
}

// Each calls f for every kernel position (ky, kx) of window (oy, ox) that lies inside the image, at pixel (y, x).
func (g *Grid) Each(oy, ox int, f func(ky, kx, y, x int)) {
	for ky := range g.KH {
		y := oy*g.SH - g.PT + ky*g.DH
		if y < 0 || y >= g.H {
			continue
		}
		for kx := range g.KW {
			if x := ox*g.SW - g.PL + kx*g.DW; x >= 0 && x < g.W {
				f(ky, kx, y, x)
			}
		}
	}
}
