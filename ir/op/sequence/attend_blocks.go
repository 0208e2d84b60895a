// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
	"lathe/ir/op/dot"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// Products of attention over blocks. Queries and keys are blocks along the features of a head; weights are blocks along
// the keys, and values, which are fixed, become blocks of as many tokens of one feature. Blocks are those of the whole
// frame, of which a token sees a part: weights that it does not see count as 0.

// planBlocks is the plan of a product whose argument 0 is in blocks.
func planBlocks(n *ir.Node) (*dot.Pair, error) {
	for _, a := range n.Args {
		if a.IsConst() {
			return nil, n.Errorf(diag.OpFormats, "%s multiplies two values, and %q is a constant", n.Op.Name, a.Name)
		}
	}
	return dot.PlanPair(n)
}

// line is number i of the lines of t, of so many elements each.
func line(t *ir.Tensor, i int) dot.Input {
	row, blocks := t.Type.Row(), len(t.Type.BlockLengths())
	return dot.Input{Ints: t.Codes[i*row : (i+1)*row], Fields: t.BlockScales[i*blocks : (i+1)*blocks]}
}

func blockScoresEval(n *ir.Node) (ir.Kernel, error) {
	p, err := planBlocks(n)
	if err != nil {
		return nil, err
	}
	q, k, a := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Attrs.(*SeenAttrs)
	share := q[2] / k[2]
	return each(n, func(args []*ir.Tensor, y []int64, b, t, h int) {
		query := line(args[0], (b*q[1]+t)*q[2]+h)
		for s := range y {
			if a.sees(t, s) {
				y[s] = p.Sum(query, line(args[1], (b*k[1]+s)*k[2]+h/share))
			}
		}
	}), nil
}

func blockSumEval(n *ir.Node) (ir.Kernel, error) {
	p, err := planBlocks(n)
	if err != nil {
		return nil, err
	}
	w, v, a := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Attrs.(*SeenAttrs)
	share := w[2] / v[2]
	kernel := func(values *ir.Tensor) ir.Kernel {
		return each(n, func(args []*ir.Tensor, y []int64, b, t, h int) {
			weights := line(args[0], (b*w[1]+t)*w[2]+h)
			if a.Causal {
				weights.Ints = append([]int64(nil), weights.Ints...)
				for s := range weights.Ints {
					if !a.sees(t, s) {
						weights.Ints[s] = 0
					}
				}
			}
			for e := range y {
				y[e] = p.Sum(weights, line(values, (b*v[2]+h/share)*v[3]+e))
			}
		})
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		return kernel(tokensInBlocks(p.Encoding(), args[1]))(args)
	}, nil
}

// tokensInBlocks is v [B,S,G,E], fixed, as [B,G,E,S] in blocks of f along the tokens.
func tokensInBlocks(f format.Block, v *ir.Tensor) *ir.Tensor {
	s := v.Type.Shape
	exp, _ := arith.Step(v.Type)
	out := ir.NewTensor(ir.Type{Shape: []int{s[0], s[2], s[3], s[1]}, Format: f})
	lines := s[2] * s[3] // of a batch
	turned := make([]int64, len(v.Codes))
	workers.Ranges(s[0]*lines, 1+1024/max(1, s[1]), func(from, to int) {
		for i := from; i < to; i++ {
			for t := range s[1] {
				turned[i*s[1]+t] = v.Codes[(i/lines*s[1]+t)*lines+i%lines]
			}
		}
	})
	out.EachBlock(func(block, from, to int) {
		out.BlockScales[block] = f.EncodeInts(turned[from:to], exp, out.Codes[from:to])
	})
	return out
}

// printBlocks prints sums over blocks of x [B,T,H,?], and of y: keys in blocks [B,S,G,?], or values [B,?,G,E], which it
// encodes. The result has the shape of n.
func printBlocks(b *hlo.Builder, n *ir.Node, x, y hlo.Value) (hlo.Value, error) {
	p, err := planBlocks(n)
	if err != nil {
		return hlo.Value{}, err
	}
	s, groups := n.Args[0].Type.Shape, n.Args[1].Type.Shape[2]
	turn := func(v hlo.Value, perm ...int) hlo.Value { return b.Transpose(v, sampled(b, perm...)...) }
	rows := func(v hlo.Value, size int) hlo.Value { // [B,G,T,H/G,size]
		return turn(b.Reshape(v, b.Dims(s[0], s[1], groups, s[2]/groups, size)...), 0, 2, 1, 3, 4)
	}
	x = rows(x, s[3]).WithScale(rows(x.Scale(), len(p.Lengths)))
	if n.MeetsAcross() {
		fx, _ := format.AsFixed(n.Args[1].Type.Format)
		y = p.Encoding().(format.Codec).EncodeHLO(b, turn(y, 0, 2, 3, 1), fx)
	} else {
		y = turn(y, 0, 2, 1, 3).WithScale(turn(y.Scale(), 0, 2, 1, 3))
	}
	v := p.Print(b, x, y) // [B,G,T,H/G,?]
	return b.Reshape(turn(v, 0, 2, 1, 3, 4), b.Dims(n.Type.Shape...)...), b.Err()
}

// blockScoresRTL is mx_attend_scores.
func blockScoresRTL(n *ir.Node) (*rtl.Unit, error) {
	if _, err := planBlocks(n); err != nil {
		return nil, err
	}
	q, k := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	u := rtl.NewUnit("mx_attend_scores", "QUERIES", q[1], "KEYS", k[1], "HEADS", q[2]*n.HW.Parts(), "GROUPS",
		k[2]*n.HW.Parts(), "SIZE", q[3], "ROW", k[1], "F", n.HW.InLanes, "R", n.HW.OutLanes)
	b, _ := n.Args[1].Type.BlockFormat()
	if err := framesOf(n, u); err != nil {
		return nil, err
	}
	return blockUnit(n, u.With("B_W", b.Width(), "BS_W", b.ScaleWidth()))
}

// blockSumRTL is mx_attend_sum.
func blockSumRTL(n *ir.Node) (*rtl.Unit, error) {
	if _, err := planBlocks(n); err != nil {
		return nil, err
	}
	if n.HW.Tokens > 0 {
		return nil, n.Errorf(diag.FixedLength,
			"blocks of values span tokens, and frames of changing length end within a block").
			WithHint("give it fixed values: data_in = \"fixed(16)\" in a rule for attend_sum")
	}
	p, v := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	b, _ := n.Args[0].Type.BlockFormat()
	fx, err := arith.FixedOf(n, n.Args[1].Type)
	if err != nil {
		return nil, err
	}
	if e := b.(format.Codec).EncodeRTL(fx, format.Stream{Lanes: 1, Beats: 1, Row: 1, Rows: 1}); e.Module != "mx_encode" {
		return nil, n.Errorf(diag.NoHardwareForm, "blocks along tokens are those of %s in hardware, not of %s",
			format.MXInt8, b)
	}
	u := rtl.NewUnit("mx_attend_sum", "QUERIES", p[1], "KEYS", p[3], "HEADS", p[2], "GROUPS", v[2], "SIZE", v[3],
		"F", n.HW.OutLanes, "R", n.HW.InLanes)
	u.With("V_W", fx.W, "V_SIGNED", rtl.Flag(fx.Signed), "V_EXP", -fx.F, "B_W", b.Width(), "BS_W", b.ScaleWidth(),
		"BIAS", -b.ScaleExp(0), "ROUND", int(format.Rounding(b)))
	return blockUnit(n, u)
}

// blockUnit adds what both products over blocks have in common: the blocks of argument 0, the tokens that are seen, the
// window, the memory.
func blockUnit(n *ir.Node, u *rtl.Unit) (*rtl.Unit, error) {
	p, err := planBlocks(n)
	if err != nil {
		return nil, err
	}
	if e := block.CheckLanes(n, "in_lanes", n.HW.InLanes, n.Args[0].Type); e != nil {
		return nil, e
	}
	b, _ := n.Args[0].Type.BlockFormat()
	u.With("K", p.Lengths[0], "A_W", b.Width(), "AS_W", b.ScaleWidth())
	u.In, u.Frames = []string{"a", "b"}, n.Type.Shape[0]
	if a := n.Attrs.(*SeenAttrs); a.Causal {
		u.With("CAUSAL", 1, "OFFSET_KEYS", a.Offset)
	}
	ahead(n, u)
	u.With(p.Params(n)...)
	if n.HW.DSP == "none" {
		u.With("MULT", "lut")
	}
	return u.With("STYLE", hardware.MemStyle(n)), nil
}
