// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/custom"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sequence"
	"lathe/ir/ref"
)

// e4m3 is float(4,3,fn): a format without hardware, which only these tests know. That it runs through the Eval column
// of every operation with an integer meaning shows that these need nothing of a format but the interface.
type e4m3 struct{}

func (e4m3) String() string           { return "test-e4m3" }
func (e4m3) Width() int               { return 8 }
func (f e4m3) CodeSet() format.Format { return f }
func (e4m3) Lattice() (int, int, bool) {
	return -9, 19, true // 448 is 229376 steps
}

func (f e4m3) Limits() (lo, hi format.Exact) { return f.Decode(0xfe), f.Decode(0x7e) }

func (e4m3) Decode(code int64) format.Exact {
	field, sig := int(code>>3&15), code&7
	if field == 15 && sig == 7 {
		return format.NaN()
	}
	if field > 0 {
		sig += 8
	}
	v := format.FromInt(sig, max(field, 1)-10)
	if code&0x80 != 0 {
		return v.Neg()
	}
	return v
}

func (f e4m3) Encode(v format.Exact) int64 {
	if v.IsNaN() {
		return 0x7f
	}
	sign := int64(0)
	if v.Signbit() {
		sign = 0x80
	}
	_, top := f.Limits()
	step := max(v.Log2(), -6) - 3
	if v = v.Abs().RoundTo(step, format.RoundEven); v.Cmp(top) >= 0 {
		return sign | 0x7e
	}
	if v.IsZero() {
		return sign
	}
	step = max(v.Log2(), -6) - 3 // rounding may have carried
	sig, _ := v.Int64(step)
	return sign | int64(step+9)<<3 + sig
}

func (e4m3) list() []coded { return e4m3List() }
func (e4m3) finite(code int64) int64 {
	if code&0x7f == 0x7f {
		return code - 1
	}
	return code
}

// log4 is log(4): zero and +-2^(f-3) for f = 1..7.
type log4 struct{}

func (log4) String() string                  { return "test-log4" }
func (log4) Width() int                      { return 4 }
func (f log4) CodeSet() format.Format        { return f }
func (log4) Lattice() (int, int, bool)       { return -2, 8, true }
func (f log4) Limits() (lo, hi format.Exact) { return f.Decode(15), f.Decode(7) }

func (log4) Decode(code int64) format.Exact {
	if code&7 == 0 {
		return format.FromInt(0, 0)
	}
	return format.FromInt(1-code>>3&1*2, int(code&7)-3)
}

func (log4) Encode(v format.Exact) int64 {
	for f := int64(7); f > 0; f-- { // the largest power whose lower threshold v reaches
		half := format.FromInt(3, int(f)-5) // between 2^(f-4) and 2^(f-3)
		if f == 1 {
			half = format.FromInt(1, -3) // between 0 and 2^-2
		}
		if c := v.Abs().Cmp(half); c > 0 || c == 0 && f%2 == 0 {
			if v.Sign() < 0 {
				return f | 8
			}
			return f
		}
	}
	return 0
}

func (log4) list() []coded           { return log4List() }
func (log4) finite(code int64) int64 { return code }

var (
	e4m3List = sync.OnceValue(func() []coded { return listOf(e4m3{}, 256) })
	log4List = sync.OnceValue(func() []coded { return listOf(log4{}, 16) })
)

// listOf decodes all codes of a format with a finite value.
func listOf(f format.Format, codes int64) []coded {
	var list []coded
	for c := range codes {
		if v := f.Decode(c); v.IsFinite() {
			list = append(list, coded{c, v.Rat()})
		}
	}
	sort.SliceStable(list, func(i, k int) bool { return list[i].x.Cmp(list[k].x) < 0 })
	return list
}

// TestEncode compares the encoders of the test formats with a search over all codes: else they would prove little.
func TestEncode(t *testing.T) {
	for _, f := range []enumerated{e4m3{}, log4{}} {
		r := rand.New(rand.NewPCG(3, 4))
		for range 3000 {
			v := new(big.Rat).SetFrac64((r.Int64N(1<<13)-1<<12)>>r.IntN(12), 1<<r.IntN(14))
			got, want := f.Encode(format.FromRat(v)), nearest(f.list(), v)
			if f.Decode(got).Cmp(f.Decode(want)) != 0 {
				t.Fatalf("%s: %s becomes %#x, the nearest code is %#x", f, v.RatString(), got, want)
			}
		}
	}
}

// reformat puts f in the place of the formats of arguments, of some results, and of some weights.
func reformat(r *rand.Rand, g *ir.Graph, f enumerated) {
	for _, n := range g.Nodes {
		c, isConst := n.Attrs.(*ir.Const)
		switch {
		case isConst && n.Name != "b" && r.IntN(2) == 0:
			codes := make([]int64, n.Type.Elems())
			for i := range codes {
				codes[i] = f.finite(r.Int64N(1 << f.Width()))
			}
			c.Data = ir.CodeBlob(codes)
			n.Type.Format, n.Type.Scales = f, nil
		case n.Op == leaf.Input:
			n.Type.Format = f
		}
	}
	for _, n := range g.Nodes {
		if slices.Contains(movers, n.Op) || len(n.Args) > 0 && n.Op != reduce.ArgMax && r.IntN(2) == 0 {
			n.Type.Format = f
		}
	}
}

// onFixed are operations for which lowering decodes other formats, or whose formats are given.
var onFixed = []*ir.Op{norm.Softmax, norm.LogSoftmax, sequence.AttendScores, sequence.AttendWeights, sequence.AttendSum,
	sequence.Rotate, sequence.Embedding, curve.Threshold, pointwise.QuantEach, custom.Module}

// TestFormats compares the Eval column of every operation with an integer meaning with the slow evaluator, in formats
// that no operation names. Random graphs that such formats make illegal do not count: joined values of several formats,
// real scales, a pad without a code. Norms take integers of 16 bits, and layers with a state fixed values, which these
// formats are not.
func TestFormats(t *testing.T) {
	for _, f := range []enumerated{e4m3{}, log4{}} {
		for _, o := range Ops() {
			g, _ := Case(o, 0)
			if g.Stage == ir.StageFloat || norm.HasGains(o) || recur.Recurs(o) || slices.Contains(onFixed, o) {
				continue
			}
			t.Run(fmt.Sprint(f, "/", o.Name), func(t *testing.T) {
				t.Parallel()
				legal := 0
				for i := 0; legal < exactCases/8 && i < 2*exactCases; i++ {
					g, r := Case(o, i)
					reformat(r, g, f)
					if g.Check() == nil {
						legal++
						CompareSlow(t, g, r, exactSamples)
					}
				}
				if legal < exactCases/8 {
					t.Errorf("%d legal graphs of %d", legal, 2*exactCases)
				}
			})
		}
	}
}

// TestFormatChain runs whole networks in such a format, weights included.
func TestFormatChain(t *testing.T) {
	for _, f := range []enumerated{e4m3{}, log4{}} {
		for i, ops := range Chains {
			r := Rand(ops, 1000)
			same := func(int) format.Format { return f }
			g := ChainIn(r, ops, same, same)
			t.Run(fmt.Sprint(f, "/", i), func(t *testing.T) { CompareSlow(t, g, r, exactSamples) })
		}
	}
}

// TestCastZero: a cast keeps the sign of zero where both formats have it.
func TestCastZero(t *testing.T) {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{256}, Format: e4m3{}}}
	y := &ir.Node{Name: "y", Op: pointwise.Cast, Args: []*ir.Node{x}, Type: x.Type}
	g := &ir.Graph{Stage: ir.StageQuantized, In: []*ir.Node{x}, Nodes: []*ir.Node{x, y},
		Out: []ir.Output{{Name: "y", Node: y}}}
	in := ir.NewTensor(x.Type)
	for c := range in.Codes {
		in.Codes[c] = int64(c)
	}
	out, err := Evaluate(t.Context(), g, []ref.Sample{{in}})
	if err != nil {
		t.Fatal(err)
	}
	for c, got := range out[0][0].Codes {
		if want := int64(c); got != want && got != want&0x7f {
			t.Errorf("code %#x becomes %#x", want, got)
		} else if got != want && want&0x7f != 0x7f {
			t.Errorf("code %#x loses its sign", want)
		}
	}
}
