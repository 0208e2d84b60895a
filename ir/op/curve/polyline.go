// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/bigmath"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
)

// PolylineAttrs are the points of a function: X ascends, and Y has a value for each.
type PolylineAttrs struct {
	X, Y []float32
}

// MostPoints bounds the points of a polyline.
const MostPoints = 1 << 16

// Polyline is a function that samples state: straight lines between them, the first and the last value beyond.
var Polyline = polyline()

func polyline() *ir.Op {
	o := function{
		name: "polyline", doc: "straight lines between the points (X, Y), constant beyond them", attrs: PolylineAttrs{},
		fraction: true,
		bends:    func(attrs any) []float64 { return attrs.(*PolylineAttrs).bends() },
		near: func(attrs any) func(float64) float64 {
			a := attrs.(*PolylineAttrs)
			return func(x float64) float64 {
				i := a.segment(x)
				x0, y0 := float64(a.X[i]), float64(a.Y[i])
				x = min(max(x, x0), float64(a.X[i+1]))
				return y0 + (x-x0)*(float64(a.Y[i+1])-y0)/(float64(a.X[i+1])-x0)
			}
		},
		exact: func(attrs any) func(*big.Rat) format.Exact {
			a := attrs.(*PolylineAttrs)
			return func(x *big.Rat) format.Exact { return format.FromRat(a.at(x)) }
		},
		hlo: func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value { return attrs.(*PolylineAttrs).print(b, x) },
		draw: func(r *rand.Rand) any {
			a := &PolylineAttrs{}
			x := -float32(draw.Between(r, 1, 32)) / 8
			for range draw.Between(r, 2, 9) {
				a.X, a.Y = append(a.X, x), append(a.Y, float32(draw.Between(r, -32, 32))/16)
				x += float32(draw.Between(r, 1, 8)) / 8
			}
			return a
		},
	}.op()
	o.Infer = func(n *ir.Node) ([]int, error) {
		if err := n.Attrs.(*PolylineAttrs).Check(); err != nil {
			return nil, err
		}
		return column.SameShape(n)
	}
	return o
}

// Check says what is wrong with the points.
func (a *PolylineAttrs) Check() error {
	switch {
	case len(a.X) != len(a.Y):
		return fmt.Errorf("%d places and %d values are no points", len(a.X), len(a.Y))
	case len(a.X) < 2 || len(a.X) > MostPoints:
		return fmt.Errorf("a function is stated by 2 to %d points, not by %d", MostPoints, len(a.X))
	}
	for i := range a.X {
		if bad := float64(a.X[i]) + float64(a.Y[i]); math.IsNaN(bad) || math.IsInf(bad, 0) {
			return fmt.Errorf("point %d, (%g, %g), is not finite", i, a.X[i], a.Y[i])
		}
		if i > 0 && a.X[i] <= a.X[i-1] {
			return fmt.Errorf("places of points ascend, but %g follows %g", a.X[i], a.X[i-1])
		}
	}
	return nil
}

// segment is the line that x lies on: that from point i to point i+1.
func (a *PolylineAttrs) segment(x float64) int {
	i, _ := slices.BinarySearchFunc(a.X, x, func(at float32, x float64) int {
		if float64(at) <= x {
			return -1
		}
		return 1
	})
	return min(max(i-1, 0), len(a.X)-2)
}

// at is the value at x.
func (a *PolylineAttrs) at(x *big.Rat) *big.Rat {
	rat := bigmath.Rational
	last := len(a.X) - 1
	if x.Cmp(rat(a.X[0])) <= 0 {
		return rat(a.Y[0])
	} else if x.Cmp(rat(a.X[last])) >= 0 {
		return rat(a.Y[last])
	}
	i, _ := slices.BinarySearchFunc(a.X, x, func(at float32, x *big.Rat) int { return 2*min(rat(at).Cmp(x), 0) + 1 })
	i-- // point i lies below x, or is the one before it
	slope := new(big.Rat).Quo(new(big.Rat).Sub(rat(a.Y[i+1]), rat(a.Y[i])), new(big.Rat).Sub(rat(a.X[i+1]), rat(a.X[i])))
	y := new(big.Rat).Sub(x, rat(a.X[i]))
	return y.Add(y.Mul(y, slope), rat(a.Y[i]))
}

// bends are the points at which the function turns.
func (a *PolylineAttrs) bends() (at []float64) {
	rising := false
	for i := 1; i < len(a.X); i++ {
		if a.Y[i] == a.Y[i-1] {
			continue
		}
		if up := a.Y[i] > a.Y[i-1]; i == 1 || up != rising {
			at, rising = append(at, float64(a.X[i-1])), up
		}
	}
	return at
}

// print finds the line of each element by halving, and follows it.
func (a *PolylineAttrs) print(b *hlo.Builder, x hlo.Value) hlo.Value {
	lines := len(a.X) - 1
	size := 1
	for size < lines {
		size *= 2
	}
	starts, slopes := make([]float32, size), make([]float32, lines)
	for i := range starts {
		starts[i] = math.MaxFloat32
	}
	copy(starts, a.X[:lines])
	for i := range slopes {
		slopes[i] = float32((float64(a.Y[i+1]) - float64(a.Y[i])) / (float64(a.X[i+1]) - float64(a.X[i])))
	}
	table := func(v []float32) hlo.Value { return b.Weight(hlo.FromFloat32s([]int{len(v)}, v)) }
	from := table(starts)
	x = b.Clamp(carrier.Number(b, float64(a.X[0])), x, carrier.Number(b, float64(a.X[lines])))
	at := b.Convert(b.Compare(hlo.NE, x, x), hlo.I32) // zeros, of NaN aside
	for half := size / 2; half > 0; half /= 2 {
		probe := b.Add(at, b.Splat(at, int64(half)))
		at = b.Select(b.Compare(hlo.GE, x, b.TakeI(from, probe)), probe, at)
	}
	y := b.Mul(b.Sub(x, b.TakeI(from, at)), b.TakeI(table(slopes), at))
	return b.Add(y, b.TakeI(table(a.Y[:lines]), at))
}
