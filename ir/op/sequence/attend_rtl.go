// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/block"
	"lathe/ir/op/dot"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/norm"
	"lathe/rtl"
)

// scoresLanes: in_lanes are features of a query and of a key, out_lanes the keys that it meets at once. Those of blocks
// give no dead lanes.
func scoresLanes(n *ir.Node) (*ir.Lanes, error) {
	features := lane.Counts(n.Args[0].Type.Shape[3], "features of a head")
	if dot.PairNamesWindow(n) {
		features = lane.Counts(block.CommonLength(n.Args[0].Type.BlockLengths()), "elements of every block")
	}
	return &ir.Lanes{In: features, Mem: true, GivesDead: !dot.PairNamesWindow(n),
		Out: lane.Rows(n.Type.Shape[3], n.HW.RowOut, "keys")}, nil
}

// sumLanes: in_lanes are the keys that a row takes at once, out_lanes features of their values.
func sumLanes(n *ir.Node) (*ir.Lanes, error) {
	keys := lane.Rows(n.Args[0].Type.Shape[3], n.HW.RowIn, "keys")
	if dot.PairNamesWindow(n) {
		keys = lane.Counts(block.CommonLength(n.Args[0].Type.BlockLengths()), "elements of every block")
	}
	return &ir.Lanes{In: keys, Mem: true, TakesDead: !dot.PairNamesWindow(n),
		Out: lane.Counts(n.Type.Shape[3], "features of a head"), Second: func(_, out int) int { return out }}, nil
}

// weightsLanes are divisors of a row. A mask has no dead lanes, and comes beside the scores.
func weightsLanes(n *ir.Node) (*ir.Lanes, error) {
	plain := len(n.Args) == 1
	l := &ir.Lanes{In: lane.Rows(n.Type.Shape[3], n.HW.RowIn, "keys"), TakesDead: plain, GivesDead: plain}
	if n.HW.Tokens > 0 {
		l.Second = func(int, int) int { return 1 }
	}
	return l, nil
}

func scoresRTL(n *ir.Node) (*rtl.Unit, error) {
	if dot.PairNamesWindow(n) {
		return blockScoresRTL(n)
	}
	q, k := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	u, err := productUnit(n, "op_attend_scores")
	if err != nil {
		return nil, err
	}
	return u.With("QUERIES", q[1], "KEYS", k[1], "HEADS", q[2]*n.HW.Parts(), "GROUPS", k[2]*n.HW.Parts(), "SIZE", q[3],
		"ROW", max(k[1], n.HW.RowOut), "F", n.HW.InLanes, "R", n.HW.OutLanes), nil
}

func sumRTL(n *ir.Node) (*rtl.Unit, error) {
	if dot.PairNamesWindow(n) {
		return blockSumRTL(n)
	}
	p, v := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	u, err := productUnit(n, "op_attend_sum")
	if err != nil {
		return nil, err
	}
	return u.With("QUERIES", p[1], "KEYS", p[3], "HEADS", p[2]*n.HW.Parts(), "GROUPS", v[2]*n.HW.Parts(), "SIZE", v[3],
		"ROW", max(p[3], n.HW.RowIn), "F", n.HW.OutLanes, "R", n.HW.InLanes), nil
}

// productUnit is what both products have in common: operands, the tokens that are seen, the rounding, the memory.
func productUnit(n *ir.Node, module string) (*rtl.Unit, error) {
	plan, err := planProducts(n)
	if err != nil {
		return nil, n.Errorf(diag.NoHardwareForm, "%v", err)
	}
	if err := hardware.HardwareRound(n); err != nil {
		return nil, err
	}
	u := rtl.NewUnit(module, "A_W", plan.a.W, "A_SIGNED", rtl.Flag(plan.a.Signed), "B_W", plan.b.W,
		"B_SIGNED", rtl.Flag(plan.b.Signed))
	u.In, u.Frames = []string{"a", "b"}, n.Type.Shape[0]
	n.Attrs.(*SeenAttrs).params(u)
	ahead(n, u)
	u.With(hardware.FixedParams(plan.out, plan.exp)...)
	u.With(dot.Multipliers(n)...)
	if err := framesOf(n, u); err != nil {
		return nil, err
	}
	return u.With("STYLE", hardware.MemStyle(n)), nil
}

// causalAhead is how many tokens of the next frame a causal store takes while one is read: values lead the queries by
// what scores and softmax hold, latency / cycles of a token + 2.
const causalAhead = 8

// ahead adds how many tokens of the next frame the store of n takes while one is read. In causal order a query follows
// its own key, so few are enough; where a block of values comes at once, one more. The core of a decoder has one frame.
func ahead(n *ir.Node, u *rtl.Unit) {
	keys, lanes, tokens := n.Args[1].Type.Shape[1], n.HW.OutLanes, causalAhead
	if n.MeetsAcross() {
		lanes = n.HW.InLanes
		if blocks := n.Args[0].Type.BlockLengths(); len(blocks) > 0 {
			tokens += blocks[0]
		}
	}
	switch tokens = (tokens + lanes - 1) / lanes * lanes; {
	case n.HW.Tokens > 0: // a frame of any length begins in the half that it has
	case n.HW.Decode:
		u.With("AHEAD", 0)
	case n.Attrs.(*SeenAttrs).Causal && tokens < keys:
		u.With("AHEAD", tokens)
	}
}

// framesOf has u take frames of changing length, if n does: as many queries as keys; or tokens in parts.
func framesOf(n *ir.Node, u *rtl.Unit) error {
	if n.HW.Tokens == 0 {
		return partsOf(n, u)
	}
	q, k, a := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Attrs.(*SeenAttrs)
	if q[1] != k[1] || a.Causal && a.Offset != 0 {
		return n.Errorf(diag.FixedLength,
			"%s of %d queries and %d keys, and in frames of changing length there are as many of either",
			n.Op.Name, q[1], k[1]).WithHint("build it for frames of one length: leave lengths = \"dynamic\" out")
	}
	u.With("ENDS", 1)
	u.Ends = "b"
	return nil
}

// partsOf has the tokens of u come in parts, where layers of a decoder share it: the heads of one layer after those of
// the one before, each with keys of their own.
func partsOf(n *ir.Node, u *rtl.Unit) error {
	parts := n.HW.Parts()
	if parts == 1 {
		return nil
	}
	q, k, a := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Attrs.(*SeenAttrs)
	if !a.Causal || a.Offset != 0 || q[1] != k[1] {
		return n.Errorf(diag.NoDecoder,
			"%s sees other tokens than those up to its own, and layers of a decoder share units that "+
				"see just these", n.Op.Name).WithHint("take a causal model, or leave layers = \"loop\" of [fold] out")
	}
	u.With("PARTS", parts)
	u.Within = parts
	return nil
}

// productDSPCause: scores share an element of the query over two keys, sums a weight over two features.
func productDSPCause(n *ir.Node, how string) (lanes int, cause string, err error) {
	if how != "pack" {
		return 0, "no unit sums products of two streams in DSPs", nil
	}
	if dot.PairNamesWindow(n) {
		return 0, "every product of blocks has a DSP of its own", nil
	}
	p, err := planProducts(n)
	if err != nil {
		return 0, "", err
	}
	return 2, dot.PackWidths(n, p.a.W, p.a.Signed, p.b.W+rtl.Flag(!p.b.Signed)), nil
}

// params adds those of a unit that skips keys.
func (a *SeenAttrs) params(u *rtl.Unit) {
	if a.Causal {
		u.With("CAUSAL", 1, "OFFSET", a.Offset)
	}
}

func weightsRTL(n *ir.Node) (*rtl.Unit, error) {
	a, s := n.Attrs.(*WeightsAttrs), n.Type.Shape
	rows, err := norm.PlanRows(n, float64(a.Scale))
	if err != nil {
		return nil, n.Errorf(diag.NoHardwareForm, "%v", err)
	}
	if n.HW.Tokens > 0 {
		return framedWeights(n, rows)
	}
	heads := s[2] * n.HW.Parts()
	u := rtl.NewUnit("op_softmax", "ROWS", s[1]*heads, "N", max(s[3], n.HW.RowIn), "LANES", n.HW.InLanes)
	if n.HW.RowIn > s[3] {
		u.With("LIVE", s[3])
	}
	if u.Frames, u.Within = s[0], n.HW.Parts(); len(n.Args) > 1 {
		if mask := n.Args[1]; mask.Type.Format.Width() != 1 {
			return nil, n.Errorf(diag.NoHardwareForm, "the mask %q is %s, and hardware takes one bit a key", mask.Name,
				mask.Type.Format).
				WithHint("give it the format uint(1)")
		}
		u.Module, u.In = "op_softmax_masked", []string{"a", "b"}
	}
	if a.params(u); a.Causal {
		u.With("HEADS", heads)
	}
	return rows.Params(n, u)
}

// framedWeights is the unit for frames of changing length: the mask is a stream of ends.
func framedWeights(n *ir.Node, rows *norm.Rows) (*rtl.Unit, error) {
	s := n.Type.Shape
	u := rtl.NewUnit("op_softmax_framed", "TOKENS", s[1], "HEADS", s[2], "N", s[3], "LANES", n.HW.InLanes)
	u.In, u.Frames = []string{"a", "b"}, s[0]
	if n.Attrs.(*WeightsAttrs).Causal {
		u.With("CAUSAL", 1)
	}
	return rows.Params(n, u)
}
