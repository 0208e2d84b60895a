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
	fx, err := fixedOf(n, n.Type)
	if err == nil && fx.Round > format.RoundOutward {
		err = n.Errorf("L0311", "round=%s has no hardware", fx.Round)
	}
	return []any{"SHIFT", -fx.F - exp, "OUT_W", fx.W, "OUT_SIGNED", flag(fx.Signed),
		"ROUND", int(fx.Round), "OVER", int(fx.Over)}, err
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

func reluRTL(n *ir.Node) (*rtl.Unit, error) { return elementwise("op_relu", n, argExp(n)) }

func castRTL(n *ir.Node) (*rtl.Unit, error) { return elementwise("op_cast", n, argExp(n)) }

func leakyRTL(n *ir.Node) (*rtl.Unit, error) {
	sig, aexp := significand(n.Attrs.(*LeakyAttrs).Alpha)
	return elementwise("op_leaky_relu", n, argExp(n), "ALPHA_SIG", sig, "ALPHA_EXP", aexp)
}

func clipRTL(n *ir.Node) (*rtl.Unit, error) {
	in, err := fixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	out, err := fixedOf(n, n.Type)
	if err != nil {
		return nil, err
	}
	c := clipOf(n, argExp(n))
	// Thresholds outside of the argument's range never act; one step beyond the range says that in the argument's width.
	xlo := min(max(c.xlo, in.Min()), in.Max())
	xhi := max(min(c.xhi, in.Max()), in.Min())
	if c.xlo > in.Max() || c.xhi < in.Min() {
		return constantRTL(n, c, in)
	}
	u, err := elementwise("op_clip", n, argExp(n))
	if err != nil {
		return nil, err
	}
	for _, p := range []struct {
		name string
		v    int64
		w    int
	}{{"XLO", xlo, in.W}, {"XHI", xhi, in.W}, {"CODE_LO", c.codeLo, out.W}, {"CODE_HI", c.codeHi, out.W}} {
		u.Params = append(u.Params, rtl.Param{Name: p.name, Value: hexLiteral(big.NewInt(p.v), p.w)})
	}
	return u, nil
}

// constantRTL is a clip whose result does not depend on the argument: every code lies beyond one bound.
func constantRTL(n *ir.Node, c clipBounds, in format.Fixed) (*rtl.Unit, error) {
	code := c.codeLo
	if c.xhi < in.Min() {
		code = c.codeHi
	}
	return tableUnit(n, func() ([]int64, error) {
		table := make([]int64, 1<<min(in.W, tableBits))
		for i := range table {
			table[i] = code
		}
		return table, nil
	})
}

// hexLiteral prints a sized literal of w bits in two's complement.
func hexLiteral(v *big.Int, w int) string {
	m := new(big.Int).Lsh(big.NewInt(1), uint(w))
	return fmt.Sprintf("%d'h%x", w, new(big.Int).Mod(v, m))
}

func tableRTL(codes func(n *ir.Node) ([]int64, error)) func(n *ir.Node) (*rtl.Unit, error) {
	return func(n *ir.Node) (*rtl.Unit, error) {
		return tableUnit(n, func() ([]int64, error) { return codes(n) })
	}
}

func tableUnit(n *ir.Node, codes func() ([]int64, error)) (*rtl.Unit, error) {
	in, err := fixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	out, err := fixedOf(n, n.Type)
	if err != nil {
		return nil, err
	}
	if in.W > tableBits {
		return nil, n.Errorf("L0308", "a table takes arguments of up to %d bits, not %d", tableBits, in.W)
	}
	table, err := codes()
	if err != nil {
		return nil, err
	}
	u := unit("op_table", "LANES", n.HW.InLanes, "IN_W", in.W, "OUT_W", out.W,
		"BEATS", frameBeats(n.Type, n.HW.InLanes))
	u.Images = []rtl.Image{{Param: "IMAGE", Width: out.W, Words: bigWords(table)}}
	return u, nil
}

func bigWords(v []int64) []*big.Int {
	words := make([]*big.Int, len(v))
	for i, c := range v {
		words[i] = big.NewInt(c)
	}
	return words
}

// wireRTL is for operations that only rename a stream: no instance at all.
func wireRTL(*ir.Node) (*rtl.Unit, error) { return &rtl.Unit{}, nil }
