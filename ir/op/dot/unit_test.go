// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// sumUnit is the unit of a sum as its parameters and images say.
type sumUnit struct {
	t *testing.T
	*rtl.Unit
	words map[string][]string // of images, as texts
}

// frontOf is that of a sum without a window in front.
func frontOf(n *ir.Node, p Sum) Front {
	rows, terms := p.Size()
	return Front{Name: "linear", Vector: &Vector{Terms: terms}, Coded: true,
		Size: []any{"IN", terms, "OUT", rows}, In: n.HW.InLanes,
		Out: n.HW.OutLanes, Exact: []any{"IN_LANES", n.HW.InLanes, "OUT_LANES", n.HW.OutLanes},
		Window: []any{"RUN", terms}}
}

// drawnUnit is the unit of a sum with one of the forms that its products can have.
func drawnUnit(r *rand.Rand, n *ir.Node, p Sum) (*rtl.Unit, error) {
	f := frontOf(n, p)
	list, err := p.Products(n, f)
	if err != nil {
		return nil, err
	}
	n.HW.Products = list[r.IntN(len(list))].Products
	return p.Unit(n, f)
}

// number is an integer parameter; def where it is not given.
func (u sumUnit) number(name string, def int) int {
	for _, p := range u.Params {
		if p.Name == name {
			v, err := strconv.Atoi(p.Value)
			if err != nil {
				u.t.Fatal(err)
			}
			return v
		}
	}
	return def
}

// newSumUnit reads the images of a unit.
func newSumUnit(t *testing.T, u *rtl.Unit) sumUnit {
	t.Helper()
	words := map[string][]string{}
	for _, im := range u.Images {
		made, err := im.Made()
		if err != nil {
			t.Fatal(err)
		}
		words[im.Param] = strings.Split(string(made.File("u").Bytes()), "\n")
	}
	return sumUnit{t, u, words}
}

// field is the number of width bits at bit `at` of word i of an image, in two's complement or not; 0 of no bits.
func (u sumUnit) field(image string, i, at, width int, signed bool) *big.Int {
	if width == 0 {
		return new(big.Int)
	}
	word, ok := new(big.Int).SetString(u.words[image][i], 16)
	if !ok {
		u.t.Fatalf("word %d of %s is %q", i, image, u.words[image][i])
	}
	word.Rsh(word, uint(at))
	span := new(big.Int).Lsh(big.NewInt(1), uint(width))
	word.Mod(word, span)
	if signed && word.Bit(width-1) == 1 {
		word.Sub(word, span)
	}
	return word
}

// result is the format of the output as the parameters say.
func (u sumUnit) result() format.Fixed {
	return format.Fixed{W: u.number("OUT_W", 0), Signed: u.number("OUT_SIGNED", 1) == 1,
		Round: format.Round(u.number("ROUND", 5)), Over: format.Over(u.number("OVER", 0))}
}

// weight is the integer of the weight at a bit of word i: a code of a float or of a sign, or that integer.
func (u sumUnit) weight(i, at int) *big.Int {
	w, e := u.number("W_W", 0), u.number("W_E", 0)
	v := u.field("WEIGHTS", i, at, w, e == 0)
	switch {
	case e < 0:
		return v.Sub(v.Lsh(v, 1), big.NewInt(1))
	case e > 0:
		code, fraction := v.Int64(), w-1-e
		up, significand := code>>fraction&(1<<e-1), code&(1<<fraction-1)
		if up > 0 {
			significand, up = significand+1<<fraction, up-1
		}
		v.Lsh(big.NewInt(significand), uint(up))
		if code>>(w-1) == 1 {
			v.Neg(v)
		}
	}
	return v
}

// linear is output o of op_linear for codes x, by the formula of its header.
func (u sumUnit) linear(x []int64, o int) int64 {
	in, out, w := u.number("IN_LANES", 0), u.number("OUT_LANES", 0), u.number("W_W", 0)
	sum := new(big.Int)
	for j, q := range x {
		p, s := o%out, j%in
		weight := u.weight(o/out*(len(x)/in)+j/in, (p*in+s)*w)
		sum.Add(sum, weight.Mul(weight, big.NewInt(q)))
	}
	u.holds(sum, "DOT_W")
	m, psh, bias := u.number("M_W", 0), u.number("PSH_W", 0), u.number("BIAS_W", 0)
	at := o % out * (m + psh + bias)
	sum.Lsh(sum, uint(u.field("CONSTS", o/out, at+bias, psh, false).Int64()))
	sum.Add(sum, u.field("CONSTS", o/out, at, bias, true))
	u.holds(sum, "T_W")
	if m > 0 {
		sum.Mul(sum, u.field("CONSTS", o/out, at+bias+psh, m, false))
	}
	q := rounded(new(big.Rat).Mul(new(big.Rat).SetInt(sum), arith.TwoTo(-u.number("SHIFT", 0))), u.result().Round)
	return entered(q.Add(q, big.NewInt(int64(u.number("ZERO", 0)))), u.result())
}

// holds fails where v does not fit a width of the unit.
func (u sumUnit) holds(v *big.Int, width string) {
	if arith.SignedBits(v) > u.number(width, 0) {
		u.t.Fatalf("%v does not fit %s %d", v, width, u.number(width, 0))
	}
}

// blocks is output o of mx_linear for codes x in blocks of the given scale fields, by the formula of its header.
func (u sumUnit) blocks(x, fields []int64, lengths []int, o int) int64 {
	in, rows, drain, w := u.number("IN_LANES", 0), u.number("ROWS", 0), u.number("DRAIN", 0), u.number("W_W", 0)
	ws, low, span := u.number("WS_W", 0), u.number("LOW", 0), u.number("SPAN", 0)
	acc, biasW := u.result(), u.number("BIAS_W", 0)
	acc.Signed = true
	place, group := o%rows/drain, o/rows
	total := u.field("BIAS", o/drain, o%drain*biasW, biasW, true)
	from := 0
	for j, length := range lengths {
		d := new(big.Int)
		for i := from; i < from+length; i++ {
			at := (o%rows*in + i%in) * w
			weight := u.weight(group*(len(x)/in)+i/in, at)
			d.Add(d, weight.Mul(weight, big.NewInt(x[i])))
		}
		from += length
		u.holds(d, "D_W")
		a := u.number("OFFSET", 0)
		if ws > 0 {
			a += int(u.field("SCALES", (group*len(lengths)+j)*(rows/drain)+place, o%drain*ws, ws, false).Int64())
		}
		if fields != nil {
			a += int(fields[j])
		}
		if d.Sign() != 0 && (a < 0 || a > span) && u.number("CLAMP", 0) == 0 {
			u.t.Fatalf("a shift by %d of 0 to %d, without CLAMP", a, span)
		}
		term := rounded(new(big.Rat).Mul(new(big.Rat).SetInt(d), arith.TwoTo(max(a, 0)-low)), format.RoundFloor)
		total.Add(total, big.NewInt(entered(term, acc)))
	}
	u.holds(total, "SUM_W")
	return entered(total, acc)
}

// TestSumUnit computes what units of random sums give from their parameters and images alone.
func TestSumUnit(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	built, forms := map[string]int{}, map[ir.Products]int{}
	for i := range 400 {
		kinds := []operandKind{stepped, scaled, blocked}
		n := drawSum(r, kinds[i%3], kinds[i/3%3])
		p, err := New(n)
		if err != nil {
			continue
		}
		rows, terms := p.Size()
		n.HW.InLanes, n.HW.OutLanes = drawDivisor(r, terms), drawDivisor(r, rows)
		w, window := p.(*windowSum)
		if window {
			n.HW.InLanes, n.HW.Rows = drawDivisor(r, block.CommonLength(w.lengths)), n.HW.OutLanes
			n.HW.OutLanes = block.Drain(n.HW.Rows, n.HW.InLanes, w.lengths)
		}
		made, err := drawnUnit(r, n, p)
		if err != nil {
			continue // a factor or a zero point beyond the unit
		}
		u := newSumUnit(t, made)
		built[u.Module]++
		forms[n.HW.Products]++
		x := ir.NewTensor(n.Args[0].Type)
		drawTensor(r, x)
		in, err := p.Input(n, x)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int64, rows)
		p.Kernel()(in.Row(1, terms), want)
		codes := Input{x.Codes, x.BlockScales}.Row(1, terms)
		for o := range rows {
			got := int64(0)
			if window {
				got = u.blocks(codes.Ints, codes.Fields, w.lengths, o)
			} else {
				got = u.linear(codes.Ints, o)
			}
			if got != want[o] {
				t.Fatalf("%v by %v to %v: %s gives %d for row %d, want %d", x.Type.Format, n.Args[1].Type.Format, n.Type.Format,
					u.Module, got, o, want[o])
			}
		}
	}
	if built["op_linear"] < 80 || built["mx_linear"] < 80 {
		t.Errorf("units: %v", built)
	}
	for _, word := range []string{Integers, multiples, codedWeights} {
		for _, shifted := range []bool{false, true} {
			if forms[ir.Products{Factors: word, Shifted: shifted}] == 0 {
				t.Errorf("no unit with %s, shifted %v: %v", word, shifted, forms)
			}
		}
	}
}

func drawDivisor(r *rand.Rand, n int) int {
	d := lane.Divisors(n)
	return d[r.IntN(len(d))]
}
