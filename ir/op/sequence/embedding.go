// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// Embedding is rows of a table by their numbers, which are values: table [N,D], a constant, ids [...], y [...,D]. An id
// is rounded to a whole number and moved to the nearest of 0 to N-1. Quantized, the table has the format of the result.
var Embedding = &ir.Op{
	Name: "embedding", Doc: "rows of a constant table by their numbers, which are values; arguments table, ids",
	Arity:  [2]int{2, 2},
	Traits: ir.Traits{Index: embeddingIndex, Tokens: ir.EachToken},
	Infer:  embeddingInfer,
	Bounds: embeddingBounds,
	Eval:   embeddingEval,
	HLO:    embeddingHLO,
	RTL:    embeddingRTL,
	Lanes: func(n *ir.Node) (*ir.Lanes, error) {
		return &ir.Lanes{In: lane.Counts(n.Type.Row(), "elements of a row"), Mem: true,
			Tie: func(lanes int) (in, out int) { return 1, lanes }}, nil
	},
	Legal: embeddingLegal,
	Gen:   genEmbedding,
}

func embeddingIndex(n *ir.Node, i int) int {
	if i != 1 {
		return 0
	}
	return n.Args[0].Type.Shape[0]
}

func embeddingInfer(n *ir.Node) ([]int, error) {
	table, ids := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	if len(table) != 2 || table[0] == 0 {
		return nil, fmt.Errorf("a table of shape %s has no rows", ir.ShapeString(table))
	}
	return append(append([]int{}, ids...), table[1]), nil
}

func embeddingBounds(n *ir.Node, _ []ir.Bounds) (ir.Bounds, error) {
	t, err := n.Args[0].Value()
	if err != nil {
		return ir.Bounds{}, err
	}
	b, width := column.Between(n, math.Inf(1), math.Inf(-1)), t.Type.Shape[1]
	for i := range b.Lo.Floats {
		for k := i % width; k < len(t.Floats); k += width {
			b.Lo.Floats[i], b.Hi.Floats[i] = min(b.Lo.Floats[i], t.Floats[k]), max(b.Hi.Floats[i], t.Floats[k])
		}
	}
	return b, nil
}

// idBits bounds the bits of an id.
const idBits = 30

func embeddingLegal(n *ir.Node) error {
	if !n.Args[0].IsConst() {
		return errors.New("the table of an embedding is a constant")
	}
	if !n.Type.SameFormat(n.Args[0].Type) {
		return fmt.Errorf("embedding keeps codes of its table as they are, so %s cannot become %s", n.Args[0].Type.Format,
			n.Type.Format)
	}
	if f, ok := format.AsFixed(n.Args[1].Type.Format); !ok || f.F != 0 || f.Signed || f.W > idBits {
		return fmt.Errorf("ids are unsigned integers of up to %d bits, not %s", idBits, n.Args[1].Type.Format)
	}
	return column.Plain(n)
}

func embeddingEval(n *ir.Node) (ir.Kernel, error) {
	rows, width := n.Args[0].Type.Shape[0], n.Args[0].Type.Shape[1]
	if !n.Type.IsFloat() {
		if err := embeddingLegal(n); err != nil {
			return nil, n.Errorf(diag.OpFormats, "%v", err)
		}
	}
	fill := column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for i := range walk.Size(n.Args[1].Type.Shape) {
			var id float64
			if args[1].Codes != nil {
				id = float64(args[1].Codes[i])
			} else {
				id = math.RoundToEven(float64(args[1].Floats[i]))
			}
			row := int(min(max(id, 0), float64(rows-1)))
			column.CopyRun(out, i*width, args[0], row*width, width)
		}
		return out, nil
	}, nil
}

func embeddingHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	table, err := carrier.Value(b, n, args, 0)
	if err != nil {
		return table, err
	}
	ids, err := carrier.EachSample(b, n, args, 1)
	if err != nil {
		return ids, err
	}
	if n.Args[1].Type.IsFloat() {
		last := float64(n.Args[0].Type.Shape[0] - 1)
		ids = b.RoundEven(b.Clamp(carrier.Number(b, 0), ids, carrier.Number(b, last)))
	}
	return b.TakeI(table, b.Convert(ids, hlo.I32)), b.Err()
}

// embeddingRTL keeps the table as words of a beat.
func embeddingRTL(n *ir.Node) (*rtl.Unit, error) {
	if err := embeddingLegal(n); err != nil {
		return nil, n.Errorf(diag.NoHardwareForm, "%v", err)
	}
	t, err := n.Args[0].Value()
	if err != nil {
		return nil, err
	}
	rows, width, lanes := t.Type.Shape[0], t.Type.Shape[1], n.HW.OutLanes
	bitsOf := n.Type.Format.Width()
	u := rtl.NewUnit("op_embedding", "IDS", n.Args[1].Type.Elems(), "ID_W", n.Args[1].Type.Format.Width(), "ROWS", rows,
		"BEATS", width/lanes, "WIDTH", lanes*bitsOf)
	u.With(hardware.RomStyle(n)...)
	u.Images = []rtl.Image{{Param: "IMAGE", Width: lanes * bitsOf, Make: func(im *rtl.Image) error {
		for at := 0; at < len(t.Codes); at += lanes {
			word := new(big.Int)
			for i := lanes - 1; i >= 0; i-- {
				hardware.AppendField(word, big.NewInt(t.Codes[at+i]), bitsOf)
			}
			im.Words = append(im.Words, word)
		}
		return nil
	}}}
	return u, nil
}

// genEmbedding draws tables, and ids of which some are beyond them.
func genEmbedding(r *rand.Rand, o *ir.Op) *ir.Graph {
	rows, width := draw.Between(r, 1, 9), draw.Between(r, 1, 6)
	f := draw.Fixed(r, 12)
	f.Over = format.Sat // a table holds codes that encoding returns
	t := ir.Type{Shape: []int{rows, width}, Format: f}
	table := draw.Const("table", t, draw.Codes(r, f, rows*width))
	ids := format.Fixed{W: bits.Len(uint(rows)) + draw.Between(r, 0, 1)}
	x := draw.Input("ids", ir.Type{Shape: draw.Shape(r, 1, 2), Format: ids})
	return draw.Graph(o, nil, ir.Type{Format: f}, table, x)
}
