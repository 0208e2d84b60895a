// SPDX-License-Identifier: Apache-2.0

package text

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
)

const small = `lathe 1
graph %small float(%x) {
  %x = input : 1x2 fp32 @ "m.onnx: x (input)"
  %w = const {data = f32 [1, -0.5, 2, 0.25]} : 2x2 fp32
  %0 = linear(%x, %w) : 1x2 fp32 hw {in_lanes = 2, style = fold} stats {known = true, max = 2.5}
  %r = leaky_relu(%0) {alpha = 0.1} : 1x2 fp32
  return y = %r perm [0, 1],
    "a b" = %0
}
`

func TestSmall(t *testing.T) {
	g, err := Parse("small.txt", small, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := Print(g); got != small {
		t.Errorf("printed\n%s", got)
	}
	loose := "# a comment\n" + strings.NewReplacer("\n  ", " ", ", ", ",", " = ", "=").Replace(small)
	if g, err = Parse("loose.txt", loose, nil); err != nil {
		t.Fatal(err)
	}
	if got := Print(g); got != small {
		t.Errorf("printed\n%s", got)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range [...]struct {
		name, old, new string
		code           diag.Code
		where          string
	}{
		{"no head", "lathe 1\n", "", diag.GraphSyntax, ":1:1"},
		{"version", "lathe 1", "lathe 2", diag.GraphSyntax, ":1:7"},
		{"stage", "float(", "folat(", diag.GraphValue, "did you mean float?"},
		{"input twice", "(%x)", "(%x, %x)", diag.GraphNameTwice, ":2:24"},
		{"input without node", "(%x)", "(%x, %z)", diag.GraphUndefined, `"z"`},
		{"operation", "leaky_relu", "leaky_rel", diag.UnknownOp, "did you mean leaky_relu?"},
		{"undefined", "(%0)", "(%00)", diag.GraphUndefined, ":6:19"},
		{"defined twice", "%r =", "%x =", diag.GraphNameTwice, ":6:3"},
		{"attribute", "alpha", "alhpa", diag.GraphAttribute, "did you mean alpha?"},
		{"attribute twice", "alpha = 0.1", "alpha = 0.1, alpha = 1", diag.GraphAttribute, "twice"},
		{"attribute value", "= 0.1", "= x", diag.GraphValue, "float32"},
		{"attribute range", "= 0.1", "= 1e39", diag.GraphValue, ":6:32"},
		{"hardware", "in_lanes", "in_lane", diag.GraphAttribute, "did you mean in_lanes?"},
		{"style", "= fold", "= folded", diag.GraphValue, "fold or unroll"},
		{"truth", "known = true", "known = 2", diag.GraphValue, "bool"},
		{"truth letter", "known = true", "known = t", diag.GraphValue, "bool"},
		{"shape", "1x2 fp32 hw", "1y2 fp32 hw", diag.GraphShape, ":5:25"},
		{"shape size", "1x2 fp32 hw", "99999999x99999999 fp32 hw", diag.GraphShape, "2^33"},
		{"format", "fp32 hw", "fp23 hw", "L0502", ":5:29"},
		{"scales", "fp32 hw", "fp32{1,x} hw", diag.GraphShape, "list of scales"},
		{"element", "-0.5", "minus", diag.GraphValue, ":4:30"},
		{"element type", "data = f32", "data = f33", diag.GraphSyntax, "element type"},
		{"missing data", "[1, -0.5, 2, 0.25]", "sha256:" + strings.Repeat("0", 64), diag.GraphData, ".lathe"},
		{"short digest", "[1, -0.5, 2, 0.25]", "sha256:00", diag.GraphValue, "64"},
		{"string", `"m.onnx: x (input)"`, `"m.onnx`, diag.GraphSyntax, "does not end"},
		{"name", "%r =", "% =", diag.GraphSyntax, "name is missing"},
		{"cut off", "  return", "", diag.GraphSyntax, ":7:"},
		{"behind the end", "%0\n}\n", "%0\n}\ngraph\n", diag.GraphSyntax, "data"},
		{"output of nothing", "%0\n}", "%q\n}", diag.GraphUndefined, ":8:13"},
		{"output name", "y = %r", "%y = %r", diag.GraphSyntax, ":7:10"},
		{"perm", "perm [0, 1]", "perm [0, a]", diag.GraphValue, "int"},
		{"bad character", "(%x, %w)", "(%x; %w)", diag.GraphSyntax, `";"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(small, c.old) {
				t.Fatal("the case does not change the text")
			}
			_, err := Parse("small.txt", strings.Replace(small, c.old, c.new, 1), nil)
			if diag.CodeOf(err) != c.code {
				t.Fatalf("code %s, want %s: %v", diag.CodeOf(err), c.code, err)
			}
			if !strings.Contains(err.Error(), c.where) {
				t.Errorf("no %q in: %v", c.where, err)
			}
		})
	}
}

func TestDataSection(t *testing.T) {
	g, err := Parse("small.txt", strings.Replace(small, "f32 [1, -0.5, 2, 0.25]} : 2x2", "f32 [1]} : scalar", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float32, 50)
	g.Find("w").Attrs.(*ir.Const).Data = ir.FloatBlob(values)
	src := Print(g)
	if _, err := Parse("small.txt", src, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{`"AAAA`, `"BAAA`}, {`"AAAA`, `"A*AA`}, {"data f32", "data f64"}} {
		if _, err := Parse("small.txt", strings.Replace(src, c[0], c[1], 1), nil); diag.CodeOf(err) != diag.GraphData {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// FuzzParse demands that any text is refused, or printed so that it prints the same again.
func FuzzParse(f *testing.F) {
	f.Add(small)
	for seed := range uint64(20) {
		f.Add(Print(randomGraph(rand.New(rand.NewPCG(seed, 7)))))
	}
	f.Fuzz(func(t *testing.T, src string) {
		g, err := Parse("f.txt", src, nil)
		if err != nil {
			if diag.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		first := Print(g)
		h, err := Parse("f.txt", first, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if again := Print(h); again != first {
			t.Fatalf("prints differ:\n%s\n%s", first, again)
		}
	})
}
