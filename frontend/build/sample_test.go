// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/whole"
)

// places is where ONNX puts output o, by the formulas of its text.
func places(mode string, o, in, out, scale float64) float64 {
	switch mode {
	case "half_pixel":
		return (o+0.5)/scale - 0.5
	case "half_pixel_symmetric":
		adjustment := out / (scale * in)
		return in/2*(1-adjustment) + (o+0.5)/scale - 0.5
	case "pytorch_half_pixel":
		if out == 1 {
			return 0
		}
		return (o+0.5)/scale - 0.5
	case "align_corners":
		if out == 1 {
			return 0
		}
		return o * (in - 1) / (out - 1)
	}
	return o / scale
}

// weightOf is how much element i counts at place p, before the border repeats.
func weightOf(a ResizeAttrs, i, p float64) float64 {
	d := math.Abs(i - p)
	switch {
	case a.Mode == "linear":
		return max(0, 1-d)
	case a.Mode == "cubic" && d <= 1:
		return (a.CubicA+2)*d*d*d - (a.CubicA+3)*d*d + 1
	case a.Mode == "cubic" && d < 2:
		return a.CubicA*d*d*d - 5*a.CubicA*d*d + 8*a.CubicA*d - 4*a.CubicA
	case a.Mode == "cubic":
		return 0
	}
	const near = 1e-9 // ties are exact in the cases
	floor := map[string]bool{
		"floor": i <= p+near && p < i+1-near, "ceil": i-1+near < p && p <= i+near,
		"round_prefer_floor": i-0.5+near < p && p <= i+0.5+near, "round_prefer_ceil": i-0.5-near <= p && p < i+0.5-near,
	}
	if floor[a.Nearest] {
		return 1
	}
	return 0
}

// resized samples one axis by the definition: elements far outside of the image are those of its border.
func resized(x array, axis, out int, scale float64, a ResizeAttrs) array {
	shape := append([]int(nil), x.shape...)
	shape[axis] = out
	in := x.shape[axis]
	return filled(shape, func(i []int) float64 {
		p := places(a.Coordinates, float64(i[axis]), float64(in), float64(out), scale)
		sum, total := 0.0, 0.0
		from := append([]int(nil), i...)
		for k := -50; k < in+50; k++ {
			w := weightOf(a, float64(k), p)
			if a.ExcludeOutside && (k < 0 || k >= in) {
				w = 0
			}
			from[axis] = min(max(k, 0), in-1)
			sum, total = sum+w*x.at(from...), total+w
		}
		return sum / total
	})
}

func TestResize(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	var kinds []ResizeAttrs
	for _, n := range []string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"} {
		kinds = append(kinds, ResizeAttrs{Mode: "nearest", Nearest: n})
	}
	kinds = append(kinds, ResizeAttrs{Mode: "linear"}, ResizeAttrs{Mode: "linear", ExcludeOutside: true},
		ResizeAttrs{Mode: "cubic", CubicA: -0.75}, ResizeAttrs{Mode: "cubic", CubicA: -0.5, ExcludeOutside: true})
	for _, a := range kinds {
		for _, mode := range []string{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
			"asymmetric"} {
			for _, c := range []struct {
				in, out [2]int
				scales  []float64
			}{
				{[2]int{3, 4}, [2]int{6, 8}, nil}, {[2]int{5, 4}, [2]int{3, 7}, nil}, {[2]int{4, 6}, [2]int{2, 1}, nil},
				{[2]int{1, 3}, [2]int{4, 3}, nil}, {[2]int{4, 5}, [2]int{7, 3}, []float64{1.75, 0.7}},
			} {
				a := a
				a.Coordinates, a.Axes, a.Sizes, a.Scales = mode, []int{1, -1}, c.out[:], c.scales
				x := random(r, 2, c.in[0], c.in[1])
				got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
					return b.Resize(at, in[0], a)
				})
				want := x
				for i := range 2 {
					scale := float64(c.out[i]) / float64(c.in[i])
					if c.scales != nil {
						scale = c.scales[i]
					}
					want = resized(want, 1+i, c.out[i], scale, a)
				}
				same(t, fmt.Sprintf("%+v of %v", a, c.in), got, want)
			}
		}
	}
	good := ResizeAttrs{Axes: []int{0}, Sizes: []int{4}, Mode: "nearest", Nearest: "floor", Coordinates: "asymmetric"}
	for i, wrong := range []func(a *ResizeAttrs){
		func(a *ResizeAttrs) { a.Mode = "area" }, func(a *ResizeAttrs) { a.Nearest = "up" },
		func(a *ResizeAttrs) { a.Coordinates = "middle" }, func(a *ResizeAttrs) { a.Sizes = []int{0} },
		func(a *ResizeAttrs) { a.Scales = []float64{0} }, func(a *ResizeAttrs) { a.Axes = []int{3} },
		func(a *ResizeAttrs) { a.Sizes = nil },
	} {
		a := good
		wrong(&a)
		code := []diag.Code{diag.UnsupportedForm, diag.UnsupportedForm, diag.UnsupportedForm, diag.BadDimension,
			diag.BadAttribute,
			diag.BadAttribute, diag.BadAttribute}[i]
		refused(t, a, code, [][]int{{2, 3}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.Resize(at, in[0], a)
		})
	}
}

// TestResizeImages interpolates images by whole factors, which becomes one convolution, and by others, which needs no
// table.
func TestResizeImages(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for _, factors := range [][2]int{{2, 2}, {3, 1}, {4, 3}, {1, 5}} {
		for _, mode := range []string{"half_pixel", "pytorch_half_pixel", "align_corners"} {
			a := ResizeAttrs{Mode: "linear", Axes: []int{2, 3}, Coordinates: mode}
			a.Sizes = []int{3 * factors[0], 4 * factors[1]}
			x := random(r, 1, 2, 3, 4)
			got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
				return b.Resize(at, in[0], a)
			})
			want := resized(x, 2, a.Sizes[0], float64(factors[0]), a)
			same(t, fmt.Sprint(factors, mode), got, resized(want, 3, a.Sizes[1], float64(factors[1]), a))
		}
	}
	for _, out := range []int{5, 7, 9, 12} {
		for _, mode := range []string{"half_pixel", "align_corners", "asymmetric"} {
			a := ResizeAttrs{Mode: "linear", Axes: []int{1}, Sizes: []int{out}, Coordinates: mode}
			b := New("g", "m.onnx")
			x, err := b.Input("x", ir.F32, []int{1, 5})
			if err != nil {
				t.Fatal(err)
			}
			y, err := b.Resize(Place{Name: "y"}, x, a)
			if err != nil {
				t.Fatal(err)
			}
			b.Output("y", y)
			g, err := b.Finish()
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range g.Nodes {
				if n.Op == whole.Gather {
					t.Errorf("%s to %d: %s is a table", mode, out, n.Name)
				}
			}
		}
	}
}

// TestResizeWide demands filters that are as wide as the new pixels, and cropped images with a value around them.
func TestResizeWide(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	x := random(r, 2, 9, 7)
	for _, a := range []ResizeAttrs{{Mode: "linear"}, {Mode: "cubic", CubicA: -0.75},
		{Mode: "cubic", CubicA: -0.5, ExcludeOutside: true}, {Mode: "linear", ExcludeOutside: true}} {
		a.Antialias, a.Axes, a.Sizes, a.Coordinates = true, []int{1, 2}, []int{4, 11}, "half_pixel"
		got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.Resize(at, in[0], a)
		})
		narrow := func(i, p float64) float64 { return weightOf(a, (i-p)*4/9, 0) }
		want := filled([]int{2, 4, 7}, func(i []int) float64 {
			sum, total := 0.0, 0.0
			for k := -40; k < 40; k++ {
				w := narrow(float64(k), (float64(i[1])+0.5)*9/4-0.5)
				if a.ExcludeOutside && (k < 0 || k > 8) {
					w = 0
				}
				sum, total = sum+w*x.at(i[0], min(max(k, 0), 8), i[2]), total+w
			}
			return sum / total
		})
		same(t, fmt.Sprintf("%+v", a), got, resized(want, 2, 11, 11.0/7, a))
	}
	for _, mode := range []string{"nearest", "linear"} {
		a := ResizeAttrs{Axes: []int{1, 2}, Sizes: []int{4, 1}, Mode: mode, Nearest: "round_prefer_floor",
			Coordinates: "tf_crop_and_resize", Crop: [][2]float64{{0.25, 1.25}, {0.5, 1}}, Outside: 10}
		got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.Resize(at, in[0], a)
		})
		same(t, mode, got, filled([]int{2, 4, 1}, func(i []int) float64 {
			p := 2 + float64(i[1])*8/3 // 2, 4.67, 7.33, 10; and 4.5
			switch {
			case p > 8:
				return 10
			case mode == "nearest":
				return x.at(i[0], int(math.Round(p)), 4)
			}
			k := int(p)
			w := p - float64(k)
			mean := func(k int) float64 { return (x.at(i[0], k, 4) + x.at(i[0], k, 5)) / 2 }
			return (1-w)*mean(k) + w*mean(k+1)
		}))
	}
}

func TestMasks(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	x := random(r, 2, 3, 4)
	for k := -4; k <= 5; k++ {
		for _, upper := range []bool{true, false} {
			got := evaluated(t, []array{x}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
				return b.Trilu(at, in[0], k, upper)
			})
			same(t, fmt.Sprint("trilu ", k, upper), got, filled(x.shape, func(i []int) float64 {
				if upper == (i[2]-i[1] >= k) || i[2]-i[1] == k {
					return x.at(i...)
				}
				return 0
			}))
		}
	}
	refused(t, "trilu", diag.OperandShapes, [][]int{{3}}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
		return b.Trilu(at, in[0], 0, true)
	})
	index := array{[]int{2, 2}, []float64{0, 2, -1, 5}}
	for _, axis := range []int{0, 1, -1} {
		got := evaluated(t, []array{index}, func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			off, on := constant(t, b, "off", array{[]int{1}, []float64{-2}}), constant(t, b, "on", array{nil, []float64{7}})
			return b.OneHot(at, in[0], 3, axis, off, on)
		})
		place := (axis + 3) % 3
		shape := append(append(append([]int{}, index.shape[:place]...), 3), index.shape[place:]...)
		same(t, fmt.Sprint("one hot ", axis), got, filled(shape, func(i []int) float64 {
			at := append(append([]int{}, i[:place]...), i[place+1:]...)
			if v := index.at(at...); v == float64(i[place]) || v+3 == float64(i[place]) {
				return 7
			}
			return -2
		}))
	}
	refused(t, "one hot", diag.BadAttribute, [][]int{{2}, {2}, {}},
		func(b *Builder, at Place, in []*ir.Node) (*ir.Node, error) {
			return b.OneHot(at, in[0], 3, 0, in[1], in[2])
		})
	b := New("g", "m.onnx")
	ones, _ := b.Const("m", IntBlob(ir.B1, []int64{1, 1, 1, 1}), []int{2, 2})
	y, err := b.Trilu(Place{Name: "t"}, ones, 0, false)
	if v, ok := Ints(y); err != nil || !ok || fmt.Sprint(v) != "[1 0 1 1]" {
		t.Error(v, err)
	}
}
