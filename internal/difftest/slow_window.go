// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/geometry"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
	"lathe/ir/op/window"
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
	var w geometry.Window
	groups, includePad := 1, false
	switch a := n.Attrs.(type) {
	case *sum.ConvAttrs:
		w, groups = a.Window, a.Groups
	case *geometry.Window:
		w = *a
	case *window.AvgAttrs:
		w, includePad = a.Window, a.IncludePad
	case *window.GlobalAttrs:
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
		if n.Op == sum.Conv {
			return slowConv(x, args[1:], &w, groups, result.channels(), image, channel, pos)
		}
		return slowPool(n.Op, x, &w, includePad, image, channel, pos, mean)
	}), nil
}

// positions counts windows along spatial axis i: those that end inside the padded image, and in ceil mode one more that
// ends beyond it, if it starts inside the image or the padding before it.
func positions(w *geometry.Window, i, size int) int {
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
func (p picture) pixels(w *geometry.Window, pos []int, f func(k, at []int, inside, padded bool)) {
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
func slowConv(x picture, rest []value, w *geometry.Window, groups, outs, image, o int, pos []int) *big.Rat {
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
func slowPool(o *ir.Op, x picture, w *geometry.Window, includePad bool, image, channel int, pos []int,
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
	if o == window.MaxPool {
		return best
	}
	return mean(sum, count)
}

// blocksOf cuts a row of n elements into runs of k: the borders, from 0 to n.
func blocksOf(n, k int) []int {
	borders := []int{0}
	for at := k; at < n; at += k {
		borders = append(borders, at)
	}
	return append(borders, n)
}

// decodeBlocks gives the values of blocks: q * 2^-(W-2) * 2^(X-127), blocks along the last axis.
func decodeBlocks(t ir.Type, m format.MXInt, s *ir.Tensor) []*big.Rat {
	row := t.Shape[len(t.Shape)-1]
	var out []*big.Rat
	block := 0
	for from := 0; from < len(s.Codes); from += row {
		borders := blocksOf(row, m.K)
		for j := 1; j < len(borders); j++ {
			scale := power(int(s.BlockScales[block]) - 127 - (m.W - 2))
			for i := borders[j-1]; i < borders[j]; i++ {
				out = append(out, new(big.Rat).Mul(integer(s.Codes[from+i]), scale))
			}
			block++
		}
	}
	return out
}

// encodeBlocks encodes blocks from their definition: e is the greatest integer with 2^e <= max|x|, within -127..127.
func encodeBlocks(t ir.Type, m format.MXInt, x []*big.Rat) *ir.Tensor {
	row := t.Shape[len(t.Shape)-1]
	out := &ir.Tensor{Type: t}
	for from := 0; from < len(x); from += row {
		borders := blocksOf(row, m.K)
		for j := 1; j < len(borders); j++ {
			part := x[from+borders[j-1] : from+borders[j]]
			most := new(big.Rat)
			for _, v := range part {
				if a := new(big.Rat).Abs(v); a.Cmp(most) > 0 {
					most = a
				}
			}
			if most.Sign() == 0 {
				out.BlockScales = append(out.BlockScales, 0)
				out.Codes = append(out.Codes, make([]int64, len(part))...)
				continue
			}
			e := 127
			for e > -127 && power(e).Cmp(most) > 0 {
				e--
			}
			out.BlockScales = append(out.BlockScales, int64(e+127))
			for _, v := range part {
				q := round(new(big.Rat).Mul(v, power(m.W-2-e)), m.Round)
				out.Codes = append(out.Codes, enter(m.W, true, format.Sym, q))
			}
		}
	}
	return out
}

// keptBlocks is the result of an operation that hands on blocks: their scales, and codes as they are or cut at zero.
func keptBlocks(n *ir.Node, x *ir.Tensor) *ir.Tensor {
	out := &ir.Tensor{Type: n.Type, BlockScales: x.BlockScales}
	for _, q := range x.Codes {
		if n.Op == pointwise.Relu && q < 0 {
			q = 0
		}
		out.Codes = append(out.Codes, q)
	}
	return out
}

// overBlocks says that n is a sum of products over blocks.
func overBlocks(n *ir.Node) bool {
	if n.Op != sum.Linear && n.Op != sum.Conv {
		return false
	}
	x := n.Args[0].Type.InBlocks()
	w := n.Args[1].Type.InBlocks()
	return x || w
}

// slowBlockSum adds, for every result, one number a block in steps of the accumulator: floor, saturated; then the sum
// saturates.
func slowBlockSum(n *ir.Node, args []value) []*big.Rat {
	acc := n.Type.Format.(format.Fixed)
	k := 0
	for _, a := range n.Args[:2] {
		if m, ok := a.Type.Format.(format.MXInt); ok {
			k = m.K
		}
	}
	steps := func(v *big.Rat) *big.Rat {
		q := round(new(big.Rat).Mul(v, power(acc.F)), format.RoundFloor)
		return integer(enter(acc.W, true, format.Sat, q))
	}
	x, w := args[0], args[1]
	run := w.shape[len(w.shape)-1]
	size := len(w.x) / w.shape[0]
	result := func(c int, window []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		if len(args) > 2 {
			sum = steps(args[2].x[c])
		}
		for tap := 0; tap < size; tap += run {
			borders := blocksOf(run, k)
			for j := 1; j < len(borders); j++ {
				d := new(big.Rat)
				for i := tap + borders[j-1]; i < tap+borders[j]; i++ {
					if window[i] != nil {
						d.Add(d, new(big.Rat).Mul(window[i], w.x[c*size+i]))
					}
				}
				sum.Add(sum, steps(d))
			}
		}
		q := enter(acc.W, true, format.Sat, round(sum, format.RoundFloor))
		return new(big.Rat).Mul(integer(q), power(-acc.F))
	}
	var out []*big.Rat
	if n.Op == sum.Linear {
		for at := 0; at < len(x.x); at += size {
			for c := range w.shape[0] {
				out = append(out, result(c, x.x[at:at+size]))
			}
		}
		return out
	}
	each(n.Type.Shape[:3], func(i []int) {
		window := slowPixels(n.Attrs.(*sum.ConvAttrs), x, run, size, i)
		for c := range w.shape[0] {
			out = append(out, result(c, window))
		}
	})
	return out
}

// slowPixels lists the size elements of the window at result i, run a pixel; nil in the padding.
func slowPixels(a *sum.ConvAttrs, x value, run, size int, i []int) []*big.Rat {
	window := make([]*big.Rat, size)
	for tap := range size / run {
		y := i[1]*a.Strides[0] - a.Pads[0] + tap/a.Kernel[1]*a.Dilations[0]
		col := i[2]*a.Strides[1] - a.Pads[1] + tap%a.Kernel[1]*a.Dilations[1]
		if y < 0 || y >= x.shape[1] || col < 0 || col >= x.shape[2] {
			continue
		}
		for c := range run {
			window[tap*run+c] = x.at(i[0], y, col, c)
		}
	}
	return window
}

// slowResult is slowOp, but for sums over blocks and for interpolation, which round on the way.
func slowResult(n *ir.Node, args []value) ([]*big.Rat, error) {
	if y, yes := slowInterpolation(n, args[0]); yes {
		return y, nil
	}
	switch t := n.Op.Traits; {
	case overBlocks(n):
		return slowBlockSum(n, args), nil
	case n.Op.Traits.Meets > 0 && n.Args[0].Type.InBlocks():
		return slowBlockPair(n, args), nil
	case t.FloatOnly && t.Elementwise:
		return slowElements(n, args)
	// of those with strides a position is one of tokens
	case t.Index != nil && t.FloatOnly && !sequence.ReadsStrides(n.Op):
		return slowIndexed(n, args)
	case n.Op == whole.CumSum || n.Op == whole.TopKValues || n.Op == whole.TopKIndices:
		return slowLine(n, args[0]), nil
	}
	return slowOp(n, args)
}

// slowElements is an element-wise operation of float graphs.
func slowElements(n *ir.Node, args []value) (out []*big.Rat, err error) {
	out = fill(n.Type.Shape, func(i []int) *big.Rat {
		x := make([]*big.Rat, len(args))
		for k, a := range args {
			x[k] = repeat(a, i)
		}
		y, known := slowElement(n, x)
		if !known {
			err = fmt.Errorf("the slow evaluator does not know %s: docs/extending.md says where it is defined", n.Op.Name)
		}
		return y
	})
	return out, err
}
