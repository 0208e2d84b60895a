// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// permuted is a graph whose input and output are transposed against the caller's arrays: x is 1x2x3 outside.
func permuted() *ir.Graph {
	f := format.Fixed{W: 8, F: 1, Signed: true}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{Perm: []int{0, 2, 1}},
		Type: ir.Type{Shape: []int{1, 3, 2}, Format: f}}
	return &ir.Graph{Name: "g", Stage: ir.StageQuantized, In: []*ir.Node{x}, Nodes: []*ir.Node{x},
		Out: []ir.Output{{Name: "y", Node: x, Perm: []int{0, 2, 1}}}}
}

// TestArraysKeepTheCallersLayout sends arrays in and out of a transposed graph: values come back where they were.
func TestArraysKeepTheCallersLayout(t *testing.T) {
	g := permuted()
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	x := []float32{1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6.5}
	for _, shape := range [][]int{{2, 2, 3}, {2, 1, 2, 3}} {
		path := filepath.Join(t.TempDir(), "x.npz")
		if err := npz.Write(path, []npz.Array{npz.Float32Array("x", shape, x)}); err != nil {
			t.Fatal(err)
		}
		file, err := npz.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		samples, batch, err := driver.Samples(g, file)
		if err != nil || len(samples) != 2 || !slices.Equal(samples[0][0].Codes, []int64{2, 8, 4, 10, 6, 12}) {
			t.Fatalf("%v: %d samples, %v", shape, len(samples), err)
		}
		out, err := driver.Arrays(g, samples, batch, false)
		if err != nil || !slices.Equal(out[0].Float32s(), x) || !slices.Equal(out[0].Shape, shape) {
			t.Errorf("%v: %v came back in %v, %v", shape, out[0].Float32s(), out[0].Shape, err)
		}
	}
}

// TestSamplesInUnits: channels of the last axis of the value are brought to the unit of the input.
func TestSamplesInUnits(t *testing.T) {
	g := permuted()
	g.In[0].Attrs.(*ir.Input).Exponents = []int{1, -1}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	x := []float32{1, 2, 3, 4, 5, 6}
	if err := npz.Write(path, []npz.Array{npz.Float32Array("x", []int{1, 2, 3}, x)}); err != nil {
		t.Fatal(err)
	}
	file, err := npz.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	samples, _, err := driver.Samples(g, file)
	want := []int64{4, 4, 8, 5, 12, 6} // of 1, 4, 2, 5, 3, 6 in steps of 0.5
	if err != nil || !slices.Equal(samples[0][0].Codes, want) {
		t.Errorf("%v, %v", samples, err)
	}
	floats := ir.NewTensor(ir.Float(1, 2, 3))
	copy(floats.Floats, x)
	if s := pass.Enter(g, ref.Sample{floats}); !slices.Equal(s[0].Codes, want) || !slices.Equal(floats.Floats, x) {
		t.Errorf("%v of %v", s[0].Codes, floats.Floats)
	}
	g.In[0].Attrs.(*ir.Input).Exponents = []int{1, -1, 0}
	if err := g.Check(); diag.CodeOf(err) != diag.ArgumentShapes {
		t.Errorf("3 exponents for 2 channels: %v", err)
	}
}

// TestNonfinite: what a plan lets saturate does.
func TestNonfinite(t *testing.T) {
	values := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0.5}
	for text, want := range map[string][]int64{"fixed(4,1)": {0, 7, -8, 1}, "fixed(4,1,over=wrap)": {0, 7, -8, 1},
		"e4m3": {0, 0x7e, 0xfe, 0x30}, "mxint(8,2)": {0, 127, -127, 0}} {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{Saturates: true},
			Type: ir.Type{Shape: []int{4}, Format: f}}
		g := &ir.Graph{Stage: ir.StageQuantized, In: []*ir.Node{x}, Nodes: []*ir.Node{x}}
		file := &npz.File{Path: "x.npz", Arrays: []npz.Array{npz.Float32Array("x", []int{1, 4}, values)}}
		samples, _, err := driver.Samples(g, file)
		if err != nil || !slices.Equal(samples[0][0].Codes, want) {
			t.Errorf("%s: %v, %v, want %v", text, samples, err, want)
		}
	}
}

// TestSamplesAreRefused names wrong shapes and values that are no numbers.
func TestSamplesAreRefused(t *testing.T) {
	for _, c := range []struct {
		code  diag.Code
		shape []int
		x     []float32
	}{
		{"L0910", []int{2, 3, 2}, make([]float32, 12)},
		{"L0912", []int{1, 2, 3}, []float32{0, 0, 0, 0, float32(nan()), 0}},
		{"L0912", []int{1, 2, 3}, []float32{0, 0, 0, 0, float32(math.Inf(-1)), 0}},
	} {
		path := filepath.Join(t.TempDir(), "x.npz")
		if err := npz.Write(path, []npz.Array{npz.Float32Array("x", c.shape, c.x)}); err != nil {
			t.Fatal(err)
		}
		file, err := npz.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := driver.Samples(permuted(), file); diag.CodeOf(err) != c.code {
			t.Errorf("%v: %v, not %s", c.shape, err, c.code)
		}
	}
}

// TestInfiniteMask lets -Inf into a float graph: masks that are added hold it.
func TestInfiniteMask(t *testing.T) {
	g := permuted()
	g.Stage, g.In[0].Type.Format = ir.StageFloat, format.FP32
	x := []float32{0, 0, 0, 0, float32(math.Inf(-1)), 0}
	got, _, err := driver.Samples(g, &npz.File{Arrays: []npz.Array{npz.Float32Array("x", []int{1, 2, 3}, x)}})
	if err != nil || !math.IsInf(float64(got[0][0].Floats[3]), -1) {
		t.Errorf("%v, %v", got, err)
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// TestRandomSamplesDiffer holds inputs of one type to values of their own, and a seed to its values.
func TestRandomSamplesDiffer(t *testing.T) {
	g := permuted()
	second := *g.In[0]
	second.Name = "x2"
	g.In, g.Nodes = append(g.In, &second), append(g.Nodes, &second)
	a, err := driver.RandomSamples(g, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := driver.RandomSamples(g, 5, 1)
	c, _ := driver.RandomSamples(g, 5, 2)
	codes := func(s []ref.Sample, input int) (all []int64) {
		for _, v := range s {
			all = append(all, v[input].Codes...)
		}
		return all
	}
	if slices.Equal(codes(a, 0), codes(a, 1)) || !slices.Equal(codes(a, 0), codes(b, 0)) ||
		slices.Equal(codes(a, 0), codes(c, 0)) {
		t.Errorf("inputs %v and %v; seeds %v, %v", codes(a, 0), codes(a, 1), codes(b, 0), codes(c, 0))
	}
}

// TestCodesOfBlocks: an output in blocks has two arrays of codes, elements and scale bytes.
func TestCodesOfBlocks(t *testing.T) {
	m := format.NewMXInt(8, 2)
	n := &ir.Node{Name: "y", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{1, 3}, Format: m}}
	g := &ir.Graph{In: []*ir.Node{n}, Nodes: []*ir.Node{n}, Out: []ir.Output{{Name: "y", Node: n}}}
	value := ir.EncodeFloats(n.Type, []float32{1, 0.5, -3})
	arrays, err := driver.Arrays(g, []ref.Sample{{value}, {value}}, driver.Batch{Samples: 2}, true)
	if err != nil || len(arrays) != 2 {
		t.Fatal(len(arrays), err)
	}
	if y, s := arrays[0].Float32s(), arrays[1].Float32s(); arrays[1].Name != "y_scale" ||
		!slices.Equal(y[:3], []float32{64, 32, -96}) || !slices.Equal(s, []float32{127, 128, 127, 128}) {
		t.Errorf("%s: %v, %v", arrays[1].Name, y, s)
	}
	g.Out[0].Perm = []int{1, 0}
	if _, err := driver.Arrays(g, []ref.Sample{{value}}, driver.Batch{Samples: 1}, true); diag.CodeOf(err) != "L0913" {
		t.Errorf("a transposed output: %v", err)
	}
	g.Stage = ir.StageQuantized
	if err := driver.HasCodes("m.onnx", g); diag.CodeOf(err) != "L0913" || !strings.HasPrefix(err.Error(), "m.onnx: ") {
		t.Errorf("a transposed output, found early: %v", err)
	}
	g.Out[0].Perm = nil
	if err := driver.HasCodes("m.onnx", g); err != nil {
		t.Error(err)
	}
}

// TestWholeArrays sends arrays of several types in and out of a graph of whole numbers.
func TestWholeArrays(t *testing.T) {
	for _, c := range []struct {
		format format.Format
		in     npz.Array
		out    string    // the type that comes back
		code   diag.Code // or what is wrong
	}{
		{ir.Int64, npz.WholeArray("x", "int32", []int{2, 2}, []int64{-5, 1 << 30, 0, 7}), "int64", ""},
		{ir.Int64, npz.Int64Array("x", []int{2, 2}, []int64{-1 << 63, 1<<63 - 1, 0, 7}), "int64", ""},
		{ir.Int32, npz.Float32Array("x", []int{2, 2}, []float32{1, -2, 3, 4}), "int32", ""},
		{ir.Int32, npz.Float32Array("x", []int{2, 2}, []float32{1, -2.5, 3, 4}), "", "L0908"},
		{ir.Uint8, npz.Int64Array("x", []int{2, 2}, []int64{0, 255, 1, 2}), "uint8", ""},
		{ir.Uint8, npz.Int64Array("x", []int{2, 2}, []int64{0, 256, 1, 2}), "", "L0336"},
		{ir.Int8, npz.Int64Array("x", []int{2, 2}, []int64{-128, 127, 1, 2}), "int8", ""},
		{ir.Bool, npz.WholeArray("x", "bool", []int{2, 2}, []int64{1, 0, 0, 1}), "bool", ""},
		{ir.Bool, npz.Int64Array("x", []int{2, 2}, []int64{1, 0, 0, 2}), "", "L0336"},
	} {
		x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{2}, Format: c.format}}
		g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x}, Out: []ir.Output{{Name: "y", Node: x}}}
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		samples, batch, err := driver.Samples(g, &npz.File{Path: "x.npz", Arrays: []npz.Array{c.in}})
		if diag.CodeOf(err) != c.code {
			t.Errorf("%s of %s: %v, not %q", c.format, c.in.DType, err, c.code)
		}
		if c.code != "" {
			continue
		}
		out, err := driver.Arrays(g, samples, batch, false)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := c.in.Int64s()
		if have, _ := out[0].Int64s(); out[0].DType != c.out || !slices.Equal(have, want) {
			t.Errorf("%s of %s: %s %v, want %s %v", c.format, c.in.DType, out[0].DType, have, c.out, want)
		}
	}
}

// TestRandomPositions: positions lie on the axis that they are gathered from, also behind a conversion.
func TestRandomPositions(t *testing.T) {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{50}, Format: ir.Int32}}
	wide, err := ir.NewNode(whole.Convert, "wide", "", &whole.ConvertAttrs{To: ir.I64}, x)
	if err != nil {
		t.Fatal(err)
	}
	table := &ir.Node{Name: "w", Op: leaf.Const, Attrs: &ir.Const{Data: ir.FloatBlob([]float32{1, 2, 3})},
		Type: ir.Float(3)}
	y, err := ir.NewNode(whole.Gather, "y", "", &column.AxisAttrs{}, table, wide)
	if err != nil {
		t.Fatal(err)
	}
	g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x, wide, table, y}}
	samples, err := driver.RandomSamples(g, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c := samples[0][0].Codes; slices.Min(c) != 0 || slices.Max(c) != 2 {
		t.Errorf("positions %v on an axis of 3", c)
	}
}

// TestShortSequences gives a decoder arrays of fewer tokens: they are repeated, and what it gives for those is cut off.
func TestShortSequences(t *testing.T) {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 5, 2)}
	g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x}, Out: []ir.Output{{Name: "y", Node: x}}}
	decode, frames := plan.Default(), plan.Default()
	decode.Decode = true
	for _, c := range []struct {
		shape  []int
		tokens int
	}{{[]int{2, 3, 2}, 3}, {[]int{2, 1, 3, 2}, 3}, {[]int{1, 3, 2}, 3}, {[]int{2, 5, 2}, 0}, {[]int{2, 6, 2}, 0},
		{[]int{2, 0, 2}, 0}, {[]int{2, 3, 1}, 0}} {
		values := make([]float32, ir.Float(c.shape...).Elems())
		for i := range values {
			values[i] = float32(i)
		}
		f := &npz.File{Path: "x.npz", Arrays: []npz.Array{npz.Float32Array("x", c.shape, values)}}
		if same, tokens := driver.Filled(g, frames, f); same != f || tokens != 0 {
			t.Errorf("%v: filled for a design of whole frames", c.shape)
		}
		filled, tokens := driver.Filled(g, decode, f)
		if tokens != c.tokens {
			t.Errorf("%v: %d tokens, want %d", c.shape, tokens, c.tokens)
		}
		if tokens == 0 {
			continue
		}
		samples, batch, err := driver.Samples(g, filled)
		if err != nil || !slices.Equal(samples[0][0].Floats, []float32{0, 1, 2, 3, 4, 5, 0, 1, 2, 3}) {
			t.Fatalf("%v: %v, %v", c.shape, samples, err)
		}
		out, err := driver.Arrays(g, samples, batch, false)
		if err != nil {
			t.Fatal(err)
		}
		if driver.FirstTokens(g, out, tokens); !slices.Equal(out[0].Shape, c.shape) ||
			!slices.Equal(out[0].Float32s(), values) {
			t.Errorf("%v: %v came back in %v", c.shape, out[0].Float32s(), out[0].Shape)
		}
	}
}
