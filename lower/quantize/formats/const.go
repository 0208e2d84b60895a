// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/block"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/norm"
	"lathe/ir/op/recur"
	"lathe/ir/op/sequence"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

const (
	// spread bounds how many bits finer than the coarsest channel of a weight another channel may be: finer steps would
	// widen every accumulator for channels that are almost zero.
	spread = 8
	// affineWidth is the widest format that has scales per channel.
	affineWidth = 32
)

// constants encodes the constant arguments of n: weights per output channel, bias, or the operand of an addition.
func (q *quantizer) constants(n *ir.Node) {
	channels := n.Op.Traits.Weighted
	for i, a := range n.Args {
		if !a.IsConst() {
			continue
		}
		if recur.Recurs(n.Op) {
			q.stateConst(n, i)
			continue
		}
		name, c := q.constSlot(n, i)
		gain, angle := norm.HasGains(n.Op) && i > 0, sequence.TakesAngles(n.Op) && i > 0
		if !gain && !angle && q.ownConst(n, i, name, c.Given) {
			continue
		}
		c = q.openConst(n, i, c)
		if channels && i == 1 && q.largeWeights(n, c) {
			continue
		}
		t, err := a.Value()
		if err != nil {
			q.fail(n, diag.ConstantNotFinite, "%v", err)
			return
		}
		if !q.finite(n, a, t.Floats) {
			return
		}
		if f, fit := c.Pattern.Biased(); fit {
			c.Pattern = format.PatternOf(f.Finer(calib.Finer(f, q.constValues(n, i, t.Floats), plan.MSE)))
			c.Calibrated = true
		}
		if q.scaledConst(n, i, t, c, name) || q.factors(n, i, t.Floats, c) {
			continue
		}
		typ, why := ir.Type{Shape: t.Type.Shape}, ""
		switch {
		case gain:
			typ.Format, why = q.gainFormat(n, i, c, t.Floats)
		case angle:
			typ.Format, why = q.angleFormat(n, i, c, t.Floats)
		case name == "bias":
			typ.Format, why = q.biasFormat(n, c, t.Floats)
		case channels:
			typ, why = channelType(c, t, q.finer(n))
		default:
			typ.Format, c = q.operandFormat(n, c, q.constValues(n, i, t.Floats))
			why = constantProblem(n, typ.Format)
		}
		if why != "" {
			hint := dataFormats
			if name == "weight" {
				hint = weightFormats
			}
			q.refuseFormat(n, c.Pattern, name, why, c.From, hint)
			return
		}
		q.explain(n, name, typ, c.From)
		q.encode(n, i, typ, t.Floats, c)
	}
}

// constSlot is the slot of constant argument i of n, and what decides it.
func (q *quantizer) constSlot(n *ir.Node, i int) (name string, c plan.Choice) {
	name, c, explicit, least := "weight", q.plan.Quantize.Weight, q.rule(n, weight), 8
	switch t := &n.Op.Traits; {
	case t.Weighted && i == 2:
		name, c, explicit, least = "bias", q.plan.Quantize.Bias, q.rule(n, bias), betweenW
	case norm.HasGains(n.Op) && i > 0:
		name, c, explicit = q.gainSlot(n, i)
	case t.Elementwise && !t.PerChannel && q.weighed(n):
		c = openFormat(FineW, "the default for what is added to scores")
	case sequence.TakesAngles(n.Op) && i > 0:
		c = openFormat(angleW, "the default for sines and cosines")
	}
	if explicit != nil {
		c = *explicit
	}
	return name, q.constChoice(n, c, explicit != nil, least)
}

// finite refuses constants that are NaN or infinite.
func (q *quantizer) finite(n, a *ir.Node, x []float32) bool {
	i := calib.InfiniteAt(x)
	if i >= 0 {
		q.fail(n, diag.ConstantNotFinite, "constant %q holds %v at element %d", a.Name, x[i], i)
	}
	return i < 0
}

// biasFormat chooses fraction bits with which no bias saturates, and not finer than the finest product of the sum.
func (q *quantizer) biasFormat(n *ir.Node, c plan.Choice, x []float32) (format.Format, string) {
	f, open := c.Pattern.Open()
	if !open {
		return c.Pattern.Format, dataProblem(c.Pattern.Format)
	}
	frac := calib.Frac(f, calib.Of(x), plan.MinMax)
	exp, ok := dot.ProductStep(n)
	if q.staysExact() && !c.Given {
		frac, exp = min(frac, lastBit(x)), exp-biasGuard
	}
	if ok {
		frac = min(frac, -exp)
	}
	return c.Pattern.With(frac), ""
}

// channelType completes the format of weights: an open pattern, or int(W)*[0], gets one power-of-two scale for each
// output channel (axis 0), chosen by the least squared error of that channel.
func channelType(c plan.Choice, t *ir.Tensor, finer int) (ir.Type, string) {
	typ := ir.Type{Shape: t.Type.Shape, Format: c.Pattern.Format}
	f, open := c.Pattern.Open()
	if _, scales := format.ScaleAxis(c.Pattern.Format); scales {
		if f, open = format.OutputChannels(c.Pattern.Format); !open {
			return typ, "weights take one scale for each output channel, *[0], and no zero point"
		}
	}
	if !open {
		return typ, constantProblem(nil, typ.Format)
	}
	if f.W > affineWidth {
		f.F = calib.Frac(f, calib.Of(t.Floats), plan.MSE)
		typ.Format = f
		return typ, ""
	}
	size := len(t.Floats) / t.Type.Shape[0]
	fracs := channelFracs(f, t.Type.Shape[0], finer, func(c int, _ []float32) []float32 {
		return t.Floats[c*size : (c+1)*size]
	})
	return InSteps(typ, f, fracs), ""
}

// InSteps is typ, of constants, with the format of integers f at the given fraction bits of each index of axis 0.
func InSteps(typ ir.Type, f format.Fixed, fracs []int) ir.Type {
	same := true
	for _, v := range fracs {
		typ.Scales = append(typ.Scales, float32(math.Ldexp(1, -v)))
		same = same && v == fracs[0]
	}
	if same {
		f.F = fracs[0]
		return ir.Type{Shape: typ.Shape, Format: f}
	}
	typ.Format = format.Affine{W: f.W, Signed: f.Signed, Axis: 0, Round: f.Round, Over: f.Over}
	return typ
}

// channelFracs chooses fraction bits for each channel, whose values row returns; channels of zeros follow the coarsest
// other, and none is by more than finer bits finer than that one. row is called by several at once, each with a buffer
// of its own for the values; nil at first.
func channelFracs(f format.Fixed, channels, finer int, row func(c int, buf []float32) []float32) []int {
	fracs := make([]int, channels)
	coarsest := math.MaxInt
	zero := make([]bool, channels)
	rowsWith(channels, func(c int, buf *[]float32) {
		*buf = row(c, *buf)
		v := calib.Of(*buf)
		zero[c] = v.Min == 0 && v.Max == 0
		fracs[c] = calib.Frac(f, v, plan.MSE)
	})
	for c := range fracs {
		if !zero[c] {
			coarsest = min(coarsest, fracs[c])
		}
	}
	for c := range fracs {
		switch {
		case coarsest == math.MaxInt:
		case zero[c]:
			fracs[c] = coarsest
		default:
			fracs[c] = min(fracs[c], coarsest+finer)
		}
	}
	return fracs
}

// scaledConst encodes a constant whose format finds scales in the values: those of blocks, or of output channels.
func (q *quantizer) scaledConst(n *ir.Node, i int, t *ir.Tensor, c plan.Choice, slot string) bool {
	if b, blocks := c.Blocks(); blocks {
		q.blockConst(n, i, b, t, c, slot)
		return true
	}
	f, fitted := c.Pattern.Format.(format.Fitted)
	if fitted = fitted && n.Op.Traits.Weighted && i == 1; fitted {
		q.fittedConst(n, f, t, c, slot)
	}
	return fitted
}

// fittedConst encodes the weights of n with scales that f finds for each output channel.
func (q *quantizer) fittedConst(n *ir.Node, f format.Fitted, t *ir.Tensor, c plan.Choice, slot string) {
	channels := t.Type.Shape[0]
	size := len(t.Floats) / channels
	typ := ir.Type{Shape: t.Type.Shape, Format: f.ChannelFormat(), Scales: make([]float32, channels)}
	codes := make([]int64, len(t.Floats))
	Rows(channels, func(k int) {
		typ.Scales[k] = f.FitChannel(t.Floats[k*size:(k+1)*size], codes[k*size:(k+1)*size])
	})
	q.explain(n, slot, ir.Type{Format: f}, c.From)
	q.setConst(n, 1, typ, ir.CodeBlob(codes))
	q.grids[n.Args[1]] = f
}

// setConst gives argument i of n codes: in place where n is its only reader, else in a constant of its own.
func (q *quantizer) setConst(n *ir.Node, i int, typ ir.Type, data *ir.Blob) {
	old, readers := n.Args[i], 0
	for _, m := range q.g.Nodes {
		for _, a := range m.Args {
			if a == old {
				readers++
			}
		}
	}
	if readers > 1 || q.g.IsOutput(old) {
		c := *old
		c.Name = q.g.FreshName(old.Name)
		q.g.InsertBefore(n, &c)
		n.Args[i] = &c
	}
	n.Args[i].Type, n.Args[i].Attrs = typ, ir.Computed(data, n.Args[i])
	q.grids[n.Args[i]] = typ.Format
}

// castBehind casts the result of n for all its readers.
func (q *quantizer) castBehind(n *ir.Node, c plan.Choice) {
	t := q.cast(n, c, n, q.values[n])
	if t == n {
		return
	}
	first := t // of two casts where one by a fixed format is between
	if first.Args[0] != n {
		first = first.Args[0]
	}
	q.g.Replace(n, t)
	first.Args[0] = n
	q.users[t], q.users[n] = q.users[n], []*ir.Node{first}
}

// blockConst encodes a constant in blocks along its last axis.
func (q *quantizer) blockConst(n *ir.Node, i int, b format.Block, t *ir.Tensor, c plan.Choice, slot string) {
	b, why := laid(b, t.Type.Shape)
	if why = cmp.Or(why, block.BlockProblem(b)); why != "" {
		q.refuseFormat(n, b, slot, why, c.From, weightFormats)
		return
	}
	v := ir.EncodeFloats(ir.Type{Shape: t.Type.Shape, Format: b}, t.Floats)
	typ := v.Type
	q.explain(n, slot, typ, c.From)
	typ.Scales = ir.ScaleValues(b, v.BlockScales)
	q.setConst(n, i, typ, ir.CodeBlob(v.Codes))
}

// laid is b as a graph has it in constants of a shape: blocks along the axis before the last are tiles of one column.
// why is not empty for other axes.
func laid(b format.Block, shape []int) (as format.Block, why string) {
	last := len(shape) - 1
	switch {
	case b.Axis() < 0 || b.Axis() == last:
		return b, ""
	case b.Axis() == last-1:
		if tiles, ok := format.AsTiles(b); ok {
			return tiles, ""
		}
	}
	return b, fmt.Sprintf("blocks of weights lie along one of the last two axes of %s", ir.ShapeString(shape))
}

// constChoice is c, or where c asks for blocks and n has no use for them a fixed format of the same width, and at least
// the given one.
func (q *quantizer) constChoice(n *ir.Node, c plan.Choice, explicit bool, least int) plan.Choice {
	b, blocks := c.Blocks()
	if !blocks || n.Op.Traits.Weighted && column.TakesBlocks(n) {
		return c
	}
	if explicit {
		q.report.Warn("%s: %s takes fixed constants here, not %s", n.Name, n.Op.Name, b)
	}
	return openFormat(max(b.Width(), least), c.From+"; "+n.Op.Name+" takes fixed constants")
}

// table encodes argument 0 of n, of whose elements the result is made, in the format of the result.
func (q *quantizer) table(n *ir.Node) {
	t, err := n.Args[0].Value()
	if err != nil {
		q.fail(n, diag.ConstantNotFinite, "%v", err)
		return
	}
	if q.finite(n, n.Args[0], t.Floats) {
		typ := ir.Type{Shape: t.Type.Shape, Format: n.Type.Format}
		q.encode(n, 0, typ, t.Floats, plan.Choice{Pattern: format.Pattern{W: typ.Format.Width(), Format: format.Fixed{}}})
	}
}

// largeWeight is the number of weights from which they are encoded a row at a time, from the model to bytes, without
// copies of all of them in other types.
const largeWeight = 1 << 18

// largeWeights encodes the weights of n, if they are very many and take at most eight bits under choice c; it does
// what constants does. done is false where it does not apply, or where constants has something to complain about.
func (q *quantizer) largeWeights(n *ir.Node, c plan.Choice) (done bool) {
	w := n.Args[1]
	data := w.Attrs.(*ir.Const).Data
	if data.DType != ir.F32 || data.Len() < largeWeight || data.Len() != w.Type.Elems() || !w.Type.IsFloat() {
		return false
	}
	f, open := c.Pattern.Open()
	if ints, ok := format.OutputChannels(c.Pattern.Format); ok {
		f, open = ints, true
	}
	if _, blocks := c.Blocks(); blocks || !open || !f.Signed || f.W > 8 {
		return false
	}
	channels := w.Type.Shape[0]
	size := data.Len() / channels
	row := func(c int, buf []float32) []float32 {
		if len(buf) < size {
			buf = make([]float32, size)
		}
		data.FloatsAt(buf[:size], c*size)
		return buf[:size]
	}
	var infinite atomic.Bool
	fracs := channelFracs(f, channels, spread, func(c int, buf []float32) []float32 {
		buf = row(c, buf)
		if calib.InfiniteAt(buf) >= 0 {
			infinite.Store(true)
		}
		return buf
	})
	if infinite.Load() {
		return false
	}
	typ := InSteps(ir.Type{Shape: w.Type.Shape}, f, fracs)
	codes := make([]byte, data.Len())
	rowsWith(channels, func(c int, buf *[]float32) {
		*buf = row(c, *buf)
		g := f
		g.F = fracs[c]
		into := make([]int64, size)
		g.EncodeFloats(into, *buf)
		for i, v := range into {
			codes[c*size+i] = byte(v)
		}
	})
	q.explain(n, "weight", typ, c.From)
	q.setConst(n, 1, typ, &ir.Blob{DType: ir.I8, Bytes: codes})
	return true
}
