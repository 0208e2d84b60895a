// SPDX-License-Identifier: Apache-2.0

// Package arith is the arithmetic of formats: exact integers of values, one rounding into a result format, factors
// that are not powers of two.
package arith

import (
	"fmt"
	"math"
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// Encoder returns the one rounding from the integer v, meaning v*2^exp, into format f.
func Encoder(f format.Format, exp int) func(v int64) int64 {
	if fx, ok := format.AsFixed(f); ok {
		return func(v int64) int64 { return fx.Requant(v, exp) }
	}
	return func(v int64) int64 { return f.Encode(format.FromInt(v, exp)) }
}

// Range is the least and the greatest lattice integer over all codes of f, which has a lattice. It counts codes
// that Encode never returns, since they may still arrive from outside.
func Range(f format.Format) (lo, hi *big.Int) {
	exp, _, _ := f.Lattice()
	least, most := f.CodeSet().Limits()
	l, _ := least.Int64(exp)
	h, _ := most.Int64(exp)
	return big.NewInt(l), big.NewInt(h)
}

// Magnitude is the width of a two's complement number that holds every lattice integer of f; formats without a lattice
// give 64.
func Magnitude(f format.Format) int {
	if _, _, ok := f.Lattice(); !ok {
		return 64
	}
	return format.SignedBits(Range(f))
}

// Step is the exponent of the lattice of f; formats without one have no step (ok false).
func Step(t ir.Type) (int, bool) {
	exp, _, ok := t.Format.Lattice()
	return exp, ok
}

// CommonStep is the exponent of the lattice of argument 0 of n, which must have one.
func CommonStep(n *ir.Node) (int, error) {
	exp, ok := Step(n.Args[0].Type)
	if !ok {
		return 0, n.Errorf(diag.OpFormats, "%s has no common step, which %s needs", n.Args[0].Type.Format, n.Op.Name)
	}
	return exp, nil
}

// OneStep refuses arguments whose values have no common step, whatever the scalar format.
func OneStep(n *ir.Node) error {
	for _, a := range n.Args {
		if _, ok := Step(a.Type); !ok && !a.IsConst() {
			return fmt.Errorf("%s has no common step of 63 bits, which %s needs", a.Type.Format, n.Op.Name)
		}
	}
	if _, scales := format.ScaleAxis(n.Type.Format); scales || n.Type.InBlocks() {
		return fmt.Errorf("%s makes values of one scale, not %s", n.Op.Name, n.Type.Format)
	}
	return nil
}

// FixedOf returns the fixed format of t, or an error that says which engines are left.
func FixedOf(n *ir.Node, t ir.Type) (format.Fixed, error) {
	if fx, ok := format.AsFixed(t.Format); ok {
		return fx, nil
	}
	return format.Fixed{}, n.Errorf(diag.ReferenceOnly, "%s in %s has a meaning in the reference engine only", n.Op.Name,
		t.Format).
		WithHint("use fixed, ufixed, int or uint for the other engines")
}

// Significand splits a finite float32 into sig*2^exp with sig odd (or 0) and |sig| < 2^24.
func Significand(x float32) (sig int64, exp int) {
	if x == 0 {
		return 0, 0
	}
	frac, e := math.Frexp(float64(x))
	sig, exp = int64(frac*(1<<24)), e-24
	for sig&1 == 0 {
		sig, exp = sig>>1, exp+1
	}
	return sig, exp
}

// Total is the exact sum of the listed elements at exponent exp; bits holds any of them, sign included.
func Total(x []int64, in []int, exp, bits int) format.Exact {
	if bits+BitLen(len(in)) > 63 {
		sum := new(big.Int)
		for _, i := range in {
			sum.Add(sum, big.NewInt(x[i]))
		}
		return format.FromBig(sum, exp)
	}
	var sum int64
	for _, i := range in {
		sum += x[i]
	}
	return format.FromInt(sum, exp)
}

// BitLen is the number of bits of n.
func BitLen(n int) int { return big.NewInt(int64(n)).BitLen() }

// SignedBits is the width of the shortest two's complement number that holds v.
func SignedBits(v *big.Int) int { return format.SignedBits(v, v) }

// TwoTo is 2^exp.
func TwoTo(exp int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(exp, -exp)))
	if exp < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// TableBits bounds the argument width of a table: 2^16 entries.
const TableBits = 16

// Words are the words of a memory image.
func Words(v []int64) []*big.Int {
	words := make([]*big.Int, len(v))
	for i, c := range v {
		words[i] = big.NewInt(c)
	}
	return words
}

// IsFixed says that codes of f are integers times a power of two, which adders and shifters compute on directly.
func IsFixed(f format.Format) bool { return format.IsFixed(f) }
