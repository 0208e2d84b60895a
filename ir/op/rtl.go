// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
)

// unit makes an instance; pairs are parameter names and int or string values.
func unit(module string, pairs ...any) *rtl.Unit {
	u := &rtl.Unit{Module: module}
	for i := 0; i+1 < len(pairs); i += 2 {
		value := fmt.Sprint(pairs[i+1])
		if s, ok := pairs[i+1].(string); ok {
			value = `"` + s + `"`
		}
		u.Params = append(u.Params, rtl.Param{Name: pairs[i].(string), Value: value})
	}
	return u
}

// with appends parameters to a unit.
func with(u *rtl.Unit, pairs ...any) *rtl.Unit {
	u.Params = append(u.Params, unit("", pairs...).Params...)
	return u
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// operandParams describe argument 0; resultParams the rounding of values at exponent exp into the result.
func operandParams(n *ir.Node) (params []any, fx format.Fixed, err error) {
	fx, err = fixedOf(n, n.Args[0].Type)
	return []any{"IN_W", fx.W, "IN_SIGNED", flag(fx.Signed)}, fx, err
}

func resultParams(n *ir.Node, exp int) ([]any, error) {
	fx, err := hardwareResult(n)
	return []any{"SHIFT", -fx.F - exp, "OUT_W", fx.W, "OUT_SIGNED", flag(fx.Signed),
		"ROUND", int(fx.Round), "OVER", int(fx.Over)}, err
}

// hardwareResult is the result format of n, which has a rounding that hardware knows.
func hardwareResult(n *ir.Node) (format.Fixed, error) {
	fx, err := fixedOf(n, n.Type)
	if err == nil {
		err = hardwareRound(n)
	}
	return fx, err
}

// hardwareRound refuses a result format with a rounding that hardware does not know.
func hardwareRound(n *ir.Node) error {
	if r := format.Rounding(n.Type.Format); r > format.RoundOutward {
		return n.Errorf("L0311", "round=%s has no hardware", r)
	}
	return nil
}

// frameBeats is the number of beats of a tensor at the given lanes.
func frameBeats(t ir.Type, lanes int) int { return (t.Elems() + lanes - 1) / lanes }

// elementwise is an instance with one beat in, one beat out, and one rounding.
func elementwise(module string, n *ir.Node, exp int, more ...any) (*rtl.Unit, error) {
	in, _, err := operandParams(n)
	if err != nil {
		return nil, err
	}
	out, err := resultParams(n, exp)
	if err != nil {
		return nil, err
	}
	u := unit(module, "LANES", n.HW.InLanes)
	with(u, in...)
	with(u, out...)
	with(u, more...)
	return with(u, "BEATS", frameBeats(n.Type, n.HW.InLanes)), nil
}

func argExp(n *ir.Node) int {
	exp, _ := step(n.Args[0].Type)
	return exp
}

func reluRTL(n *ir.Node) (*rtl.Unit, error) {
	if n.Type.InBlocks() {
		return blockReluRTL(n)
	}
	return elementwise("op_relu", n, argExp(n))
}

func leakyRTL(n *ir.Node) (*rtl.Unit, error) {
	sig, aexp := significand(n.Attrs.(*LeakyAttrs).Alpha)
	return elementwise("op_leaky_relu", n, argExp(n), "ALPHA_SIG", sig, "ALPHA_EXP", aexp)
}

func clipRTL(n *ir.Node) (*rtl.Unit, error) {
	in, err := fixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	u, err := elementwise("op_clip", n, argExp(n))
	if err != nil {
		return nil, err
	}
	clipOf(n, argExp(n)).within(latticeRange(in)).params(u, in.W, n.Type.Format.Width())
	return u, nil
}

// codesClip is op_clip on codes as they are: those between the bounds of c stay what they are.
func codesClip(n *ir.Node, in, out format.Fixed, c clipBounds) *rtl.Unit {
	u := unit("op_clip", "LANES", n.HW.InLanes, "IN_W", in.W, "IN_SIGNED", flag(in.Signed), "SHIFT", 0,
		"OUT_W", out.W, "OUT_SIGNED", flag(out.Signed), "ROUND", 0, "OVER", 0)
	c.params(u, in.W, out.W)
	return with(u, "BEATS", frameBeats(n.Type, n.HW.InLanes))
}

// params adds the thresholds for arguments of in bits and codes of out bits.
func (c clipBounds) params(u *rtl.Unit, in, out int) {
	for _, p := range []struct {
		name string
		v    int64
		w    int
	}{{"XLO", c.xlo, in}, {"XHI", c.xhi, in}, {"CODE_LO", c.codeLo, out}, {"CODE_HI", c.codeHi, out}} {
		u.Params = append(u.Params, rtl.Param{Name: p.name, Value: hexLiteral(big.NewInt(p.v), p.w)})
	}
}

// within brings the thresholds into the range of the argument, which holds two numbers at least. Where all of it lies
// beyond one bound, both codes become that bound's and between them the thresholds leave no argument over.
func (c clipBounds) within(least, most *big.Int) clipBounds {
	lo, hi := least.Int64(), most.Int64()
	switch {
	case c.xhi < lo:
		return clipBounds{xlo: lo + 1, xhi: lo, codeLo: c.codeHi, codeHi: c.codeHi}
	case c.xlo > hi:
		return clipBounds{xlo: lo + 1, xhi: lo, codeLo: c.codeLo, codeHi: c.codeLo}
	}
	c.xlo, c.xhi = max(c.xlo, lo), min(c.xhi, hi)
	return c
}

// hexLiteral prints a sized literal of w bits in two's complement.
func hexLiteral(v *big.Int, w int) string {
	m := new(big.Int).Lsh(big.NewInt(1), uint(w))
	return fmt.Sprintf("%d'h%x", w, new(big.Int).Mod(v, m))
}

// wireRTL is for operations that only rename a stream: no instance at all.
func wireRTL(*ir.Node) (*rtl.Unit, error) { return &rtl.Unit{}, nil }

// romStyle is the parameter of modules with images.
func romStyle(n *ir.Node) []any { return []any{"ROM_STYLE", memStyle(n)} }

func memStyle(n *ir.Node) string {
	if n.HW.Mem == "" {
		return "auto"
	}
	return n.HW.Mem
}
