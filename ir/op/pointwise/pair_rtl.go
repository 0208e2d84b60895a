// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/hardware"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// operand is one side of op_pair: codes in [lo, hi], and what becomes of them.
type operand struct {
	w      int
	signed bool
	side   pairSide
	lo, hi *big.Int
}

// ends are the operands of the least and the greatest code.
func (o operand) ends() [2]*big.Int {
	return [2]*big.Int{o.side.big(o.lo.Int64()), o.side.big(o.hi.Int64())}
}

// add is the summand: what code 0 becomes.
func (o operand) add() *big.Int { return o.side.big(0) }

// pairRTL is op_pair for two streams, op_pair_const for a stream and a constant.
func pairRTL(n *ir.Node, o pairOp) (*rtl.Unit, error) {
	p, err := planPair(n, o)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	if p.scale != nil {
		if err := p.scale.CheckHardware(n); err != nil {
			return nil, err
		}
	}
	var sides [2]operand
	for i, a := range n.Args {
		if sides[i], err = operandOf(n, a, p.sides[i]); err != nil {
			return nil, err
		}
	}
	if !n.Args[0].IsConst() && !n.Args[1].IsConst() {
		u, err := pairUnit("op_pair", n, p, sides[0], sides[1])
		if err == nil {
			u.In = []string{"a", "b"}
		}
		return u, err
	}
	at := 1 // the constant
	if n.Args[0].IsConst() {
		at = 0
	}
	var codes []int64
	turns := n.InTurns()
	for _, t := range turns {
		if a := t.Args[at]; !a.Type.SameFormat(n.Args[at].Type) {
			return nil, n.Errorf(diag.NothingToShare, "%s has a constant in %s, %s is in %s", n.Name, n.Args[at].Type.Format,
				a.Name,
				a.Type.Format)
		}
		c, err := constBeats(t, at)
		if err != nil {
			return nil, err
		}
		codes = append(codes, c...)
	}
	sides[at] = sides[at].holding(codes)
	u, err := pairUnit("op_pair_const", n, p, sides[1-at], sides[at])
	if err != nil {
		return nil, err
	}
	image := rtl.Image{Param: "CONSTS", Width: n.HW.InLanes * sides[at].w}
	for i := 0; i < len(codes); i += n.HW.InLanes {
		image.Words = append(image.Words, packLanes(codes[i:i+n.HW.InLanes], sides[at].w))
	}
	u.Images = []rtl.Image{image}
	if len(turns) > 1 {
		u.With("SETS", len(turns), "SWEEPS", n.HW.InRow())
	}
	if n.HW.Tokens > 0 && len(codes) > n.Type.OfToken() { // the constant differs from token to token
		u.With("ENDS", 1)
		u.Ends = "in"
	}
	return u.With("WORDS", len(image.Words)/len(turns), "STYLE", hardware.MemStyle(n)), nil
}

// operandOf describes argument a, which must be of the size of the result where it is a stream.
func operandOf(n, a *ir.Node, side pairSide) (operand, error) {
	f, ok := format.IntegersOf(a.Type.Format)
	if !ok {
		_, err := arith.FixedOf(n, a.Type)
		return operand{}, err
	}
	if !a.IsConst() && a.Type.Elems() != n.Type.Elems() {
		return operand{}, n.Errorf(diag.StreamBroadcast,
			"%s of shape %s broadcasts to %s, which needs a repeat in front of %s", a.Name,
			ir.ShapeString(a.Type.Shape), ir.ShapeString(n.Type.Shape), n.Op.Name)
	}
	lo, hi := f.Span()
	return operand{w: f.Codes.W, signed: f.Codes.Signed, side: side, lo: big.NewInt(lo + f.Zero),
		hi: big.NewInt(hi + f.Zero)}, nil
}

// holding narrows an operand to the given codes.
func (o operand) holding(codes []int64) operand {
	o.lo, o.hi = big.NewInt(codes[0]), big.NewInt(codes[0])
	for _, c := range codes {
		if v := big.NewInt(c); v.Cmp(o.lo) < 0 {
			o.lo = v
		} else if v.Cmp(o.hi) > 0 {
			o.hi = v
		}
	}
	o.w, o.signed = format.SignedBits(o.lo, o.hi), true
	return o
}

// constBeats lists the codes of constant argument i as the result needs them, repeated along axes that it lacks, and
// cut to the shortest run of whole beats that repeats itself.
func constBeats(n *ir.Node, i int) ([]int64, error) {
	t, err := arith.ConstArg(n, i)
	if err != nil {
		return nil, err
	}
	index := walk.BroadcastIndex(t.Type.Shape, n.Type.Shape)
	period := len(index)
	for size, axis := 1, len(n.Type.Shape)-1; axis >= 0; axis-- {
		size *= n.Type.Shape[axis]
		if size%n.HW.InLanes == 0 && index[size-1] == t.Type.Elems()-1 {
			period = size
			break
		}
	}
	codes := make([]int64, period)
	for k := range codes {
		codes[k] = t.Codes[index[k]]
	}
	return codes, nil
}

// packLanes joins codes of w bits into one word, the first in the low bits.
func packLanes(codes []int64, w int) *big.Int {
	word, mask := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(w))
	for i, c := range codes {
		v := new(big.Int).Mod(big.NewInt(c), mask)
		word.Or(word, v.Lsh(v, uint(i*w)))
	}
	return word
}

// pairUnit sizes the operands and their exact result.
func pairUnit(module string, n *ir.Node, p exactPair, a, b operand) (*rtl.Unit, error) {
	ea, eb := a.ends(), b.ends()
	pa, pb := format.SignedBits(ea[0], ea[1]), format.SignedBits(eb[0], eb[1])
	ma, mb, t := a.side.mul, b.side.mul, p.width(ea, eb)
	deep := ma*ma != 1 || mb*mb != 1
	var out []any
	if p.scale == nil {
		var err error
		if out, err = hardware.ResultParams(n, p.exp); err != nil {
			return nil, err
		}
	} else {
		s := p.scale
		out = []any{"SHIFT", s.Shift[0], "OUT_W", s.Out.W, "OUT_SIGNED", rtl.Flag(s.Out.Signed), "ROUND",
			int(s.Out.Round),
			"OVER", int(s.Out.Over), "ZERO", s.Zero}
		if s.Mul != nil {
			ma, deep = s.Mul[0], true
			t += big.NewInt(ma).BitLen()
		}
	}
	u := rtl.NewUnit(module, "LANES", n.HW.InLanes, "KIND", int(p.kind),
		"A_W", a.w, "A_SIGNED", rtl.Flag(a.signed), "B_W", b.w, "B_SIGNED", rtl.Flag(b.signed),
		"MA", ma, "SHA", a.side.shift, "PA_W", pa, "MB", mb, "SHB", b.side.shift, "PB_W", pb, "T_W", t,
		"DEEP", rtl.Flag(deep))
	u.Params = append(u.Params, rtl.Param{Name: "CA", Value: hardware.Hex(a.add(), pa)},
		rtl.Param{Name: "CB", Value: hardware.Hex(b.add(), pb)})
	if u.With(out...); p.kind == pairProduct {
		u.With(hardware.NoDSP(n)...)
	}
	u.Frames = n.TurnFrames()
	return u.With("BEATS", hardware.Beats(n.Type, n.HW.InLanes)/u.Frames), nil
}

// width is the signed bits that hold every result of operands between the given ends; each factor alone takes its
// extreme results at ends, so the corners suffice.
func (p exactPair) width(a, b [2]*big.Int) int {
	bits := 1
	for _, x := range a {
		for _, y := range b {
			v := new(big.Int)
			switch p.kind {
			case pairProduct:
				v.Mul(x, y)
			case pairSum:
				v.Add(x, y)
			default:
				bits = max(bits, format.SignedBits(x, y))
			}
			bits = max(bits, format.SignedBits(v, v))
		}
	}
	return bits
}
