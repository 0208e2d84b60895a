// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
	"lathe/rtl/cmvm"
	"lathe/rtl/sums"
)

// QuantEachAttrs say into which codes a model quantizes each channel of a value.
type QuantEachAttrs struct {
	// Axis is that of the channels, the same in argument and result.
	Axis int
	// Format is the text of the fixed format of the result, which holds all codes of all channels.
	Format string
	// Bits is, for each channel, the width of its codes, 0 for a channel that is always 0; Drop is how many of the lowest
	// bits of Format they lack.
	Bits, Drop []int
}

// QuantEach is the quantization of a model that gives channels widths and steps of their own: channel c is rounded once
// to Bits[c] bits in steps of 2^Drop[c] steps of Format, and saturates there.
var QuantEach = &ir.Op{
	Name: "quant_each", Doc: "x, each channel rounded to codes of its own width and step", Attrs: QuantEachAttrs{},
	Arity: [2]int{1, 1},
	Traits: ir.Traits{Axis: func(attrs any) *int { return &attrs.(*QuantEachAttrs).Axis }, PerChannel: true,
		Monotone: true},
	Infer: func(n *ir.Node) ([]int, error) {
		a := n.Attrs.(*QuantEachAttrs)
		x := n.Args[0].Type.Shape
		if a.Axis < 0 || a.Axis >= len(x) || x[a.Axis] != len(a.Bits) || len(a.Bits) != len(a.Drop) {
			return nil, fmt.Errorf("%d widths and %d steps do not fit axis %d of %s", len(a.Bits), len(a.Drop), a.Axis,
				ir.ShapeString(x))
		}
		return slices.Clone(x), nil
	},
	Eval:   quantEachEval,
	Bounds: quantEachBounds,
	Exact: func(n *ir.Node) (format.Format, error) {
		e, err := eachOf(n)
		if err != nil {
			return nil, err
		}
		return e.All, nil
	},
	Each:  eachOf,
	HLO:   quantEachHLO,
	RTL:   quantEachRTL,
	Legal: quantEachLegal,
	Gen:   genQuantEach,
}

// eachOf reads the attributes of a quant_each node. Errors are those of attributes that contradict each other.
func eachOf(n *ir.Node) (*format.Each, error) { return n.Attrs.(*QuantEachAttrs).Each(n) }

// Each is the codes of the channels of n, whose attributes these are.
func (a *QuantEachAttrs) Each(n *ir.Node) (*format.Each, error) {
	f, err := format.Parse(a.Format)
	if err != nil {
		return nil, n.Errorf(diag.NoLanes, "%v", err)
	}
	all, ok := format.AsFixed(f)
	if !ok {
		return nil, n.Errorf(diag.NoLanes, "%s needs a fixed format, not %s", n.Op.Name, f)
	}
	e := &format.Each{All: all, Bits: a.Bits, Drop: a.Drop}
	if err := e.Check(); err != nil {
		return nil, n.Errorf(diag.NoLanes, "%v", err)
	}
	return e, nil
}

// WithWidths are the attributes of a quant_each node with other widths and steps of its channels.
func WithWidths(attrs any, bits, drop []int) any {
	a := *attrs.(*QuantEachAttrs)
	a.Bits, a.Drop = bits, drop
	return &a
}

// eachChannel says in which channel each element lies.
func eachChannel(n *ir.Node) func(i int) int {
	axis := n.Attrs.(*QuantEachAttrs).Axis
	inner, count := walk.Size(n.Type.Shape[axis+1:]), n.Type.Shape[axis]
	return func(i int) int { return i / inner % count }
}

func quantEachEval(n *ir.Node) (ir.Kernel, error) {
	e, err := eachOf(n)
	if err != nil {
		return nil, err
	}
	at := eachChannel(n)
	if n.Type.IsFloat() {
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			y := ir.NewTensor(n.Type)
			for i, v := range args[0].Floats {
				y.Floats[i] = e.All.Decode(e.Code(at(i), format.FromFloat32(v))).Float32()
			}
			return y, nil
		}, nil
	}
	in := n.Args[0].Type.Format
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		for i, q := range args[0].Codes {
			y.Codes[i] = e.Code(at(i), in.Decode(q))
		}
		return y, nil
	}, nil
}

func quantEachBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	return column.Extremes(n, []*ir.Tensor{args[0].Lo}, []*ir.Tensor{args[0].Hi})
}

// quantEachLegal: fixed values become codes of the format of the attributes, channels last.
func quantEachLegal(n *ir.Node) error {
	e, err := eachOf(n)
	if err != nil {
		return err
	}
	in, err := arith.FixedOf(n, n.Args[0].Type)
	if err != nil {
		return err
	}
	if by := e.Places(-in.F); in.W+slices.Max(by)-slices.Min(by) > mostAligned {
		return fmt.Errorf("channels of %s have one step in %d bits; %d are the most", in, in.W+slices.Max(by)-slices.Min(by),
			mostAligned)
	}
	if !format.SameType(n.Type.Format, e.All) {
		return fmt.Errorf("the codes are those of %s, not of %s", e.All, n.Type.Format)
	}
	if a := n.Attrs.(*QuantEachAttrs).Axis; a != len(n.Type.Shape)-1 {
		return fmt.Errorf("channels must be the last axis, not axis %d of %s", a, ir.ShapeString(n.Type.Shape))
	}
	return nil
}

// mostAligned bounds the bits of arguments whose channels are brought to one step.
const mostAligned = 61

func quantEachHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	e, err := eachOf(n)
	if err != nil {
		return hlo.Value{}, err
	}
	x, axis := args[0], b.Axis(n.Attrs.(*QuantEachAttrs).Axis)
	dims := x.Type().Dims
	if n.Type.IsFloat() {
		return eachFloatHLO(b, e, x, axis), b.Err()
	}
	exp, bits, err := carrier.ArgStep(n)
	if err != nil {
		return hlo.Value{}, err
	}
	by := e.Places(exp)
	if need := bits + max(0, -slices.Min(by)) + 1; need > 63 {
		return hlo.Value{}, n.Errorf(diag.IntegerWidth, "%s needs %d bits, StableHLO integers have 64", n.Op.Name, need)
	}
	v := b.RoundShift(carrier.Wide(b, x), bits, hlo.Shift{By: by, Axis: axis}, uint8(e.All.Round))
	v = carrier.Wide(b, v)
	along := func(of func(c int) int64) hlo.Value {
		list := make([]int64, len(e.Bits))
		for c := range list {
			list[c] = of(c)
		}
		return b.Along(b.Const(hlo.FromInt64s(hlo.I64, []int{len(list)}, list)), dims, axis)
	}
	v = b.Max(v, along(func(c int) int64 { lo, _ := e.Limits(c); return lo }))
	v = b.Min(v, along(func(c int) int64 { _, hi := e.Limits(c); return hi }))
	v = b.ShiftLeft(v, along(func(c int) int64 { return int64(e.Drop[c]) }))
	return b.Convert(v, carrier.DType(n.Type)), b.Err()
}

// eachFloatHLO is the meaning in float32: quotients by powers of two, and products with them, are exact.
func eachFloatHLO(b *hlo.Builder, e *format.Each, x hlo.Value, axis int) hlo.Value {
	along := func(of func(c int) float32) hlo.Value {
		list := make([]float32, len(e.Bits))
		for c := range list {
			list[c] = of(c)
		}
		return b.Along(b.Const(hlo.FromFloat32s([]int{len(list)}, list)), x.Type().Dims, axis)
	}
	step := along(func(c int) float32 { return format.FromInt(1, e.Drop[c]-e.All.F).Float32() })
	v := roundFloat(b, b.Div(x, step), e.All.Round)
	v = b.Max(v, along(func(c int) float32 { lo, _ := e.Limits(c); return float32(lo) }))
	v = b.Min(v, along(func(c int) float32 { _, hi := e.Limits(c); return float32(hi) }))
	return b.Mul(v, step)
}

// quantEachRTL aligns all channels so that one shift rounds them. A word of its memory has for each lane, from bit 0
// on, the places of that, the bits that are put back below, and the limits.
func quantEachRTL(n *ir.Node) (*rtl.Unit, error) {
	e, err := eachOf(n)
	if err != nil {
		return nil, err
	}
	if err := hardware.HardwareRound(n); err != nil {
		return nil, err
	}
	lanes, channels := n.HW.InLanes, len(e.Bits)
	if bad := lane.CheckDivisor(n, "lanes", lanes, channels, "channels"); bad != nil {
		return nil, bad
	}
	fx, err := arith.FixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	by := e.Places(-fx.F)
	if lanes == channels {
		return eachWired(n, e, fx, by)
	}
	shift := slices.Max(by)
	most := shift - slices.Min(by)
	up := bits.Len(uint(most))
	down := bits.Len(uint(slices.Max(e.Drop)))
	limit := e.All.W + 1
	image := rtl.Image{Param: "CHANNELS", Width: lanes * (up + down + 2*limit)}
	for f := 0; f < channels; f += lanes {
		word := new(big.Int)
		for c := f + lanes - 1; c >= f; c-- {
			lo, hi := e.Limits(c)
			hardware.AppendField(word, big.NewInt(hi), limit)
			hardware.AppendField(word, big.NewInt(lo), limit)
			hardware.AppendField(word, big.NewInt(int64(e.Drop[c])), down)
			hardware.AppendField(word, big.NewInt(int64(shift-by[c])), up)
		}
		image.Words = append(image.Words, word)
	}
	u := rtl.NewUnit("op_quant_each", "C", channels, "LANES", lanes, "IN_W", fx.W, "IN_SIGNED", rtl.Flag(fx.Signed),
		"UP_W", up, "UP", most, "DROP_W", down, "SHIFT", shift, "OUT_W", e.All.W,
		"ROUND", int(e.All.Round), "BEATS", hardware.Beats(n.Type, lanes))
	u.Images = []rtl.Image{image}
	return u, nil
}

// eachWired is the unit of all channels at once, each with wires and limits of its own: sums of one term.
func eachWired(n *ir.Node, e *format.Each, in format.Fixed, by []int) (*rtl.Unit, error) {
	all := format.Fixed{W: in.W, Signed: in.Signed} // inputs have also codes to which nothing is cast
	l := &sums.Layer{InBits: in.W, OutBits: e.All.W, Stages: n.HW.Sums.Stages,
		StageLevels: cmp.Or(n.HW.Sums.StageLevels, dot.StageLevels), Problem: cmvm.Problem{Group: 1}}
	for c, w := range e.Bits {
		row := make([]int64, len(e.Bits))
		row[c] = int64(rtl.Flag(w > 0))
		l.Problem.Inputs = append(l.Problem.Inputs, cmvm.Range{Lo: all.Min(), Hi: all.Max()})
		l.Problem.Matrix = append(l.Problem.Matrix, row)
		l.Casts = append(l.Casts, sums.Cast{Shift: by[c], Bits: w, Low: e.Drop[c], Signed: e.All.Signed,
			Round: int(e.All.Round), Over: int(e.All.Over)})
	}
	if err := l.Solve(); err != nil {
		return nil, n.Errorf(diag.UnrollLimit, "%s of all channels at once: %v", n.Op.Name, err)
	}
	u, err := l.Unit()
	if err == nil {
		u.Frames = n.Type.Elems() / len(e.Bits)
	}
	return u, err
}

// genQuantEach draws channels of all widths, none among them.
func genQuantEach(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: draw.Fixed(r, 20)})
	in, _ := format.AsFixed(x.Type.Format)
	a := DrawEach(r, in, x.Type.Shape)
	all, _ := format.Parse(a.Format)
	return draw.Graph(o, a, ir.Type{Format: all}, x)
}

// DrawEach draws codes for the channels of values of a format, along the last axis.
func DrawEach(r *rand.Rand, in format.Fixed, shape []int) *QuantEachAttrs {
	last := len(shape) - 1
	all := draw.Fixed(r, 12)
	if all.Over = format.Sat; all.W > 1 && draw.Chance(r, 50) {
		all.Over = format.Sym
	}
	all.F = all.W - in.W + in.F + draw.Between(r, -2, 3) // of about the same range
	a := &QuantEachAttrs{Axis: last, Format: all.String()}
	for range shape[last] {
		w := draw.Between(r, 0, all.W)
		if w == 1 && all.Over == format.Sym { // which has the code 0 alone
			w = 2
		}
		a.Bits, a.Drop = append(a.Bits, w), append(a.Drop, draw.Between(r, 0, all.W-w))
	}
	return a
}
