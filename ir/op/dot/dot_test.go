// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
)

// drawSum is a linear node of random operands: data of each kind by weights of each kind that goes with it.
func drawSum(r *rand.Rand, data, weights operandKind) *ir.Node {
	out, in := draw.Between(r, 1, 6), draw.Between(r, 1, 40)
	k := []int{2, 4, 8, 32}[r.IntN(4)]
	blocks := format.NewMXInt(draw.Between(r, 2, 8), k)
	x := ir.Type{Shape: []int{3, in}, Format: drawKind(r, data, blocks)}
	if data == stepped && weights == blocked { // the unit takes signed data
		x.Format = format.Fixed{W: draw.Between(r, 2, 8), F: draw.Between(r, -3, 9), Signed: true}
	}
	w := drawWeights(r, weights, blocks, out, in)
	args := []*ir.Node{draw.Input("x", x), w}
	if draw.Chance(r, 80) {
		f := format.Fixed{W: draw.Between(r, 2, 12), F: draw.Between(r, 0, 14), Signed: true}
		args = append(args, draw.Const("b", ir.Type{Shape: []int{out}, Format: f}, draw.Codes(r, f, out)))
	}
	n := &ir.Node{Name: "y", Op: &ir.Op{Name: "linear", Traits: ir.Traits{Weighted: true, Blocks: column.SumsInBlocks}},
		Args: args, Type: ir.Type{Shape: []int{3, out}}}
	n.HW = ir.HW{Widths: ir.Widths{InLanes: 1, OutLanes: 1, Rows: 1, StreamIn: 1}}
	switch {
	case data == blocked || weights == blocked:
		n.Type.Format = format.Fixed{W: draw.Between(r, 6, 40), F: draw.Between(r, -2, 24), Signed: true,
			Round: format.RoundFloor}
	case data == scaled || weights == scaled:
		f := draw.AffineResult(r, draw.Between(r, -1, 6))
		f.Over = []format.Over{format.Sat, format.Sym}[r.IntN(2)] // results between two bounds have an order
		if n.Type.Format = f; draw.Chance(r, 30) {
			n.Type.Format = format.Fixed{W: draw.Between(r, 2, 14), F: draw.Between(r, -3, 5), Signed: true, Round: f.Round}
		}
	default:
		n.Type.Format = draw.Fixed(r, 14)
	}
	return n
}

// drawKind draws a format of data.
func drawKind(r *rand.Rand, kind operandKind, blocks format.Format) format.Format {
	switch kind {
	case blocked:
		return blocks
	case scaled:
		return draw.Affine(r, 9)
	}
	return draw.Fixed(r, 12)
}

// drawWeights draws constants: fixed or with a power of two a channel, with real scales, or in blocks.
func drawWeights(r *rand.Rand, kind operandKind, blocks format.Block, out, in int) *ir.Node {
	t := ir.Type{Shape: []int{out, in}, Format: blocks}
	switch kind {
	case blocked:
		codes := draw.Codes(r, blocks.Element(), out*in)
		for range t.Blocks() {
			t.Scales = append(t.Scales, float32(math.Ldexp(1, draw.Between(r, -6, 6))))
		}
		return draw.Const("w", t, codes)
	case scaled:
		a := format.Affine{W: draw.Between(r, 2, 8), Signed: true, Zero: int64(draw.Between(r, -2, 2))}
		t.Format, t.Scales = a, draw.GenScales(r, out, draw.Between(r, -6, 0))
	case stepped:
		if t.Format = draw.Fixed(r, 9); draw.Chance(r, 50) {
			t.Format = format.Affine{W: draw.Between(r, 2, 9), Signed: true, Zero: int64(draw.Between(r, 0, 3))}
			for range out {
				t.Scales = append(t.Scales, float32(math.Ldexp(1, draw.Between(r, -6, 2))))
			}
		}
	}
	return draw.GenWeights(r, t)
}

// rats are the exact values of t, as formats define them.
func rats(t *ir.Tensor) []*big.Rat {
	out := make([]*big.Rat, len(t.Codes))
	if b, blocks := t.Type.BlockFormat(); blocks {
		t.EachBlock(func(block, from, to int) {
			scale := b.ScaleValue(t.BlockScales[block]).Rat()
			for i := from; i < to; i++ {
				out[i] = new(big.Rat).Mul(b.Element().Decode(t.Codes[i]).Rat(), scale)
			}
		})
		return out
	}
	row := len(t.Codes) / max(len(t.Type.Scales), 1)
	for i, q := range t.Codes {
		out[i] = t.Type.Format.Decode(q).Rat()
		if t.Type.Scales != nil {
			out[i].Mul(out[i], format.FromFloat32(t.Type.Scales[i/row]).Rat())
		}
	}
	return out
}

// rounded is v as an integer, by the definition of the modes.
func rounded(v *big.Rat, mode format.Round) *big.Int {
	one := big.NewInt(1)
	low, rest := new(big.Int).DivMod(v.Num(), v.Denom(), new(big.Int))
	if rest.Sign() == 0 {
		return low
	}
	high := new(big.Int).Add(low, one)
	half := rest.Lsh(rest, 1).Cmp(v.Denom())
	away, zero := high, low
	if v.Sign() < 0 {
		away, zero = low, high
	}
	tie := map[format.Round]*big.Int{format.RoundAway: away, format.RoundUp: high, format.RoundDown: low,
		format.RoundHalfZero: zero}[mode]
	directed := map[format.Round]*big.Int{format.RoundFloor: low, format.RoundCeil: high, format.RoundZero: zero,
		format.RoundOutward: away}[mode]
	switch {
	case directed != nil:
		return directed
	case half < 0:
		return low
	case half > 0:
		return high
	case tie != nil:
		return tie
	case low.Bit(0) == 0:
		return low
	}
	return high
}

// entered is integer v under the overflow rule of f.
func entered(v *big.Int, f format.Fixed) int64 {
	lo, hi := big.NewInt(f.Min()), big.NewInt(f.Max())
	switch {
	case f.Over == format.Wrap:
		span := new(big.Int).Lsh(big.NewInt(1), uint(f.W))
		d := new(big.Int).Mod(new(big.Int).Sub(v, lo), span)
		return d.Add(d, lo).Int64()
	case v.Cmp(lo) < 0:
		return f.Min()
	case v.Cmp(hi) > 0:
		return f.Max()
	}
	return v.Int64()
}

// slowSum is a row of the sum in fractions: exact, or floored and saturated block by block in steps of a window.
func slowSum(n *ir.Node, x, w []*big.Rat, bias *big.Rat) *big.Rat {
	window := KindsOf(n).Window()
	lengths := []int{len(w)}
	for _, a := range n.Args[:2] {
		if _, blocks := a.Type.BlockFormat(); blocks {
			lengths = (ir.Type{Shape: []int{len(w)}, Format: a.Type.Format}).BlockLengths()
		}
	}
	enter := func(v *big.Rat) *big.Rat {
		if !window {
			return v
		}
		acc := n.Type.Format.(format.Fixed)
		q := entered(rounded(new(big.Rat).Mul(v, arith.TwoTo(acc.F)), format.RoundFloor), acc)
		return new(big.Rat).Mul(new(big.Rat).SetInt64(q), arith.TwoTo(-acc.F))
	}
	sum, at := new(big.Rat).Set(enter(bias)), 0
	for _, length := range lengths {
		run := new(big.Rat)
		for i := at; i < at+length; i++ {
			run.Add(run, new(big.Rat).Mul(x[i], w[i]))
		}
		sum.Add(sum, enter(run))
		at += length
	}
	return enter(sum)
}

// TestSumPlan compares the plan of every pair of kinds with fractions. Factors stand for real ratios: results then lie
// between those of the exact sum a little less and a little more, which are nearly always the same.
func TestSumPlan(t *testing.T) {
	for _, kinds := range [][2]operandKind{{stepped, stepped}, {stepped, scaled}, {scaled, stepped}, {scaled, scaled},
		{stepped, blocked}, {blocked, stepped}, {blocked, blocked}} {
		r := rand.New(rand.NewPCG(uint64(kinds[0]), uint64(kinds[1])))
		tried, open := 0, 0
		for range 400 {
			n := drawSum(r, kinds[0], kinds[1])
			p, err := New(n)
			if e := (*diag.Error)(nil); errors.As(err, &e) && e.Code == "L0340" {
				continue // sums too wide for a factor
			}
			if err != nil {
				t.Fatal(err)
			}
			if k := KindsOf(n); k.data != kinds[0] && k.data != stepped { // an affine format may be a fixed one
				t.Fatalf("data of kind %d, drawn as %d", k.data, kinds[0])
			}
			tried++
			open += checkSum(t, r, n, p)
		}
		if tried < 300 || open > 2*tried {
			t.Errorf("kinds %v: %d plans, %d results that two codes fit", kinds, tried, open)
		}
	}
}

// drawTensor draws codes, and scales of blocks from 2^-7 to 2^7.
func drawTensor(r *rand.Rand, x *ir.Tensor) {
	codes := x.Type.Format
	if b, blocks := x.Type.BlockFormat(); blocks {
		codes = b.Element()
	}
	copy(x.Codes, draw.Codes(r, codes, len(x.Codes)))
	for i := range x.BlockScales {
		x.BlockScales[i] = int64(draw.Between(r, 120, 134))
	}
}

// checkSum compares the codes of n with fractions and returns how many were open between two.
func checkSum(t *testing.T, r *rand.Rand, n *ir.Node, p Sum) (open int) {
	t.Helper()
	x := ir.NewTensor(n.Args[0].Type)
	drawTensor(r, x)
	in, err := p.Input(n, x)
	if err != nil {
		t.Fatal(err)
	}
	w, err := n.Args[1].Value()
	if err != nil {
		t.Fatal(err)
	}
	rows, terms := p.Size()
	bias := make([]*big.Rat, rows)
	for c := range bias {
		bias[c] = new(big.Rat)
	}
	if len(n.Args) > 2 {
		b, err := n.Args[2].Value()
		if err != nil {
			t.Fatal(err)
		}
		bias = rats(b)
	}
	kernel, got := p.Kernel(), make([]int64, rows)
	values, weights := rats(x), rats(w)
	for v := range n.Type.Shape[0] {
		kernel(in.Row(v, terms), got)
		for c := range rows {
			sum := slowSum(n, values[v*terms:(v+1)*terms], weights[c*terms:(c+1)*terms], bias[c])
			lo, hi := slowCodes(n, c, sum, p)
			if lo != hi {
				open++
			}
			if got[c] < lo || got[c] > hi {
				t.Fatalf("%v by %v to %v: row %d is %d, in fractions %s: %d to %d", x.Type.Format, w.Type.Format,
					n.Type.Format, c, got[c], sum.FloatString(6), lo, hi)
			}
		}
	}
	return open
}

// slowCodes are the codes of the result for a sum; with factors, for a sum a little less and a little more: a bias is
// rounded 2^-guardBits of a step below, or where sums of 31 bits end; factors have so many bits that products fit 63.
func slowCodes(n *ir.Node, c int, sum *big.Rat, p Sum) (lo, hi int64) {
	out, _ := format.IntegersOf(n.Type.Format)
	v := new(big.Rat).Quo(sum, out.Step.Rat())
	slack := new(big.Rat)
	if m, exact := p.(*exactSum); exact && KindsOf(n).factors() {
		half := arith.TwoTo(-guardBits - 1)
		if m.round.res.Mul != nil && m.tBits >= 30 { // no room for all guard bits
			half.Mul(m.ratio[c], arith.TwoTo(-1))
		}
		slack.Mul(new(big.Rat).Abs(v), arith.TwoTo(-min(31, 63-m.tBits))).Add(slack, half)
	}
	code := func(v *big.Rat) int64 {
		q := rounded(v, out.Codes.Round)
		return entered(q.Add(q, big.NewInt(out.Zero)), out.Codes)
	}
	return code(new(big.Rat).Sub(v, slack)), code(new(big.Rat).Add(v, slack))
}

// TestSumBounds compares the widths of exact sums with extremes that are added up one by one.
func TestSumBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for i := range 300 {
		n := drawSum(r, []operandKind{stepped, scaled}[i%2], stepped)
		p, err := New(n)
		if err != nil {
			continue
		}
		m := p.(*exactSum)
		dot, total, low := 1, 1, 1
		for c := range m.out {
			least, most, all := new(big.Int), new(big.Int), new(big.Int)
			for _, w := range m.weights[c*m.in : (c+1)*m.in] {
				a, b := big.NewInt(w*m.data.lo), big.NewInt(w*m.data.hi)
				if a.Cmp(b) > 0 {
					a, b = b, a
				}
				least.Add(least, a)
				most.Add(most, b)
				all.Add(all, new(big.Int).Abs(big.NewInt(w*max(-m.data.lo, m.data.hi))))
			}
			dot, low = max(dot, format.SignedBits(least, most)), max(low, arith.SignedBits(all))
			for _, v := range []*big.Int{new(big.Int), least, most} {
				v.Lsh(v, m.up[c])
				total = max(total, arith.SignedBits(v), arith.SignedBits(new(big.Int).Add(v, m.bias[c])))
			}
		}
		if m.dotBits != dot || m.tBits != total || m.lowBits != low {
			t.Fatalf("widths %d %d %d, want %d %d %d", m.dotBits, m.tBits, m.lowBits, dot, total, low)
		}
	}
}

// TestFactor: factors have all their bits, and are the nearest to their ratios.
func TestFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 1000 {
		ratio := new(big.Rat).SetFloat64(math.Ldexp(1+r.Float64(), -r.IntN(40)))
		bits := draw.Between(r, arith.LeastFactor, arith.FactorBits)
		mul, shift, err := arith.Factor(ratio, bits)
		if err != nil {
			t.Fatal(err)
		}
		off := new(big.Rat).Sub(new(big.Rat).SetInt64(mul), new(big.Rat).Mul(ratio, arith.TwoTo(shift)))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 || big.NewInt(mul).BitLen() != bits {
			t.Fatalf("%v is %d/2^%d, of %d bits", ratio, mul, shift, bits)
		}
	}
}

// TestZeroRow: the scale of a row of zeros, however small, makes no factors apart that hardware must hold.
func TestZeroRow(t *testing.T) {
	a := format.Affine{W: 8, Signed: true}
	w := draw.Const("w", ir.Type{Shape: []int{2, 1}, Format: a, Scales: []float32{0.3, 1e-30}}, []int64{5, 0})
	x := draw.Input("x", ir.Type{Shape: []int{1},
		Format: format.Affine{W: 8, Zero: 3, Scale: 0.1, Axis: format.PerTensor}})
	b := draw.Const("b", ir.Type{Shape: []int{2}, Format: format.Fixed{W: 8, F: 4, Signed: true}}, []int64{16, 32})
	n := &ir.Node{Name: "y", Op: &ir.Op{Name: "linear", Traits: ir.Traits{Weighted: true, Blocks: column.SumsInBlocks}},
		Args: []*ir.Node{x, w, b}, HW: ir.HW{Widths: ir.Widths{InLanes: 1, OutLanes: 1}},
		Type: ir.Type{Shape: []int{2}, Format: format.Affine{W: 8, Signed: true, Scale: 0.25, Axis: format.PerTensor}}}
	p, err := New(n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Unit(n, frontOf(n, p)); err != nil {
		t.Fatal(err)
	}
	got := make([]int64, 2)
	p.Kernel()(Input{Ints: []int64{2}}, got)
	if got[0] != 5 || got[1] != 8 { // (5*0.3*2*0.1 + 1)/0.25 = 5.2, and 2/0.25
		t.Errorf("codes %v", got)
	}
}
