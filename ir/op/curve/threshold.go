// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// ThresholdAttrs holds the code of an element that reaches no threshold, as a number.
type ThresholdAttrs struct {
	Low int
}

// Threshold counts thresholds: row c of argument 1, a constant in steps of argument 0, has those of channel c, the last
// axis. It exists only in scheduled graphs, where it takes the place of what rounds a sum to few codes.
var Threshold = &ir.Op{
	Name: "threshold", Doc: "the code low + number of thresholds of its channel that x reaches", Attrs: ThresholdAttrs{},
	Arity: [2]int{2, 2},
	Infer: thresholdShape,
	Eval:  thresholdEval,
	HLO:   thresholdHLO,
	RTL:   thresholdRTL,
	Lanes: func(n *ir.Node) (*ir.Lanes, error) {
		return &ir.Lanes{In: lane.Counts(n.Args[1].Type.Shape[0], "channels")}, nil
	},
	Legal: func(n *ir.Node) error {
		_, err := thresholdsOf(n)
		return err
	},
	Gen: genThreshold,
}

func thresholdShape(n *ir.Node) ([]int, error) {
	x, t := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	if len(x) == 0 || len(t) != 2 || t[0] != x[len(x)-1] || t[1] < 1 {
		return nil, fmt.Errorf("thresholds of %s do not fit %s", ir.ShapeString(t), ir.ShapeString(x))
	}
	return slices.Clone(x), nil
}

// maxSumW bounds what thresholds are compared with, maxThresholdW the codes of results.
const maxSumW, maxThresholdW = 63, 16

// thresholds are those of all channels, count of each.
type thresholds struct {
	at    []int64
	count int
	code  func(reached int) int64
}

func thresholdsOf(n *ir.Node) (*thresholds, error) {
	x, err := arith.FixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	t, err := arith.ConstArg(n, 1)
	if err != nil {
		return nil, err
	}
	if f, ok := format.AsFixed(n.Args[1].Type.Format); !ok || f.F != x.F || !f.Signed {
		return nil, n.Errorf(diag.OpFormats, "thresholds are signed fixed values with the step of %s, not %s",
			n.Args[0].Type.Format, n.Args[1].Type.Format)
	}
	_, blocks := n.Type.Format.(format.Block)
	if blocks || format.ScalesBeside(n.Type.Format) || n.Type.Format.Width() > maxThresholdW || x.W > maxSumW {
		return nil, n.Errorf(diag.OpFormats,
			"thresholds lead from at most %d bits to codes of at most %d bits without scales "+
				"beside them, not from %s to %s", maxSumW, maxThresholdW, n.Args[0].Type.Format, n.Type.Format)
	}
	raw, low := format.Raw(n.Type.Format), int64(n.Attrs.(*ThresholdAttrs).Low)
	s := &thresholds{at: t.Codes, count: n.Args[1].Type.Shape[1]}
	if least, span := raw.Min(), int64(1)<<raw.W; low < least-span/2 || low+int64(s.count) > raw.Max() {
		return nil, n.Errorf(diag.OpFormats, "%d thresholds give codes beyond %s", s.count, n.Type.Format)
	}
	s.code = func(reached int) int64 {
		code := low + int64(reached)
		if code < 0 && !raw.Signed { // two's complement in a format whose codes are no numbers
			code += 1 << raw.W
		}
		return code
	}
	return s, nil
}

// floatThresholds counts in a float graph.
func floatThresholds(n *ir.Node) (ir.Kernel, error) {
	t, err := arith.ConstArg(n, 1)
	if err != nil {
		return nil, err
	}
	count := n.Args[1].Type.Shape[1]
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		for i, x := range args[0].Floats {
			row := i * count % len(t.Floats)
			y.Floats[i] = float32(n.Attrs.(*ThresholdAttrs).Low)
			for _, at := range t.Floats[row : row+count] {
				if x >= at {
					y.Floats[i]++
				}
			}
		}
		return y, nil
	}, nil
}

func thresholdEval(n *ir.Node) (ir.Kernel, error) {
	if n.Type.IsFloat() {
		return floatThresholds(n)
	}
	s, err := thresholdsOf(n)
	if err != nil {
		return nil, err
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		for i, x := range args[0].Codes {
			row, reached := i*s.count%len(s.at), 0
			for _, at := range s.at[row : row+s.count] {
				if at <= x {
					reached++
				}
			}
			y.Codes[i] = s.code(reached)
		}
		return y, nil
	}, nil
}

func thresholdHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	x, err := carrier.EachSample(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	t, err := carrier.Value(b, n, args, 1)
	if err != nil {
		return hlo.Value{}, err
	}
	if !n.Type.IsFloat() {
		x, t = carrier.Wide(b, x), carrier.Wide(b, t)
	}
	dims, shape := x.Type().Dims, n.Args[1].Type.Shape
	reached := b.Splat(b.Convert(x, hlo.I32), 0)
	for k := range shape[1] {
		at := b.Reshape(b.SliceAxis(t, 1, k, k+1), shape[0])
		one := b.Compare(hlo.GE, x, b.Along(at, dims, len(dims)-1))
		reached = b.Add(reached, b.Convert(one, hlo.I32))
	}
	if n.Type.IsFloat() {
		y := b.Convert(reached, x.Type().DType)
		return b.Add(y, b.Splat(y, int64(n.Attrs.(*ThresholdAttrs).Low))), b.Err()
	}
	s, err := thresholdsOf(n)
	if err != nil {
		return hlo.Value{}, err
	}
	codes := make([]int64, s.count+1)
	for k := range codes {
		codes[k] = s.code(k)
	}
	table := b.Weight(hlo.FromInt64s(carrier.DType(n.Type), []int{len(codes)}, codes))
	return b.TakeI(table, reached), b.Err()
}

func thresholdRTL(n *ir.Node) (*rtl.Unit, error) {
	s, err := thresholdsOf(n)
	if err != nil {
		return nil, err
	}
	lanes, channels := n.HW.InLanes, len(s.at)/s.count
	if e := lane.CheckDivisor(n, "lanes", lanes, channels, "channels"); e != nil {
		return nil, e
	}
	x, err := arith.FixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	w := format.SignedBits(big.NewInt(slices.Min(s.at)), big.NewInt(slices.Max(s.at)))
	u := rtl.NewUnit("op_threshold", "C", channels, "LANES", lanes, "N", s.count, "IN_W", x.W, "IN_SIGNED",
		rtl.Flag(x.Signed), "T_W", w, "OUT_W", n.Type.Format.Width(), "LOW", n.Attrs.(*ThresholdAttrs).Low, "BEATS",
		hardware.Beats(n.Type, lanes), "ROM_STYLE", hardware.MemStyle(n))
	words := lanes * s.count
	u.Images = []rtl.Image{{Param: "IMAGE", Width: words * w, Make: func(im *rtl.Image) error {
		for from := 0; from < len(s.at); from += words {
			word := new(big.Int)
			for _, at := range slices.Backward(s.at[from : from+words]) {
				hardware.AppendField(word, big.NewInt(at), w)
			}
			im.Words = append(im.Words, word)
		}
		return nil
	}}}
	return u, nil
}

// genThreshold draws thresholds in and beyond the range of the data.
func genThreshold(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Fixed(r, 12)
	x.Round, x.Over = format.RoundEven, format.Sat
	shape := draw.Shape(r, 1, 3)
	out := format.Fixed{W: draw.Between(r, 1, 4), Signed: draw.Chance(r, 50), F: draw.Between(r, -2, 4)}
	count := draw.Between(r, 1, 1<<out.W-1)
	low := out.Min() + int64(r.IntN(1<<out.W-count))
	t := format.Fixed{W: x.W + 2, F: x.F, Signed: true}
	at := make([]int64, shape[len(shape)-1]*count)
	for i := range at {
		at[i] = int64(draw.Between(r, int(t.Min()), int(t.Max())))
	}
	for c := 0; c < len(at); c += count {
		slices.Sort(at[c : c+count])
	}
	return draw.Graph(o, &ThresholdAttrs{Low: int(low)}, ir.Type{Format: out},
		draw.Input("x", ir.Type{Shape: shape, Format: x}),
		draw.Const("t", ir.Type{Shape: []int{len(at) / count, count}, Format: t}, at))
}
