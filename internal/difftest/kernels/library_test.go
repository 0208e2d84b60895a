// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/emit/cuda"
	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// libraryEngine is emulated for a number of samples, with kernels of the library where they are the ones wanted.
func libraryEngine(r *rand.Rand) kernelEngine {
	return kernelEngine{cuda.Options{Samples: []int{1, 7, 5000}[r.IntN(3)], BatchInvariant: r.IntN(3) == 0}, emulate}
}

// sizeOf draws a size with the borders of tiles and blocks among them.
func sizeOf(r *rand.Rand, most int) int {
	sizes := []int{1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 160, 200}
	if r.IntN(4) == 0 {
		return 1 + r.IntN(most)
	}
	for {
		if n := sizes[r.IntN(len(sizes))]; n <= most {
			return n
		}
	}
}

// runLibrary compares graphs, of which the last node of each must run the named template, with their Eval column.
func runLibrary(t *testing.T, template string, cases int, draw func(r *rand.Rand) *ir.Graph) {
	tools.NeedNVRTC(t)
	for from := 0; from < cases; from += programs.PerProgram {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			t.Parallel()
			r := difftest.Rand(template+" in kernels", from)
			engine := libraryEngine(r)
			var graphs []*ir.Graph
			for range min(programs.PerProgram, cases-from) {
				g := draw(r)
				d, err := cuda.Emit(g, engine.options)
				if err != nil {
					t.Fatalf("%v\n%s", err, difftest.Describe(g))
				}
				last := d.Units[len(d.Units)-1]
				if !strings.HasPrefix(last.Template, template+"<") {
					t.Errorf("%s runs %q: %s\n%s", last.Node, last.Template, last.Notes, difftest.Describe(g))
				}
				graphs = append(graphs, g)
			}
			compareKernel(t, engine, difftest.Merge(template, graphs), r, 1e-5)
		})
	}
}

// TestLibraryInt8: linear nodes on codes of up to 8 bits run the product of bytes, with every rounding and overflow.
func TestLibraryInt8(t *testing.T) {
	runLibrary(t, "int8", libraryCases, func(r *rand.Rand) *ir.Graph {
		x := format.Fixed{W: 1 + r.IntN(8), F: r.IntN(9), Signed: r.IntN(2) == 0}
		w := format.Fixed{W: 1 + r.IntN(8), F: r.IntN(9), Signed: true}
		y := format.Fixed{W: 1 + r.IntN(8), F: r.IntN(12) - 2, Signed: r.IntN(2) == 0, Round: format.Round(r.IntN(9)),
			Over: format.Over(r.IntN(3))}
		if r.IntN(4) == 0 {
			y.W = 9 + r.IntN(23)
		}
		var xf, wf, yf format.Format = x, w, y
		if r.IntN(3) == 0 {
			xf = format.Affine{W: x.W, Signed: x.Signed, Zero: int64(r.IntN(40) - 20), Scale: 0.02, Axis: format.PerTensor}
			wf = format.Affine{W: w.W, Signed: true, Scale: 0.013, Axis: format.PerTensor}
			yf = format.Affine{W: 8, Signed: y.Signed, Zero: int64(r.IntN(300) - 150), Scale: 0.4, Axis: format.PerTensor}
		}
		m, n, k := sizeOf(r, 40), sizeOf(r, 140), sizeOf(r, 300)
		return linearOf(r, xf, wf, yf, m, n, k)
	})
}

// TestLibraryWindow: linear nodes over blocks of 32 run the product into a window, of any width and place.
func TestLibraryWindow(t *testing.T) {
	runLibrary(t, "mx_window", libraryCases, func(r *rand.Rand) *ir.Graph {
		m, n, k := sizeOf(r, 40), sizeOf(r, 140), sizeOf(r, 300)
		var x, w format.Format = format.NewMXInt(2+r.IntN(7), 32), format.NewMXInt(2+r.IntN(7), 32)
		mean := 0 // of the exponents of products
		switch r.IntN(4) {
		case 0:
			x, mean = format.Fixed{W: 2 + r.IntN(7), F: 4, Signed: true}, 2
		case 1:
			w = format.Fixed{W: 8, F: 6, Signed: true}
		}
		y := format.Fixed{W: 4 + r.IntN(45), Signed: true, Round: format.RoundFloor}
		y.F = min(y.W, 24) - 6 - mean + r.IntN(8) - 4
		g := linearOf(r, x, w, y, m, n, k)
		if r.IntN(2) > 0 { // the scales of data from a cast are known
			castFrom(g, format.Fixed{W: 8 + r.IntN(8), F: 6, Signed: true})
		}
		return g
	})
}

// TestLibraryPixels: convolutions that take each pixel by itself are products too.
func TestLibraryPixels(t *testing.T) {
	for _, template := range []string{"int8", "mx_window"} {
		runLibrary(t, template, libraryCases/2, func(r *rand.Rand) *ir.Graph {
			fixed := format.Fixed{W: 8, F: 4, Signed: true}
			y := format.Fixed{W: 20, F: 6, Signed: true, Round: format.RoundFloor}
			n, k := sizeOf(r, 140), sizeOf(r, 140)
			g := linearOf(r, fixed, fixed, y, 1, n, k)
			if template == "mx_window" {
				g = linearOf(r, format.NewMXInt(8, 32), format.NewMXInt(8, 32), y, 1, n, k)
			}
			convolved(g, []int{1 + r.IntN(5), 1 + r.IntN(5), k}, geometry.Window{Kernel: []int{1, 1}, Strides: []int{1, 1},
				Pads: make([]int, 4), Dilations: []int{1, 1}})
			return g
		})
	}
}

// convolved makes a linear graph a convolution of an image, rows by columns by channels.
func convolved(g *ir.Graph, image []int, w geometry.Window) {
	x, y := g.In[0], g.Out[0].Node
	w.ChannelsLast = true
	out, last := y.Args[1].Type.Shape[0], len(image)-1
	x.Type.Shape = append([]int{1}, image...)
	y.Args[1].Type.Shape = append(append([]int{out}, w.Kernel...), image[last])
	y.Op, y.Attrs, y.Type.Shape = sum.Conv, &sum.ConvAttrs{Groups: 1, Window: w}, []int{1}
	for i, k := range w.Kernel {
		seen := image[i] + w.Pads[i] + w.Pads[i+last] - (k-1)*w.Dilations[i] - 1
		y.Type.Shape = append(y.Type.Shape, seen/w.Strides[i]+1)
	}
	y.Type.Shape = append(y.Type.Shape, out)
}

// TestLibraryConvolutions: convolutions of codes run the product of windows, whichever code is zero beyond the image.
func TestLibraryConvolutions(t *testing.T) {
	runLibrary(t, "conv8", libraryCases, convolutionOf)
}

// convolutionOf is a convolution of codes with a window of more than one pixel.
func convolutionOf(r *rand.Rand) *ir.Graph {
	var x, y format.Format = format.Fixed{W: 1 + r.IntN(8), F: 4, Signed: r.IntN(2) == 0}, format.Fixed{W: 8, F: 1,
		Signed: true, Round: format.Round(r.IntN(9)), Over: format.Over(r.IntN(3))}
	if r.IntN(3) > 0 {
		signed := r.IntN(2) == 0
		x = format.Affine{W: 8, Signed: signed, Scale: 0.02, Axis: format.PerTensor,
			Zero: int64(r.IntN(256)) - map[bool]int64{true: 128}[signed]}
		y = format.Affine{W: 8, Signed: true, Zero: int64(r.IntN(40) - 20), Scale: 0.4, Axis: format.PerTensor}
	}
	var window geometry.Window
	var image []int
	k := []int{1, 3, 8, 16, 20, 32}[r.IntN(6)]
	in := k
	for axis := range 1 + min(1, r.IntN(4)) {
		window.Kernel = append(window.Kernel, 2-axis+r.IntN(3))
		window.Strides = append(window.Strides, 1+r.IntN(3))
		window.Dilations = append(window.Dilations, 1+r.IntN(2))
		image = append(image, 7+r.IntN(6))
		in *= window.Kernel[axis]
	}
	for range 2 * len(image) {
		window.Pads = append(window.Pads, r.IntN(4))
	}
	g := linearOf(r, x, format.Fixed{W: 8, F: 6, Signed: true}, y, 1, sizeOf(r, 140), in)
	convolved(g, append(image, k), window)
	return g
}

// TestLibraryCasts: casts into blocks and out of them run kernels of the library, those in between too.
func TestLibraryCasts(t *testing.T) {
	runLibrary(t, "cast", libraryCases, func(r *rand.Rand) *ir.Graph {
		fixed := func(w int) format.Fixed {
			return format.Fixed{W: w, F: r.IntN(20) - 4, Signed: r.IntN(3) > 0, Round: format.Round(r.IntN(9)),
				Over: format.Over(r.IntN(3))}
		}
		blocks := format.NewMXInt(2+r.IntN(15), []int{8, 16, 32, 33, 64}[r.IntN(5)])
		blocks.Round = format.Round(r.IntN(9))
		node := func(name string, o *ir.Op, f format.Format, args ...*ir.Node) *ir.Node {
			return &ir.Node{Name: name, Op: o, Args: args, Type: ir.Type{Shape: args[0].Type.Shape, Format: f}}
		}
		x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}}
		x.Type = ir.Type{Shape: []int{sizeOf(r, 20), sizeOf(r, 140)}, Format: fixed(2 + r.IntN(40))}
		b := node("b", pointwise.Cast, blocks, x)
		y := node("y", pointwise.Cast, fixed(1+r.IntN(48)), b)
		return &ir.Graph{Name: "casts", Nodes: []*ir.Node{x, b, y}, In: []*ir.Node{x}, Stage: ir.StageQuantized,
			Out: []ir.Output{{Name: "b", Node: b}, {Name: "y", Node: y}}}
	})
}

// TestLibraryFloats: softmax and norms along rows, functions and sums of floats run kernels of the library.
func TestLibraryFloats(t *testing.T) {
	runLibrary(t, "softmax", libraryCases, func(r *rand.Rand) *ir.Graph {
		cols := sizeOf(r, 140)
		if r.IntN(4) == 0 {
			cols = 1000 + r.IntN(9000)
		}
		return floatGraph(sizeOf(r, 20), cols, func(x, _ *ir.Node) *ir.Node {
			return &ir.Node{Op: norm.Softmax, Args: []*ir.Node{x}, Attrs: &column.AxisAttrs{Axis: 1}}
		})
	})
	for _, o := range []*ir.Op{norm.LayerNorm, norm.RMSNorm} {
		runLibrary(t, o.Name, libraryCases, func(r *rand.Rand) *ir.Graph {
			cols := sizeOf(r, 140) + 3
			if r.IntN(4) == 0 {
				cols = 1000 + r.IntN(2000)
			}
			g := floatGraph(sizeOf(r, 20), cols, func(x, _ *ir.Node) *ir.Node {
				return &ir.Node{Op: o, Args: []*ir.Node{x}, Attrs: &norm.Attrs{Axis: -1, Eps: 1e-3}}
			})
			y := g.Out[0].Node
			for _, name := range []string{"scale", "bias"}[:r.IntN(o.Arity[1])] {
				c := &ir.Node{Name: name, Op: leaf.Const, Type: ir.Float(cols),
					Attrs: &ir.Const{Data: difftest.RandomFloats(r, cols)}}
				y.Args, g.Nodes = append(y.Args, c), append([]*ir.Node{c}, g.Nodes...)
			}
			g.In = y.Args[:1]
			return g
		})
	}
	functions := []*ir.Op{pointwise.Relu, curve.Gelu, curve.GeluTanh, curve.Sigmoid, curve.Tanh, curve.Softplus,
		curve.Silu, curve.Erf, curve.Exp, pointwise.Add,
		pointwise.Sub, pointwise.Mul, pointwise.Max}
	runLibrary(t, "chain", 2*libraryCases, func(r *rand.Rand) *ir.Graph {
		o := functions[r.IntN(len(functions))]
		return floatGraph(sizeOf(r, 20), sizeOf(r, 140), func(x, z *ir.Node) *ir.Node {
			n := &ir.Node{Op: o, Args: []*ir.Node{x, z}[:o.Arity[1]]}
			if o.Attrs != nil {
				n.Attrs = &curve.AlphaAttrs{Alpha: 1}
			}
			return n
		})
	})
}

// floatGraph is one node y over one or two inputs of that shape.
func floatGraph(rows, cols int, make func(x, z *ir.Node) *ir.Node) *ir.Graph {
	in := func(name string) *ir.Node {
		return &ir.Node{Name: name, Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(rows, cols)}
	}
	y := make(in("x"), in("z"))
	y.Name, y.Type = "y", y.Args[0].Type
	return &ir.Graph{Name: "floats", In: y.Args, Nodes: append(append([]*ir.Node{}, y.Args...), y),
		Out: []ir.Output{{Name: "y", Node: y}}}
}

// castFrom puts a cast from f before the data in blocks of a linear graph.
func castFrom(g *ir.Graph, f format.Format) {
	x, y := g.In[0], g.Out[0].Node
	if _, blocks := x.Type.Format.(format.MXInt); !blocks {
		return
	}
	in := &ir.Node{Name: "in", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: x.Type.Shape, Format: f}}
	cast := &ir.Node{Name: "x", Op: pointwise.Cast, Args: []*ir.Node{in}, Type: x.Type}
	y.Args[0], g.In[0], g.Nodes[0] = cast, in, cast
	g.Nodes = append([]*ir.Node{in}, g.Nodes...)
}

// linearOf is a linear node over m rows with weights of full range and, often, a bias.
func linearOf(r *rand.Rand, x, w, y format.Format, m, n, k int) *ir.Graph {
	in := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{m, k}, Format: x}}
	weights := &ir.Node{Name: "w", Op: leaf.Const, Type: ir.Type{Shape: []int{n, k}, Format: w}}
	weights.Attrs = &ir.Const{Data: ir.CodeBlob(randomCodes(r, n*k, w.Width(), format.SignedCodes(w)))}
	if _, blocks := w.(format.MXInt); blocks {
		for range weights.Type.Blocks() {
			weights.Type.Scales = append(weights.Type.Scales, float32(math.Ldexp(1, r.IntN(12)-8)))
		}
	}
	node := &ir.Node{Name: "y", Op: sum.Linear, Args: []*ir.Node{in, weights},
		Type: ir.Type{Shape: []int{m, n}, Format: y}}
	nodes := []*ir.Node{in, weights}
	if r.IntN(3) > 0 {
		f := format.Fixed{W: 12, F: r.IntN(10), Signed: true}
		b := &ir.Node{Name: "b", Op: leaf.Const, Type: ir.Type{Shape: []int{n}, Format: f},
			Attrs: &ir.Const{Data: ir.CodeBlob(randomCodes(r, n, 12, true))}}
		node.Args, nodes = append(node.Args, b), append(nodes, b)
	}
	return &ir.Graph{Name: "linear", Nodes: append(nodes, node), In: []*ir.Node{in},
		Out: []ir.Output{{Name: "y", Node: node}}, Stage: ir.StageQuantized}
}

// randomCodes are codes of the given width, the extremes often among them.
func randomCodes(r *rand.Rand, n, width int, signed bool) []int64 {
	out := make([]int64, n)
	for i := range out {
		v := r.Int64N(1 << width)
		switch r.IntN(12) {
		case 0:
			v = 1<<(width-1) - 1
		case 1:
			v = 1 << (width - 1)
		}
		if signed && v >= 1<<(width-1) {
			v -= 1 << width
		}
		out[i] = v
	}
	return out
}
