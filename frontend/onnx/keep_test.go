// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/ir"
)

// keeperCases are operations between quantization and dequantization: q are codes of x, q2 those of -x in the same
// scale, and c is what the operation makes of them.
var keeperCases = []struct {
	name  string
	node  pb
	inits []pb
}{
	{"resize", nd("Resize", "q _ f", "c", aStr("mode", "nearest"), aStr("coordinate_transformation_mode", "asymmetric"),
		aStr("nearest_mode", "floor")), []pb{ft("f", d(4), 1, 1, 2, 2)}},
	{"pad", nd("Pad", "q p", "c"), []pb{it("p", 0, 0, 1, 0, 0, 0, 0, 2)}},
	{"pad by a code", nd("Pad", "q p v", "c"), []pb{it("p", 0, 0, 1, 0, 0, 0, 0, 2), i8("v", nil, 9)}},
	{"pad by the edge", nd("Pad", "q p", "c", aStr("mode", "edge")), []pb{it("p", 0, 0, 1, 0, 0, 0, 0, 2)}},
	{"tile", nd("Tile", "q t", "c"), []pb{it("t", 1, 2, 1, 1)}},
	{"expand", nd("Expand", "q e", "c"), []pb{it("e", 2, 1, 4, 4, 4)}},
	{"depth to space", nd("DepthToSpace", "q", "c", aInt("blocksize", 2)), nil},
	{"space to depth", nd("SpaceToDepth", "q", "c", aInt("blocksize", 2)), nil},
	{"gather", nd("Gather", "q i", "c", aInt("axis", 1)), []pb{it("i", 3, 0, 1)}},
	{"slice", nd("Slice", "q b e a", "c"), []pb{it("b", 1), it("e", 3), it("a", 2)}},
	{"split", nd("Split", "q k", "c c2", aInt("axis", 1)), []pb{it("k", 1, 3)}},
	{"transpose", nd("Transpose", "q", "c", aInts("perm", 0, 2, 3, 1)), nil},
	{"concat", nd("Concat", "q q2", "c", aInt("axis", 1)), nil},
	{"concat with a constant", nd("Concat", "q k", "c", aInt("axis", 1)), []pb{i8("k", d(1, 1, 4, 4), byteRamp(16)...)}},
	{"maximum", nd("Max", "q q2", "c"), nil},
	{"where", nd("Where", "m q q2", "c"), []pb{codesTensor("m", 9, d(4, 1), "\x00\x01\x01\x00")}},
	{"max pool", nd("MaxPool", "q", "c", aInts("kernel_shape", 2, 2), aInts("pads", 1, 0, 0, 1)), nil},
	{"reduce max", nd("ReduceMax", "q a", "c"), []pb{it("a", 3)}},
	{"top", nd("TopK", "q t", "c c2", aInt("axis", 1)), []pb{it("t", 2)}},
}

// TestKeepers: what only moves or compares codes does the same to the numbers behind them, and needs no whole numbers.
func TestKeepers(t *testing.T) {
	x := vi("x", 1, 4, 4, 4)
	params := []pb{ft("s", nil, 0.05), i8("z", nil, -3)}
	pair := []pb{nd("QuantizeLinear", "x s z", "q"), nd("Neg", "x", "n"), nd("QuantizeLinear", "n s z", "q2")}
	for _, c := range keeperCases {
		inits := slices.Concat(params, c.inits)
		behind := nd("DequantizeLinear", "c s z", "y")
		g := parsed(t, chain(18, x, inits, slices.Concat(pair, []pb{c.node, behind})...))
		for _, n := range g.Nodes {
			if strings.Contains(n.Op.Name, "convert") || ir.IsWhole(n.Type.Format) && !n.IsConst() {
				t.Errorf("%s: %s (%s) computes with whole numbers", c.name, n.Name, n.Op.Name)
			}
		}
		// The same on whole numbers: casts hide where the codes come from.
		hidden := []pb{nd("QuantizeLinear", "x s z", "r"), nd("Neg", "x", "n"), nd("QuantizeLinear", "n s z", "r2"),
			nd("Cast", "r", "w", aInt("to", 7)), nd("Cast", "w", "q", aInt("to", 3)),
			nd("Cast", "r2", "w2", aInt("to", 7)), nd("Cast", "w2", "q2", aInt("to", 3))}
		if c.name == "resize" || c.name == "max pool" {
			continue // not on whole numbers
		}
		slow := parsed(t, chain(18, x, inits, slices.Concat(hidden, []pb{c.node, behind})...))
		values := ramp(64, 3)
		got, want := evaluate(t, g, values)[0], evaluate(t, slow, values)[0]
		if !slices.Equal(got.Type.Shape, want.Type.Shape) || !slices.Equal(got.Floats, want.Floats) {
			t.Errorf("%s: %v, want %v", c.name, got.Floats, want.Floats)
		}
	}
}

// TestKeptResize: a nearest Resize of codes repeats the numbers behind them.
func TestKeptResize(t *testing.T) {
	g := parsed(t, chain(13, vi("x", 1, 1, 1, 3), []pb{ft("s", nil, 0.5), i8("z", nil, 3), ft("f", d(4), 1, 1, 1, 2)},
		nd("QuantizeLinear", "x s z", "q"), nd("Resize", "q _ f", "r", aStr("coordinate_transformation_mode", "asymmetric"),
			aStr("nearest_mode", "floor")), nd("DequantizeLinear", "r s z", "y")))
	if got := evaluate(t, g, []float32{-0.9, 0.2, 1.6})[0].Floats; !slices.Equal(got, []float32{-1, -1, 0, 0, 1.5, 1.5}) {
		t.Error(got)
	}
}

// TestPlacesOfCodes: the place of the largest code is that of the largest number, and no code itself.
func TestPlacesOfCodes(t *testing.T) {
	g := parsed(t, chain(13, vi("x", 1, 4), []pb{ft("s", nil, 0.5), i8("z", nil, 3)},
		nd("QuantizeLinear", "x s z", "q"), nd("ArgMax", "q", "y", aInt("axis", 1), aInt("keepdims", 0))))
	if got := evaluate(t, g, []float32{-1, 3, 3.1, 0})[0].Codes; !slices.Equal(got, []int64{1}) {
		t.Error(got)
	}
	for _, n := range g.Nodes {
		if n.Op.Name == "convert" {
			t.Errorf("%s computes codes", n.Name)
		}
	}
}

// TestOtherScales: codes of two scales, joined, are whole numbers, which the one scale behind decodes.
func TestOtherScales(t *testing.T) {
	g := parsed(t, chain(13, vi("x", 1, 2), []pb{ft("s", nil, 0.5), ft("s2", nil, 0.25), i8("z", nil, 0)},
		nd("QuantizeLinear", "x s z", "q"), nd("QuantizeLinear", "x s2 z", "q2"),
		nd("Concat", "q q2", "c", aInt("axis", 1)), nd("DequantizeLinear", "c s z", "y")))
	if got := evaluate(t, g, []float32{-1, 2})[0].Floats; !slices.Equal(got, []float32{-1, 2, -2, 4}) {
		t.Error(got)
	}
}

// parsed imports a sound model.
func parsed(t *testing.T, m testModel) *ir.Graph {
	t.Helper()
	g, err := Parse("m.onnx", m.bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
