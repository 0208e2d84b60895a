// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"testing"

	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
)

// defined writes the definition of an exact product as StableHLO, in integers only: XLA may flush subnormal floats, and
// no engine computes a float by another's formula.
type defined struct{ *hlo.Builder }

// run runs a program that ends in values and returns them.
func (d defined) run(t testing.TB, args []hlo.Array, results ...hlo.Value) [][]int64 {
	t.Helper()
	d.Return(results...)
	var out [][]int64
	for _, a := range pjrttest.Run(t, d.Builder, args...) {
		out = append(out, a.Int64s())
	}
	return out
}

func (d defined) n(v int64) hlo.Value { return d.Int(hlo.I64, v) }

// is compares with a number.
func (d defined) is(x hlo.Value, dir hlo.Dir, v int64) hlo.Value { return d.Compare(dir, x, d.n(v)) }

// bits is the length of x >= 0 in bits.
func (d defined) bits(x hlo.Value) hlo.Value { return d.Sub(d.n(64), d.CountLeadingZeros(x)) }

// blocksOf pads rows of k elements to blocks of 32, one at least, and scales of new ones are 0.
func blocksOf(q, x []byte, rows, k int) (elements, scales hlo.Array) {
	b := max((k+31)/32, 1)
	elements = hlo.Array{Type: hlo.TypeOf(hlo.I8, rows, b, 32), Data: make([]byte, rows*b*32)}
	scales = hlo.Array{Type: hlo.TypeOf(hlo.UI8, rows, b), Data: make([]byte, rows*b)}
	for r := range rows {
		copy(elements.Data[r*b*32:], q[r*k:(r+1)*k])
	}
	copy(scales.Data, x)
	return elements, scales
}

// define computes p on PJRT: the words of the result, and the scales [m][blocks] of one in MXINT8.
func defineMX(p gemm.MX, t testing.TB, xq, xs, wq, ws []byte) (words, scales []int64) {
	t.Helper()
	d := defined{hlo.New("mx")}
	x, xe := blocksOf(xq, xs, p.M, p.K)
	w, we := blocksOf(wq, ws, p.N, p.K)
	blocks := x.Type.Dims[1]
	vx, vxe, vw, vwe := d.Arg("x", x.Type), d.Arg("x scales", xe.Type), d.Arg("w", w.Type), d.Arg("w scales", we.Type)
	dot := hlo.Dot{LhsBatch: []int{1}, RhsBatch: []int{1}, LhsContract: []int{2}, RhsContract: []int{2}}
	dots := d.Convert(d.DotGeneral(vx, vw, dot, hlo.I32), hlo.I64)
	dims := []int{blocks, p.M, p.N}
	left := d.BroadcastInDim(d.Transpose(d.Convert(vxe, hlo.I64), 1, 0), dims, []int{0, 1})
	right := d.BroadcastInDim(d.Transpose(d.Convert(vwe, hlo.I64), 1, 0), dims, []int{0, 2})
	exponents := d.Add(left, right) // of two factors 2^-133 each
	nan := d.is(d.Reduce(hlo.ReduceMax, d.Max(left, right), 0), hlo.EQ, 255)
	plainBF16 := p.Wide && p.Out == word.BF16
	args := []hlo.Array{x, xe, w, we}
	if !p.Wide {
		return finish(p, t, stepped(p, t, d.run(t, args, dots, exponents, d.Convert(nan, hlo.I64))))
	}
	digits, low := int64(24), int64(-149)
	if plainBF16 {
		digits, low = 8, -133
	}
	y := d.once(dots, exponents, digits, low)
	y = d.Select(nan, d.n(map[bool]int64{true: 0x7FC0, false: 0x7FC00000}[plainBF16]), y)
	words = d.run(t, args, y)[0]
	if plainBF16 {
		return words, nil
	}
	return finish(p, t, words)
}

// stepped adds blocks one after the other. parts are their dots and exponents, [blocks][m][n] each, and which results
// are NaN.
func stepped(p gemm.MX, t testing.TB, parts [][]int64) []int64 {
	t.Helper()
	d, each := defined{hlo.New("step")}, p.M*p.N
	shape := hlo.TypeOf(hlo.I64, each)
	d.Return(d.fused(d.Arg("dot", shape), d.Sub(d.Arg("exponent", shape), d.n(266)), d.Arg("acc", shape)))
	program := d.Program()
	if program == nil {
		t.Fatal(d.Err())
	}
	step, err := pjrttest.Engine(t).Compile(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	defer step.Drop(t.Context())
	array := func(v []int64) hlo.Array { return hlo.FromInt64s(hlo.I64, []int{each}, v) }
	acc := array(make([]int64, each))
	for at := 0; at < len(parts[0]); at += each {
		out, err := step.Run(t.Context(), []hlo.Array{array(parts[0][at : at+each]), array(parts[1][at : at+each]), acc})
		if err != nil {
			t.Fatal(err)
		}
		acc = out[0]
	}
	words := acc.Int64s()
	for i, nan := range parts[2] {
		if nan != 0 {
			words[i] = 0x7FC00000
		}
	}
	return words
}

// finish makes the result of words of fp32.
func finish(p gemm.MX, t testing.TB, words []int64) (result, scales []int64) {
	t.Helper()
	d := defined{hlo.New("finish")}
	in := hlo.FromInt64s(hlo.I64, []int{p.M, p.N}, words)
	y := d.Arg("words", in.Type)
	switch p.Out {
	case gemm.MXINT8:
		q, s := d.encode(y)
		both := d.run(t, []hlo.Array{in}, q, s)
		return both[0], both[1]
	case word.BF16:
		even := d.And(d.ShiftRightLogical(y, d.n(16)), d.n(1))
		y = d.ShiftRightLogical(d.Add(y, d.Add(d.n(0x7FFF), even)), d.n(16))
		return d.run(t, []hlo.Array{in}, y)[0], nil
	}
	return words, nil
}

// once is the word of the sum over blocks of p*2^(e-266), exact in digits of 32 bits and rounded once to a float of
// `digits` bits whose least number is 2^low.
func (d defined) once(p, e hlo.Value, digits, low int64) hlo.Value {
	limb, place := d.ShiftRightLogical(e, d.n(5)), d.And(e, d.n(31))
	moved := d.ShiftLeft(p, place)
	var sum []hlo.Value
	carry := d.n(0)
	for j := range int64(17) {
		here := d.Reduce(hlo.ReduceAdd, d.Select(d.is(limb, hlo.EQ, j), moved, d.n(0)), 0)
		here = d.Add(here, carry)
		sum, carry = append(sum, d.And(here, d.n(1<<32-1))), d.ShiftRightArith(here, d.n(32))
	}
	negative := d.is(carry, hlo.LT, 0)
	length := d.n(0)
	carry = d.n(1) // of the negation
	for j, v := range sum {
		not := d.Add(d.Xor(v, d.n(1<<32-1)), carry)
		carry = d.ShiftRightLogical(not, d.n(32))
		sum[j] = d.Select(negative, d.And(not, d.n(1<<32-1)), v)
		length = d.Select(d.is(sum[j], hlo.GT, 0), d.Add(d.n(int64(32*j)), d.bits(sum[j])), length)
	}
	least := low + 266
	drop := d.Max(d.Sub(length, d.n(digits)), d.n(least))
	q, half, rest := d.n(0), d.n(0), d.n(0)
	for j, v := range sum {
		up := d.Sub(d.n(int64(32*j)), drop) // places that the digit moves
		down := d.Clamp(d.n(0), d.Neg(up), d.n(40))
		q = d.Add(q, d.ShiftRightLogical(d.ShiftLeft(v, d.Clamp(d.n(0), up, d.n(24))), down))
		lost := d.And(v, d.Sub(d.ShiftLeft(d.n(1), d.Clamp(d.n(0), d.Neg(up), d.n(32))), d.n(1)))
		at := d.Sub(d.Neg(up), d.n(1)) // of the bit of a half
		ours := d.And(d.is(at, hlo.GE, 0), d.is(at, hlo.LT, 32))
		bit := d.Select(ours, d.ShiftLeft(d.n(1), d.Clamp(d.n(0), at, d.n(31))), d.n(0))
		half = d.Or(half, d.And(lost, bit))
		rest = d.Or(rest, d.And(lost, d.Not(bit)))
	}
	up := d.And(d.is(half, hlo.NE, 0), d.Or(d.is(rest, hlo.NE, 0), d.is(d.And(q, d.n(1)), hlo.EQ, 1)))
	q = d.Add(q, d.Convert(up, hlo.I64))
	return d.word(q, d.Sub(drop, d.n(least)), negative, digits)
}

// word is the float q*2^(low+place) of so many digits, q being at most 2^digits, and below half of it only at place 0.
func (d defined) word(q, place, negative hlo.Value, digits int64) hlo.Value {
	inf := int64(255) << (digits - 1)
	v := d.Min(d.Add(q, d.ShiftLeft(d.Min(place, d.n(300)), d.n(digits-1))), d.n(inf))
	return d.Or(v, d.Select(negative, d.n((inf+1<<(digits-1))&^(1<<(digits-1)-1)), d.n(0)))
}

// fused is the word of p*2^e + acc, rounded once to fp32; acc is the word of a number or an infinity.
func (d defined) fused(p, e, acc hlo.Value) hlo.Value {
	field := d.And(d.ShiftRightLogical(acc, d.n(23)), d.n(255))
	m := d.And(acc, d.n(1<<23-1))
	m = d.Select(d.is(field, hlo.GT, 0), d.Or(m, d.n(1<<23)), m)
	a, ae := d.leading(m, d.Sub(d.Max(field, d.n(1)), d.n(150)))
	a = d.Select(d.is(d.ShiftRightLogical(acc, d.n(31)), hlo.EQ, 1), d.Neg(a), a)
	c, ce := d.leading(d.Abs(p), e)
	c = d.Mul(c, d.Sign(p))
	// The smaller one moves down to the larger one; whether anything was lost goes into its last bit. Both have 40 bits,
	// of which the last 16 are 0, so that what was lost lies far below any tie.
	first := d.Compare(hlo.GE, ae, ce)
	hi, he, lo := d.Select(first, a, c), d.Max(ae, ce), d.Select(first, c, a)
	away := d.Min(d.Sub(he, d.Min(ae, ce)), d.n(60))
	size := d.Abs(lo)
	kept := d.ShiftRightLogical(size, away)
	lost := d.Compare(hlo.NE, d.ShiftLeft(kept, away), size)
	kept = d.Mul(d.Or(kept, d.Convert(lost, hlo.I64)), d.Sign(lo))
	sum := d.Add(hi, kept)
	size = d.Abs(sum)
	drop := d.Max(d.Sub(d.bits(size), d.n(24)), d.Sub(d.n(-149), he))
	down := d.Clamp(d.n(0), drop, d.n(60))
	q := d.ShiftRightLogical(size, down)
	rest := d.Sub(size, d.ShiftLeft(q, down))
	half := d.ShiftRightLogical(d.ShiftLeft(d.n(1), down), d.n(1))
	up := d.Or(d.Compare(hlo.GT, rest, half),
		d.And(d.Compare(hlo.EQ, rest, half), d.is(d.And(q, d.n(1)), hlo.EQ, 1)))
	q = d.Add(q, d.Convert(d.And(up, d.is(down, hlo.GT, 0)), hlo.I64))
	q = d.ShiftLeft(q, d.Clamp(d.n(0), d.Neg(drop), d.n(24)))
	y := d.word(q, d.Add(d.Add(drop, he), d.n(149)), d.is(sum, hlo.LT, 0), 24)
	y = d.Select(d.is(sum, hlo.EQ, 0), d.n(0), y)
	return d.Select(d.is(field, hlo.EQ, 255), acc, y)
}

// leading moves the first bit of m, at most 24 bits long, to place 39; 0 has the least exponent.
func (d defined) leading(m, e hlo.Value) (hlo.Value, hlo.Value) {
	up := d.Sub(d.n(40), d.bits(m))
	zero := d.is(m, hlo.EQ, 0)
	return d.ShiftLeft(m, d.Select(zero, d.n(0), up)), d.Select(zero, d.n(-2000), d.Sub(e, up))
}

// encode makes MXINT8 of words of fp32 [m][n]: elements and scales [m][blocks]. The scale is the exponent field of the
// largest magnitude.
func (d defined) encode(y hlo.Value) (q, scales hlo.Value) {
	m, n := y.Type().Dims[0], y.Type().Dims[1]
	blocks := (n + 31) / 32
	y = d.Pad(y, d.n(0), []int{0, 0}, []int{0, blocks*32 - n}, []int{0, 0})
	y = d.Reshape(y, m, blocks, 32)
	magnitude := d.And(y, d.n(1<<31-1))
	scales = d.ShiftRightLogical(d.Reduce(hlo.ReduceMax, magnitude, 2), d.n(23))
	X := d.BroadcastInDim(scales, []int{m, blocks, 32}, []int{0, 1})
	field := d.ShiftRightLogical(magnitude, d.n(23))
	v := d.And(magnitude, d.n(1<<23-1))
	v = d.Select(d.is(field, hlo.GT, 0), d.Or(v, d.n(1<<23)), v)
	down := d.Clamp(d.n(1), d.Add(d.Sub(X, d.Max(field, d.n(1))), d.n(17)), d.n(40))
	half := d.ShiftLeft(d.n(1), d.Sub(down, d.n(1)))
	odd := d.And(d.ShiftRightLogical(v, down), d.n(1))
	v = d.ShiftRightLogical(d.Add(v, d.Add(d.Sub(half, d.n(1)), odd)), down)
	v = d.Min(v, d.n(127))
	v = d.Select(d.is(d.ShiftRightLogical(y, d.n(31)), hlo.EQ, 1), d.Neg(v), v)
	v = d.Select(d.is(X, hlo.EQ, 255), d.n(0), v)
	return d.Slice(d.Reshape(v, m, blocks*32), []int{0, 0}, []int{m, n}, []int{1, 1}), scales
}

// define computes p on PJRT.
func defineInt8(p gemm.Int8, t testing.TB, x, w []byte, channels []gemm.Channel) []int64 {
	t.Helper()
	d := defined{hlo.New("int8")}
	k := max(p.K, 1)
	pad := func(q []byte, rows int, dtype hlo.DType) hlo.Array {
		a := hlo.Array{Type: hlo.TypeOf(dtype, rows, k), Data: make([]byte, rows*k)}
		copy(a.Data, q) // of no columns where k is padded
		return a
	}
	of := map[bool]hlo.DType{false: hlo.I8, true: hlo.UI8}[p.Unsigned]
	args := []hlo.Array{pad(x, p.M, of), pad(w, p.N, hlo.I8)}
	vx, vw := d.Convert(d.Arg("x", args[0].Type), hlo.I32), d.Convert(d.Arg("w", args[1].Type), hlo.I32)
	y := d.DotGeneral(vx, vw, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{1}}, hlo.I32)
	if !p.Raw {
		y = requantize(p, d, d.Convert(y, hlo.I64), channels)
	}
	return d.run(t, args, y)[0]
}

// requantize is what Channel says.
func requantize(p gemm.Int8, d defined, sum hlo.Value, channels []gemm.Channel) hlo.Value {
	along := func(f func(c gemm.Channel) int64) hlo.Value {
		var all []int64
		for _, c := range channels {
			all = append(all, f(c))
		}
		return d.Along(d.Const(hlo.FromInt64s(hlo.I64, []int{p.N}, all)), []int{p.M, p.N}, 1)
	}
	v := d.ShiftLeft(sum, along(func(c gemm.Channel) int64 { return int64(c.Up) }))
	v = d.Add(v, along(func(c gemm.Channel) int64 { return c.Bias }))
	v = d.Mul(v, along(func(c gemm.Channel) int64 { return int64(c.Mul) }))
	const far = 32 // to the left of every code: what is not 0 is too large, or has no bit left
	beyond := d.is(along(func(c gemm.Channel) int64 { return int64(c.Shift) }), hlo.LT, -far)
	v = d.Select(beyond, d.Clamp(d.n(-1), v, d.n(1)), v)
	shift, bits := hlo.Shift{Axis: 1}, 63
	for _, c := range channels {
		shift.By = append(shift.By, max(c.Shift, -far))
		bits = min(bits, 62+min(shift.By[len(shift.By)-1], 0)) // those that shift left have few
	}
	v = d.Convert(d.RoundShift(v, bits, shift, uint8(p.Result.Round)), hlo.I64)
	return d.Saturate(d.Add(v, d.n(int64(p.Zero))), int32(p.Result.Over), p.Result.W, p.Result.Signed, hlo.I64)
}
