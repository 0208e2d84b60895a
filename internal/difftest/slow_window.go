// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/big"

	"lathe/ir"
	"lathe/ir/op"
)

// picture reads an image of one or two spatial axes in either layout.
type picture struct {
	v    value
	last bool // channels last
}

// size is the number of pixels along spatial axis i.
func (p picture) size(i int) int {
	if p.last {
		return p.v.shape[1+i]
	}
	return p.v.shape[2+i]
}

func (p picture) rank() int { return len(p.v.shape) - 2 }

// index puts batch, channel and spatial position into the order of the layout.
func (p picture) index(n, c int, pos []int) []int {
	if p.last {
		return append(append([]int{n}, pos...), c)
	}
	return append([]int{n, c}, pos...)
}

// slowWindow evaluates conv and the pools, one result at a time.
func slowWindow(n *ir.Node, args []value) ([]*big.Rat, error) {
	return slowWindows(n, args, func(sum *big.Rat, count int64) *big.Rat { return sum.Quo(sum, integer(count)) })
}

// slowWindows is slowWindow with a mean of the caller's choice.
func slowWindows(n *ir.Node, args []value, mean func(sum *big.Rat, count int64) *big.Rat) ([]*big.Rat, error) {
	var w op.Window
	groups, includePad := 1, false
	switch a := n.Attrs.(type) {
	case *op.ConvAttrs:
		w, groups = a.Window, a.Groups
	case *op.Window:
		w = *a
	case *op.AvgAttrs:
		w, includePad = a.Window, a.IncludePad
	case *op.GlobalAttrs:
		w.ChannelsLast = a.ChannelsLast
		x := picture{args[0], a.ChannelsLast}
		for i := range x.rank() {
			w.Kernel, w.Pads = append(w.Kernel, x.size(i)), append(w.Pads, 0, 0)
			w.Strides, w.Dilations = append(w.Strides, 1), append(w.Dilations, 1)
		}
	}
	x := picture{args[0], w.ChannelsLast}
	result := picture{value{shape: n.Type.Shape}, w.ChannelsLast}
	for i := range x.rank() {
		if got, want := result.size(i), positions(&w, i, x.size(i)); got != want {
			return nil, fmt.Errorf("%s has %d windows along axis %d, want %d", n.Name, got, i, want)
		}
	}
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		image, channel, pos := i[0], i[1], i[2:]
		if w.ChannelsLast {
			channel, pos = i[len(i)-1], i[1:len(i)-1]
		}
		if n.Op == op.Conv {
			return slowConv(x, args[1:], &w, groups, result.channels(), image, channel, pos)
		}
		return slowPool(n.Op, x, &w, includePad, image, channel, pos, mean)
	}), nil
}

// positions counts windows along spatial axis i: those that end inside the padded image, and in ceil mode one more that
// ends beyond it, if it starts inside the image or the padding before it.
func positions(w *op.Window, i, size int) int {
	end := w.Pads[i] + size + w.Pads[i+len(w.Kernel)]
	start, n := 0, 0
	for ; start+(w.Kernel[i]-1)*w.Dilations[i] < end; start += w.Strides[i] {
		n++
	}
	last := start - w.Strides[i] + (w.Kernel[i]-1)*w.Dilations[i]
	if w.CeilMode && last < end-1 && start < w.Pads[i]+size {
		n++
	}
	return n
}

func (p picture) channels() int {
	if p.last {
		return p.v.shape[len(p.v.shape)-1]
	}
	return p.v.shape[1]
}

// pixels calls f for each kernel position: where it lies in the image, whether that is inside the image, and whether it
// is inside the image and its padding.
func (p picture) pixels(w *op.Window, pos []int, f func(k, at []int, inside, padded bool)) {
	each(w.Kernel, func(k []int) {
		at := make([]int, len(k))
		inside, padded := true, true
		for i := range k {
			at[i] = pos[i]*w.Strides[i] + k[i]*w.Dilations[i] - w.Pads[i]
			inside = inside && at[i] >= 0 && at[i] < p.size(i)
			padded = padded && at[i] < p.size(i)+w.Pads[i+len(k)]
		}
		f(k, at, inside, padded)
	})
}

// slowConv is y[n,p,o] = b[o] + sum over kernel and the channels of o's group; padding is zero.
func slowConv(x picture, rest []value, w *op.Window, groups, outs, image, o int, pos []int) *big.Rat {
	y := new(big.Rat)
	if len(rest) > 1 {
		y.Set(rest[1].at(o))
	}
	kernel := picture{rest[0], w.ChannelsLast}
	perGroup := x.channels() / groups
	first := o / (outs / groups) * perGroup
	x.pixels(w, pos, func(k, at []int, inside, _ bool) {
		for c := range perGroup {
			if inside {
				weight := kernel.v.at(kernel.index(o, c, k)...)
				y.Add(y, new(big.Rat).Mul(weight, x.v.at(x.index(image, first+c, at)...)))
			}
		}
	})
	return y
}

// slowPool is the maximum or the mean of the elements of one window.
func slowPool(o *ir.Op, x picture, w *op.Window, includePad bool, image, channel int, pos []int,
	mean func(sum *big.Rat, count int64) *big.Rat) *big.Rat {
	var best *big.Rat
	sum, count := new(big.Rat), int64(0)
	x.pixels(w, pos, func(_, at []int, inside, padded bool) {
		if inside || padded && includePad {
			count++
		}
		if !inside {
			return
		}
		v := x.v.at(x.index(image, channel, at)...)
		sum.Add(sum, v)
		if best == nil || v.Cmp(best) > 0 {
			best = v
		}
	})
	if o == op.MaxPool {
		return best
	}
	return mean(sum, count)
}
