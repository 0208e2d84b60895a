// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
)

// TestLargeWeights encodes very many weights to the codes and scales that the same rows get in small matrices.
func TestLargeWeights(t *testing.T) {
	const out, in = 64, 4097
	r := rand.New(rand.NewPCG(4, 4))
	values := make([]float32, out*in)
	for i := range values {
		values[i] = float32(math.Ldexp(r.NormFloat64(), (i/in)%6)) // no channel is coarser than another by more than spread
	}
	for _, pattern := range []string{"fixed(8)", "fixed(4,round=away,over=sym)", "int(6)*[0]", "ufixed(7)", "fixed(12)"} {
		build := func(x []float32) (ir.Type, []int64) {
			b := lowertest.New(t, 1)
			g := b.Done(b.Add(sum.Linear, "y", nil, b.Input("x", 1, in), b.Const([]int{len(x) / in, in}, x...)))
			q, _ := mustQuantize(t, g, fmt.Sprintf("[quantize]\nweight = %q", pattern), Calibration{})
			for _, n := range q.Nodes {
				if n.Op == sum.Linear {
					codes, err := n.Args[1].Attrs.(*ir.Const).Data.Ints()
					if err != nil {
						t.Fatal(err)
					}
					return n.Args[1].Type, codes
				}
			}
			t.Fatal("no linear")
			return ir.Type{}, nil
		}
		typ, codes := build(values)
		for c := 0; c < out; c += 4 {
			part, want := build(values[c*in : (c+4)*in])
			if !slices.Equal(codes[c*in:(c+4)*in], want) {
				t.Fatalf("%s: other codes in channels from %d on", pattern, c)
			}
			if a, ok := part.Format.(format.Affine); ok && (a.String() != typ.Format.String() ||
				!slices.Equal(part.Scales, typ.Scales[c:c+4])) {
				t.Fatalf("%s: %s %v in channels from %d on, not %v", pattern, typ.Format, part.Scales, c, typ.Scales[c:c+4])
			}
		}
	}
}

// TestLargeInfinite refuses a weight that is no number, however many there are.
func TestLargeInfinite(t *testing.T) {
	values := make([]float32, 64*4096)
	values[4096*3+7] = float32(math.Inf(-1))
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 4096)
	g := b.Done(b.Add(sum.Linear, "y", nil, x, b.Const([]int{64, 4096}, values...)))
	_, _, err := Run(t.Context(), g, lowertest.Plan(t, ""), Calibration{}, Options{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(4096*3+7)) {
		t.Errorf("%v", err)
	}
}
