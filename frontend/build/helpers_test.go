// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/whole"
)

func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, order := range []BlockOrder{DCR, CRD} {
		x := random(r, 2, 12, 2, 3)
		got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.DepthToSpace(at, in[0], 2, order)
		})
		want := filled([]int{2, 3, 4, 6}, func(i []int) float64 {
			channel := (i[2]%2*2+i[3]%2)*3 + i[1]
			if order == CRD {
				channel = i[1]*4 + i[2]%2*2 + i[3]%2
			}
			return x.at(i[0], channel, i[2]/2, i[3]/2)
		})
		same(t, fmt.Sprint("depth to space ", order), got, want)
		back := evaluated(t, []array{want}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.SpaceToDepth(at, in[0], 2, order)
		})
		same(t, fmt.Sprint("space to depth ", order), back, x)
	}
	for _, shape := range [][]int{{1, 6, 2, 2}, {4, 2, 2}} {
		refused(t, shape, diag.OperandShapes, [][]int{shape}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.DepthToSpace(at, in[0], 2, DCR)
		})
	}
	odd := [][]int{{1, 1, 3, 2}}
	refused(t, "odd", diag.OperandShapes, odd, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.SpaceToDepth(at, in[0], 2, DCR)
	})
}

func TestExpandTile(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	x := random(r, 3, 1)
	for _, c := range []struct{ shape, want []int }{
		{[]int{3, 4}, []int{3, 4}}, {[]int{2, 1, 6}, []int{2, 3, 6}}, {[]int{1}, []int{3, 1}},
		{[]int{2, -1, 5}, []int{2, 3, 5}},
	} {
		got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.Expand(at, in[0], c.shape)
		})
		same(t, c.shape, got, filled(c.want, func(i []int) float64 { return x.at(i[len(i)-2], 0) }))
	}
	refused(t, "expand", diag.OperandShapes, [][]int{{3}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.Expand(at, in[0], []int{2})
	})
	x = random(r, 2, 3)
	for _, c := range []struct{ counts, want []int }{
		{[]int{1, 2}, []int{2, 6}}, {[]int{3, 1}, []int{6, 3}}, {[]int{2, 3}, []int{4, 9}}, {[]int{2, 1, 1}, []int{2, 2, 3}},
		{[]int{2}, []int{2, 6}}, {[]int{1, 1, 1}, []int{1, 2, 3}}, {[]int{1, 1}, []int{2, 3}},
	} {
		got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.Tile(at, in[0], c.counts)
		})
		same(t, c.counts, got, filled(c.want, func(i []int) float64 { return x.at(i[len(i)-2]%2, i[len(i)-1]%3) }))
	}
	refused(t, "tile", diag.BadAttribute, [][]int{{3}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.Tile(at, in[0], []int{0})
	})
}

func TestSplit(t *testing.T) {
	x := random(rand.New(rand.NewPCG(3, 1)), 2, 5)
	b := New("g", "m.onnx")
	in, err := b.Input("x", ir.F32, x.shape)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := b.Split(Place{Name: "s", Source: "Split"}, in, -1, []int{1, 4})
	if err != nil || len(pieces) != 2 || !slices.Equal(pieces[1].Type.Shape, []int{2, 4}) || pieces[1].Name != "s.1" {
		t.Errorf("%v %v", pieces, err)
	}
	for _, sizes := range [][]int{{1, 3}, {5, 1}, {2}} {
		refused(t, sizes, map[bool]diag.Code{true: "L0306", false: diag.OperandShapes}[len(sizes) == 2 && sizes[0] == 5],
			[][]int{x.shape}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
				_, err := b.Split(at, in[0], 1, sizes)
				return nil, err
			})
	}
}

// reduced is the definition, on the elements that are reduced.
func reduced(r Reduction, x []float64) float64 {
	sum, abs, squares, exp, prod := 0.0, 0.0, 0.0, 0.0, 1.0
	for _, v := range x {
		sum, abs, squares, exp, prod = sum+v, abs+math.Abs(v), squares+v*v, exp+math.Exp(v), prod*v
	}
	return map[Reduction]float64{Sum: sum, Mean: sum / float64(len(x)), Max: slices.Max(x), Min: slices.Min(x), L1: abs,
		SumSquare: squares, L2: math.Sqrt(squares), LogSum: math.Log(sum), LogSumExp: math.Log(exp),
		Prod: prod}[r]
}

func TestReduce(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for _, kind := range []Reduction{Sum, Mean, Max, Min, Prod, L1, L2, SumSquare, LogSum, LogSumExp} {
		for _, c := range []struct {
			axes []int
			keep bool
			want []int
		}{
			{[]int{1}, false, []int{2, 4}}, {[]int{-1, 0}, true, []int{1, 3, 1}}, {nil, false, nil},
			{[]int{0, 2}, false, []int{3}},
		} {
			x := random(r, 2, 3, 4)
			for i, v := range x.x { // sums have logarithms
				x.x[i] = math.Abs(v) + 0.1
			}
			got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
				return b.Reduce(at, kind, in[0], c.axes, c.keep)
			})
			gone := func(axis int) bool {
				return c.axes == nil || slices.Contains(c.axes, axis) || slices.Contains(c.axes, axis-3)
			}
			same(t, fmt.Sprint(kind, c.axes), got, filled(c.want, func(i []int) float64 {
				var row []float64
				filled(x.shape, func(j []int) float64 {
					k, agree := 0, true
					for axis := range j {
						switch {
						case !gone(axis):
							agree = agree && i[k] == j[axis]
							k++
						case c.keep:
							k++
						}
					}
					if agree {
						row = append(row, x.at(j...))
					}
					return 0
				})
				return reduced(kind, row)
			}))
		}
	}
	inf := math.Inf(1)
	x := array{[]int{3, 2}, []float64{-inf, -inf, inf, 1, 1000, 1000}}
	got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.Reduce(at, LogSumExp, in[0], []int{1}, false)
	})
	same(t, "infinities", got, array{[]int{3}, []float64{-inf, inf, 1000 + math.Log(2)}})
	refused(t, "twice", diag.BadAttribute, [][]int{{2, 3}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.Reduce(at, Sum, in[0], []int{1, -1}, false)
	})
	refused(t, "outside", diag.BadAttribute, [][]int{{2, 3}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.Reduce(at, Sum, in[0], []int{2}, false)
	})
}

func TestNorms(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	x, scale, bias := random(r, 2, 5, 3, 2), random(r, 5), random(r, 5)
	got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.InstanceNorm(at, in[0], constant(t, b, "w", scale), constant(t, b, "b", bias), 1e-3)
	})
	same(t, "instance norm", got, filled(x.shape, func(i []int) float64 {
		mean, square := 0.0, 0.0
		for k := range 6 {
			mean += x.at(i[0], i[1], k/2, k%2) / 6
		}
		for k := range 6 {
			d := x.at(i[0], i[1], k/2, k%2) - mean
			square += d * d / 6
		}
		return (x.at(i...)-mean)/math.Sqrt(square+1e-3)*scale.at(i[1]) + bias.at(i[1])
	}))
	for _, size := range []int{1, 2, 3, 4, 5} {
		a := LRNAttrs{Size: size, Alpha: 0.3, Beta: 0.75, Bias: 1.5}
		got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.LRN(at, in[0], a)
		})
		same(t, fmt.Sprint("lrn ", size), got, filled(x.shape, func(i []int) float64 {
			sum := 0.0
			for c := range 5 {
				if c >= i[1]-(size-1)/2 && c <= i[1]+size/2 {
					sum += x.at(i[0], c, i[2], i[3]) * x.at(i[0], c, i[2], i[3])
				}
			}
			return x.at(i...) / math.Pow(1.5+0.3/float64(size)*sum, 0.75)
		}))
	}
}

func TestConvTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for _, c := range []struct {
		name         string
		x, w         []int
		a            ConvTransposeAttrs
		want         []int
		withoutABias bool
	}{
		{"plain", []int{1, 2, 3, 3}, []int{2, 3, 3, 2}, conv2(1, 1, 1), []int{1, 3, 5, 4}, false},
		{"stride", []int{2, 2, 3, 2}, []int{2, 1, 2, 3}, conv2(2, 1, 1), []int{2, 1, 6, 5}, true},
		{"groups", []int{1, 4, 2, 2}, []int{4, 3, 2, 2}, conv2(3, 1, 2), []int{1, 6, 5, 5}, false},
		{"dilation", []int{1, 1, 3, 1}, []int{1, 2, 2, 3}, conv2(2, 3, 1), []int{1, 2, 8, 7}, false},
		{"pads", []int{1, 1, 4, 4}, []int{1, 1, 3, 3},
			ConvTransposeAttrs{[]int{2, 2}, []int{1, 0, 2, 1}, []int{1, 0}, []int{1, 1}, 1},
			[]int{1, 1, 7, 8}, false},
		{"more pads than kernel", []int{1, 1, 5, 4}, []int{1, 1, 1, 2},
			ConvTransposeAttrs{[]int{1, 1}, []int{1, 2, 2, 1}, []int{0, 0}, []int{1, 1}, 1}, []int{1, 1, 2, 2}, false},
		{"one axis", []int{1, 2, 5}, []int{2, 2, 4}, ConvTransposeAttrs{[]int{2}, []int{1, 1}, []int{1}, []int{1}, 1},
			[]int{1, 2, 11}, false},
	} {
		x, w, bias := random(r, c.x...), random(r, c.w...), random(r, c.want[1])
		got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			if c.withoutABias {
				return b.ConvTranspose(at, in[0], constant(t, b, "w", w), nil, c.a)
			}
			return b.ConvTranspose(at, in[0], constant(t, b, "w", w), constant(t, b, "b", bias), c.a)
		})
		want := filled(c.want, func(i []int) float64 {
			if c.withoutABias {
				return 0
			}
			return bias.at(i[1])
		})
		spread(x, w, want, c.a)
		same(t, c.name, got, want)
	}
}

// TestConvTransposeDrawn draws strides, kernels, paddings and groups of all kinds.
func TestConvTransposeDrawn(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 150 {
		rank := 1 + r.IntN(volumeAxes)
		a := ConvTransposeAttrs{Groups: 1 + r.IntN(2), Pads: make([]int, 2*rank)}
		x, w := []int{1, 2 * (1 + r.IntN(2))}, []int{0, 1 + r.IntN(3)}
		w[0] = x[1]
		want := []int{1, w[1] * a.Groups}
		for i := range rank {
			k, s, d := 1+r.IntN(5), 1+r.IntN(4), 1+r.IntN(4)/3
			x, w = append(x, 1+r.IntN(7-rank)), append(w, k)
			a.Strides, a.Dilations = append(a.Strides, s), append(a.Dilations, d)
			a.OutputPadding = append(a.OutputPadding, r.IntN(s))
			size := (x[2+i]-1)*s + d*(k-1) + 1 + a.OutputPadding[i]
			a.Pads[i] = r.IntN(min(size, 4))
			a.Pads[rank+i] = r.IntN(min(size-a.Pads[i], 4))
			want = append(want, size-a.Pads[i]-a.Pads[rank+i])
		}
		in, weights, bias := random(r, x...), random(r, w...), random(r, want[1])
		got := evaluated(t, []array{in}, func(b *Builder, at Place, args []*ir.Node) (*ir.Node, error) {
			return b.ConvTranspose(at, args[0], constant(t, b, "w", weights), constant(t, b, "b", bias), a)
		})
		y := filled(want, func(i []int) float64 { return bias.at(i[1]) })
		spread(in, weights, y, a)
		same(t, fmt.Sprintf("%v by %v, %+v", x, w, a), got, y)
	}
}

// TestPick takes elements in orders that streams have, and in one that they have not.
func TestPick(t *testing.T) {
	x := random(rand.New(rand.NewPCG(7, 2)), 2, 5, 3)
	for _, c := range []struct {
		places []int64
		gather bool
	}{
		{[]int64{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, false}, {[]int64{0, 0, 0, 1, 2, 3, 4, 4}, false}, {[]int64{1, 3}, false},
		{[]int64{2, 2, 3, 3}, false}, {[]int64{2, 1, 0, 1, 2, 3, 4, 3}, false}, {[]int64{0, 0, 1, 2, 2, 2, 4}, true},
		{[]int64{3, 4, 0, 1, 2, 3, 4, 0, 1}, false}, {[]int64{3}, false}, {[]int64{0, 0, 1, 2, 3, 4}, false},
	} {
		table := false
		got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			n, err := b.Pick(at, in[0], 1, c.places)
			table = err == nil && n.Op == whole.Gather
			return n, err
		})
		if table != c.gather {
			t.Errorf("%v: a table: %v", c.places, table)
		}
		same(t, fmt.Sprint(c.places), got, filled([]int{2, len(c.places), 3}, func(i []int) float64 {
			return x.at(i[0], int(c.places[i[1]]), i[2])
		}))
	}
}

// conv2 are attributes without padding, alike in both axes.
func conv2(stride, dilation, groups int) ConvTransposeAttrs {
	return ConvTransposeAttrs{[]int{stride, stride}, []int{0, 0, 0, 0}, []int{0, 0}, []int{dilation, dilation}, groups}
}

// spread adds to y what every element of x gives to it: the definition of a transposed convolution.
func spread(x, w, y array, a ConvTransposeAttrs) {
	in, out := x.shape[1]/a.Groups, w.shape[1]
	filled(x.shape, func(i []int) float64 {
		filled(w.shape[1:], func(k []int) float64 {
			to := []int{i[0], i[1]/in*out + k[0]}
			for axis, s := range a.Strides {
				p := i[2+axis]*s + k[1+axis]*a.Dilations[axis] - a.Pads[axis]
				if p < 0 || p >= y.shape[2+axis] {
					return 0
				}
				to = append(to, p)
			}
			at := 0
			for axis, d := range y.shape {
				at = at*d + to[axis]
			}
			y.x[at] += x.at(i...) * w.at(append([]int{i[1]}, k...)...)
			return 0
		})
		return 0
	})
}
