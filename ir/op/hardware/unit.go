// SPDX-License-Identifier: Apache-2.0

// Package hardware writes the units of the RTL column: parameters, words of memory images, timing.
package hardware

import (
	"fmt"
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/rtl"
)

// operandParams describe argument 0; ResultParams the rounding of values at exponent exp into the result.
func operandParams(n *ir.Node) (params []any, fx format.Fixed, err error) {
	fx, err = arith.FixedOf(n, n.Args[0].Type)
	return []any{"IN_W", fx.W, "IN_SIGNED", rtl.Flag(fx.Signed)}, fx, err
}

// ResultParams are the parameters of the one rounding of integers in steps of 2^exp into the format of n.
func ResultParams(n *ir.Node, exp int) ([]any, error) {
	fx, err := Result(n)
	return FixedParams(fx, exp), err
}

// FixedParams are those of one rounding of sums t*2^exp to codes of fx.
func FixedParams(fx format.Fixed, exp int) []any {
	return []any{"SHIFT", -fx.F - exp, "OUT_W", fx.W, "OUT_SIGNED", rtl.Flag(fx.Signed),
		"ROUND", int(fx.Round), "OVER", int(fx.Over)}
}

// NoDSP asks for products in LUTs where the plan wants n without DSPs.
func NoDSP(n *ir.Node) []any {
	if n.HW.DSP == "none" {
		return []any{"MULT", "lut"}
	}
	return nil
}

// Result is the result format of n, which has a rounding that hardware knows.
func Result(n *ir.Node) (format.Fixed, error) {
	fx, err := arith.FixedOf(n, n.Type)
	if err == nil {
		err = HardwareRound(n)
	}
	return fx, err
}

// HardwareRound refuses a result format with a rounding that hardware does not know.
func HardwareRound(n *ir.Node) error {
	if r := format.Rounding(n.Type.Format); r == format.RoundStochastic {
		return n.Errorf(diag.NoHardwareForm, "round=%s has no hardware", r)
	}
	return nil
}

// Beats is the number of beats of a tensor at the given lanes.
func Beats(t ir.Type, lanes int) int { return (t.Elems() + lanes - 1) / lanes }

// Elementwise is an instance with one beat in, one beat out, and one rounding.
func Elementwise(module string, n *ir.Node, exp int, more ...any) (*rtl.Unit, error) {
	in, _, err := operandParams(n)
	if err != nil {
		return nil, err
	}
	out, err := ResultParams(n, exp)
	if err != nil {
		return nil, err
	}
	u := rtl.NewUnit(module, "LANES", n.HW.InLanes)
	u.With(in...)
	u.With(out...)
	u.With(more...)
	return u.With("BEATS", Beats(n.Type, n.HW.InLanes)), nil
}

// ArgExp is the exponent of the step of argument 0.
func ArgExp(n *ir.Node) int {
	exp, _ := arith.Step(n.Args[0].Type)
	return exp
}

// Hex prints a sized literal of w bits in two's complement.
func Hex(v *big.Int, w int) string {
	m := new(big.Int).Lsh(big.NewInt(1), uint(w))
	return fmt.Sprintf("%d'h%x", w, new(big.Int).Mod(v, m))
}

// Wire is for operations that only rename a stream: no instance at all.
func Wire(*ir.Node) (*rtl.Unit, error) { return &rtl.Unit{}, nil }

// RomStyle is the parameter of modules with images.
func RomStyle(n *ir.Node) []any { return []any{"ROM_STYLE", MemStyle(n)} }

// MeanUnit completes an exact mean: the sum times 2^LSHIFT, divided by DIV and rounded once.
func MeanUnit(n *ir.Node, module string, params []any) (*rtl.Unit, error) {
	in, err := arith.FixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	out, err := Result(n)
	if err != nil {
		return nil, err
	}
	u := rtl.NewUnit(module, params...)
	return u.With("LANES", n.HW.InLanes, "E_W", in.W, "SIGNED", rtl.Flag(in.Signed), "LSHIFT", out.F-in.F,
		"OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round), "OVER", int(out.Over)), nil
}
