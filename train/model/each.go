// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/pointwise"
)

// mostPlaces bounds the places that codes lose on the right.
const mostPlaces = 64

// Each is a value whose channels, along its last axis, have codes of widths of their own.
type Each struct {
	// Node names the node that rounds the value, Pos is its place in the source model.
	Node, Pos string
	// Bits are the bits of the codes of each channel that has lost none on the right, in steps of Step; 0 for a channel
	// that is always 0. Start is how many it loses when training begins.
	Bits  []int
	Start []float32
	Step  float64

	all format.Fixed
	at  int // in the graph
}

// findEach finds the values whose channels have widths of their own, and the parameters that multiply them.
func (m *Model) findEach() error {
	found := map[*ir.Node]int{}
	for at, n := range m.graph.Nodes {
		if n.Op.Each == nil || n.Type.IsFloat() {
			continue
		}
		codes, err := n.Op.Each(n)
		if err != nil {
			return err
		}
		e := Each{Node: n.Name, Pos: n.Pos, Step: math.Ldexp(1, -codes.All.F), all: codes.All, at: at}
		for c, w := range codes.Bits {
			drop := 0
			if w > 0 {
				drop = codes.Drop[c]
			}
			e.Bits, e.Start = append(e.Bits, w+drop), append(e.Start, float32(drop))
		}
		found[n] = len(m.Each)
		m.Each = append(m.Each, e)
		if w := n.Args[0].Type.Format.Width(); w > 24 {
			m.Approximate = append(m.Approximate, n.Name)
		}
	}
	for _, s := range m.slots {
		p := &m.Params[s.param]
		if !p.Weighted || s.arg != 1 {
			continue
		}
		e, ok := found[rounds(m.graph.Nodes[s.node].Args[0])]
		if !ok {
			continue
		}
		for _, axis := range []int{p.Contracted, 0} { // depthwise kernels have their channels along axis 0
			if !p.Narrow && p.Shape[axis]%len(m.Each[e].Bits) == 0 {
				p.Narrow, p.Reads, p.Along = true, e, axis
			}
		}
	}
	return nil
}

// rounds is the node that rounded v, whose channels v has in their order, again and again.
func rounds(v *ir.Node) *ir.Node {
	for v.Op.Each == nil && KeepsChannels(v) {
		v = v.Args[0]
	}
	return v
}

// KeepsChannels says that v, a node with channels last, is made of elements of its argument, whose channels it has
// along its last axis in their order, once or several times.
func KeepsChannels(v *ir.Node) bool {
	t := v.Op.Traits
	if !t.KeepsCodes || len(v.Args) != 1 || !t.Wire && !t.Windows || v.Type.InBlocks() {
		return false
	}
	last := func(s []int) int {
		if len(s) == 0 {
			return 0
		}
		return s[len(s)-1]
	}
	from, to := last(v.Args[0].Type.Shape), last(v.Type.Shape)
	return from > 0 && to > 0 && to%from == 0
}

// narrow prints x, f32, rounded to codes that have lost places on the right, a number for each channel: the gradient of
// x is 0 beyond the codes, and a place more moves a value by ln 2 times what rounding has taken off.
func (p *Forward) narrow(e *Each, x, places hlo.Value) hlo.Value {
	b, dims := p.b, x.Type().Dims
	num := func(v float64) hlo.Value { return b.Float(hlo.F32, v) }
	along := func(v hlo.Value) hlo.Value { return b.Along(v, dims, len(dims)-1) }
	places = b.Max(places, num(0))
	whole := b.Min(b.RoundEven(places), num(mostPlaces))
	left := b.Max(b.Sub(e.bits(b), whole), num(0))
	step := b.Mul(Power(b, whole), num(e.Step))
	code := e.all.Round.HLO(b, b.Div(x, along(step)))
	lo, hi := e.limits(b, left)
	value := b.Mul(b.Clamp(along(lo), code, along(hi)), along(step))
	lo, hi = e.limits(b, e.bits(b))
	inside := b.Clamp(along(b.Mul(lo, num(e.Step))), x, along(b.Mul(hi, num(e.Step))))
	slope := b.Mul(num(-math.Ln2), b.Sub(inside, value))
	slope = b.Through(slope, b.Splat(slope, 0))
	return b.Through(value, b.Add(inside, b.Mul(slope, along(places))))
}

// bits are Bits, in f32.
func (e *Each) bits(b *hlo.Builder) hlo.Value {
	list := make([]float32, len(e.Bits))
	for c, w := range e.Bits {
		list[c] = float32(w)
	}
	return b.Const(hlo.FromFloat32s([]int{len(list)}, list))
}

// limits are the least and the greatest integer of so many bits, whole numbers from 0 on, in f32.
func (e *Each) limits(b *hlo.Builder, bits hlo.Value) (lo, hi hlo.Value) {
	num := func(v float64) hlo.Value { return b.Float(hlo.F32, v) }
	size, zero := Power(b, bits), b.Splat(bits, 0)
	if !e.all.Signed {
		hi = b.Sub(size, num(1))
		if e.all.Over == format.Sym {
			hi = b.Max(b.Sub(size, num(2)), zero)
		}
		return zero, hi
	}
	some := b.Compare(hlo.GT, bits, zero)
	half := b.Mul(size, num(0.5))
	hi = b.Select(some, b.Sub(half, num(1)), zero)
	if lo = b.Select(some, b.Neg(half), zero); e.all.Over == format.Sym {
		lo = b.Neg(hi)
	}
	return lo, hi
}

// Width prints the bits of each channel that has lost places, with the gradient of the places also where a channel has
// no bit, but would have one with one place less.
func (e *Each) Width(b *hlo.Builder, places hlo.Value) hlo.Value {
	return Bits(b, b.Sub(e.bits(b), b.Max(places, b.Float(hlo.F32, 0))))
}

// Bits prints widths, 0 where they are less, with a gradient down to Beyond bits less than none: the loss goes through
// codes that are 0, and would bring all of them back, so that what it weighs must be there, too.
func Bits(b *hlo.Builder, width hlo.Value) hlo.Value {
	return b.Through(b.Max(width, b.Float(hlo.F32, 0)), b.Max(width, b.Float(hlo.F32, -Beyond)))
}

// Beyond is by how many bits less than none codes are priced.
const Beyond = 1

// Power is 2^e for whole numbers e from 0 to 64, in f32.
func Power(b *hlo.Builder, e hlo.Value) hlo.Value {
	bits := b.Add(b.Convert(e, hlo.I32), b.Int(hlo.I32, 127))
	return b.Bitcast(b.ShiftLeft(bits, b.Int(hlo.I32, 23)), hlo.F32)
}

// Places is the whole number of places that codes lose, where training has come to v.
func Places(v float32) int {
	return int(math.RoundToEven(math.Min(math.Max(float64(v), 0), mostPlaces)))
}

// ship gives n, a copy of the node, the widths that are left where channels have lost places.
func (e *Each) ship(n *ir.Node, places []float32) {
	left, drop := make([]int, len(e.Bits)), make([]int, len(e.Bits))
	for c, bits := range e.Bits {
		if d := Places(places[c]); d < bits {
			left[c], drop[c] = bits-d, d
		}
	}
	n.Attrs = pointwise.WithWidths(n.Attrs, left, drop)
}
