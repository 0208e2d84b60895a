// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"reflect"
	"slices"
	"sync"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
	"lathe/rtl/cmvm"
	"lathe/rtl/sums"
)

// A Vector is what a unit with weights as constants takes at once: all that its rows read.
type Vector struct {
	Terms int // elements
	// Window is the library module that makes vectors of beats, without E_W and PAD; nil: a beat is one. Padded says that
	// it pads.
	Window *rtl.Unit
	Padded bool
	// Of is the element that product j of a row takes; nil: element j.
	Of func(row, j int) int
	// Each is the codes of the rows, where each has its own.
	Each *format.Each
}

// StageLevels is the logic between two registers where the plan says nothing.
const StageLevels = 4.0

// mostDigits bounds the digits of the constants of a unit: several times what fits into the largest devices.
const mostDigits = 1 << 20

// constants is the unit whose weights are wired into sums.
func (m *exactSum) constants(n *ir.Node, v *Vector) (*rtl.Unit, error) {
	if m.round.res != nil {
		if err := m.round.res.CheckHardware(n); err != nil {
			return nil, err
		}
	}
	l, err := m.layer(n, v)
	if err != nil {
		return nil, err
	}
	if v.Window != nil {
		pad, err := m.padding(n)
		if err != nil {
			return nil, err
		}
		v.Window.With("E_W", m.data.ints.W)
		v.Window.With(pad...)
	}
	if digits := cmvm.Digits(l.Problem.Matrix); digits > mostDigits {
		return nil, n.Errorf(diag.UnrollLimit, "weights of %d digits are too many to be wired into sums; %d are the most",
			digits,
			mostDigits).WithHint("fold this layer: [[fold.rule]] name = %q with style = \"fold\"", n.Name)
	}
	u, err := m.solved.unit(l)
	if err != nil {
		hint := fmt.Sprintf("fold this layer: [[fold.rule]] name = %q with style = \"fold\"", n.Name)
		if l.Problem.Levels > 0 {
			hint = "give depth in [unroll] more levels, or " + hint
		}
		return nil, n.Errorf(diag.UnrollLimit, "sums with constant weights: %v", err).WithHint("%s", hint)
	}
	own := *u // columns of ops go on with it
	if body := *u.Body; v.Window != nil && body.Steps > 0 {
		body.Vectors, own.Body = n.Type.Elems()/len(l.Casts)/n.Args[0].Type.Shape[0], &body
	}
	return &own, nil
}

// Digits counts the signed digits of the weights of n, as wiring them into sums reads them; false where they are more
// than most, or n has no sums of integers.
func Digits(n *ir.Node, most int) (digits int, ok bool) {
	if !n.Args[1].IsConst() || n.Args[1].Type.Elems() > 4*most { // hardly a layer has three zeros for each other weight
		return 0, false
	}
	c, err := CodesOf(n)
	if err != nil {
		return 0, false
	}
	digits = cmvm.Digits([][]int64{c.Weights})
	return digits, digits <= most
}

// layer is the sums of n and their casts.
func (m *exactSum) layer(n *ir.Node, v *Vector) (*sums.Layer, error) {
	c, err := m.onCodes(n)
	if err != nil {
		return nil, err
	}
	if c.Result.Round == format.RoundStochastic {
		return nil, n.Errorf(diag.NoHardwareForm, "round=%s has no hardware", c.Result.Round)
	}
	hw := n.HW.Sums
	l := &sums.Layer{InBits: m.data.ints.W, OutBits: c.Result.W, Stages: hw.Stages,
		StageLevels: cmp.Or(hw.StageLevels, StageLevels), Window: v.Window, WindowLanes: n.HW.StreamIn,
		Digits:  hw.Digits,
		Problem: cmvm.Problem{Group: 5, Levels: hw.Depth, Effort: hw.Effort}}
	if hw.LUT == 4 {
		l.Problem.Group = 1
	}
	m.vector(n, v, l)
	for o, ch := range c.Channels {
		row, cast := make([]int64, v.Terms), cast(c, o)
		if v.Each != nil {
			cast.Shift, cast.Bits, cast.Low = cast.Shift+v.Each.Drop[o], v.Each.Bits[o], v.Each.Drop[o]
		}
		bias := new(big.Int).Mul(big.NewInt(ch.Bias), big.NewInt(ch.Mul))
		if !bias.IsInt64() {
			return nil, n.Errorf(diag.UnrollLimit, "sums with constant weights: a bias of %d bits, 63 are the most",
				bias.BitLen()+1).
				WithHint("fold this layer: [[fold.rule]] name = %q with style = \"fold\"", n.Name)
		}
		for j, w := range c.Weights[o*c.In : (o+1)*c.In] {
			if v.Of != nil {
				j = v.Of(o, j)
			}
			if row[j] = w << ch.Up; l.InLow != nil {
				row[j] <<= l.InLow[j]
			}
		}
		if cast.Bits == 0 { // nothing of it is read
			clear(row)
			bias.SetInt64(0)
		}
		l.Problem.Matrix = append(l.Problem.Matrix, row)
		l.Problem.Scale = append(l.Problem.Scale, ch.Mul)
		l.Problem.Bias = append(l.Problem.Bias, bias.Int64())
		l.Casts = append(l.Casts, cast)
	}
	return l, nil
}

// vector says which codes the elements of the vectors have that l takes.
func (m *exactSum) vector(n *ir.Node, v *Vector, l *sums.Layer) {
	in, low := rangesOf(n), lowOf(n)
	for j := range v.Terms {
		r := in[j%len(in)]
		if v.Padded {
			r = cmvm.Range{Lo: min(r.Lo, m.data.zero), Hi: max(r.Hi, m.data.zero)}
		}
		if low != nil {
			bits := low[j%len(low)]
			l.InLow = append(l.InLow, bits)
			r = cmvm.Range{Lo: r.Lo >> bits, Hi: r.Hi >> bits}
		}
		l.Problem.Inputs = append(l.Problem.Inputs, r)
	}
}

// solved keeps the units of a sum, which take long to find.
type solved struct {
	mu    sync.Mutex
	units []*solution
}

type solution struct {
	of   sums.Layer // as it was asked for
	once sync.Once
	unit *rtl.Unit
	err  error
}

// unit solves l, once for all that are the same.
func (s *solved) unit(l *sums.Layer) (*rtl.Unit, error) {
	s.mu.Lock()
	at := slices.IndexFunc(s.units, func(k *solution) bool { return reflect.DeepEqual(&k.of, l) })
	if at < 0 {
		at = len(s.units)
		s.units = append(s.units, &solution{of: *l})
	}
	known := s.units[at]
	s.mu.Unlock()
	known.once.Do(func() {
		own := known.of
		if known.err = own.Solve(); known.err == nil {
			known.unit, known.err = own.Unit()
		}
	})
	return known.unit, known.err
}

// rangesOf are the ranges of the codes that n takes, over and over in the order of a beat; one for all where no more is
// known.
func rangesOf(n *ir.Node) []cmvm.Range {
	r := codesIn(n.Args[0])
	if last := len(n.Args[0].Type.Shape) - 1; !byLast(n) || len(r) != n.Args[0].Type.Shape[last] {
		return []cmvm.Range{union(r)}
	}
	return r
}

// lowOf is, over and over in the order of a beat that n takes, how many of the lowest bits of codes are always 0; nil
// where that is not known.
func lowOf(n *ir.Node) []int {
	x := n.Args[0]
	for x.Op.Each == nil {
		if !keepsChannels(x) {
			return nil
		}
		x = x.Args[0]
	}
	if x.HW.Unit != "" {
		return nil
	}
	e, err := x.Op.Each(x)
	if last := len(n.Args[0].Type.Shape) - 1; err != nil || !byLast(n) || len(e.Drop) != n.Args[0].Type.Shape[last] {
		return nil
	}
	return e.Drop
}

// keepsChannels says that the elements of each channel of x are some of that channel of its first argument, and come
// from a unit that is its own.
func keepsChannels(x *ir.Node) bool {
	t := x.Op.Traits
	return t.KeepsCodes && (t.Elementwise || t.Windows) && t.Ring == ir.NoRing && x.HW.Unit == ""
}

// byLast says that n sums along the last axis of its argument, and gives its rows along the last axis of the result.
func byLast(n *ir.Node) bool {
	last := n.LastOf()
	return len(n.Args[1].Type.Shape) == 2 && last == nil || last != nil && *last
}

// codesIn are the ranges of the codes of x along its last axis, or one for all.
func codesIn(x *ir.Node) []cmvm.Range {
	switch t := x.Op.Traits; {
	case t.Ring != ir.NoRing || x.HW.Unit != "":
	case keepsChannels(x):
		return codesIn(x.Args[0])
	case t.KeepsCodes:
		return []cmvm.Range{union(codesIn(x.Args[0]))}
	case x.Op.Each != nil:
		if r := codesEach(x); r != nil {
			return r
		}
	case t.Weighted && byLast(x) && x.Args[1].IsConst() && !KindsOf(x).Window():
		if r := codesOut(x); r != nil {
			return r
		}
	}
	codes, _ := format.IntegersOf(x.Type.Format)
	all := codes.Codes
	if fx, ok := format.AsFixed(x.Type.Format); ok {
		all = fx
	}
	all = format.Fixed{W: all.W, Signed: all.Signed} // inputs have also codes to which nothing is cast
	return []cmvm.Range{{Lo: all.Min(), Hi: all.Max()}}
}

// codesEach are the ranges of channels with codes of their own.
func codesEach(x *ir.Node) []cmvm.Range {
	e, err := x.Op.Each(x)
	if err != nil {
		return nil
	}
	out := make([]cmvm.Range, len(e.Bits))
	for c := range out {
		lo, hi := e.Limits(c)
		out[c] = cmvm.Range{Lo: lo << e.Drop[c], Hi: hi << e.Drop[c]}
	}
	return out
}

// codesOut are the ranges of the codes of the rows of a sum; nil where they are not known.
func codesOut(x *ir.Node) []cmvm.Range {
	m, err := keptExact(x)
	if err != nil || m.turns > 1 || m.codesAt != nil {
		return nil
	}
	c, err := m.onCodes(x)
	if err != nil {
		return nil
	}
	in, out := rangesOf(x), make([]cmvm.Range, c.Out)
	weights, shape := x.Args[1].Type.Shape, x.Args[0].Type.Shape
	row, all := weights[len(weights)-1], shape[len(shape)-1] // channels that a row reads, and all
	for o, ch := range c.Channels {
		first := o / (c.Out * row / all) * row // of its group of channels
		var sum cmvm.Range
		for j, w := range c.Weights[o*c.In : (o+1)*c.In] {
			r := in[(first+j%row)%len(in)]
			if len(weights) > 2 {
				r = union([]cmvm.Range{r, {Lo: m.data.zero, Hi: m.data.zero}}) // padding
			}
			ends := cmvm.Range{Lo: w * r.Lo, Hi: w * r.Hi}
			sum.Lo, sum.Hi = sum.Lo+min(ends.Lo, ends.Hi), sum.Hi+max(ends.Lo, ends.Hi)
		}
		if m.tBits+bits.Len64(uint64(ch.Mul)) > 62-max(-ch.Shift, 0) {
			return nil
		}
		left := max(-ch.Shift, 0)
		sum.Lo, sum.Hi = (sum.Lo<<ch.Up+ch.Bias)*ch.Mul<<left, (sum.Hi<<ch.Up+ch.Bias)*ch.Mul<<left
		rounded, err := cast(c, o).Of(sum)
		if err != nil {
			return nil
		}
		out[o] = rounded.Codes(sum)
	}
	return out
}

// cast is what makes codes of the sums of row o.
func cast(c *Codes, o int) sums.Cast {
	r := c.Result
	return sums.Cast{Shift: c.Channels[o].Shift, Zero: int(c.Zero), Bits: r.W, Signed: r.Signed, Round: int(r.Round),
		Over: int(r.Over)}
}

func union(all []cmvm.Range) cmvm.Range {
	r := all[0]
	for _, x := range all {
		r = cmvm.Range{Lo: min(r.Lo, x.Lo), Hi: max(r.Hi, x.Hi)}
	}
	return r
}
