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
	for _, c := range [...]struct{ name, old, new, code, where string }{
		{"no head", "lathe 1\n", "", codeSyntax, ":1:1"},
		{"version", "lathe 1", "lathe 2", codeSyntax, ":1:7"},
		{"stage", "float(", "folat(", codeValue, "did you mean float?"},
		{"input twice", "(%x)", "(%x, %x)", codeTwice, ":2:24"},
		{"input without node", "(%x)", "(%x, %z)", codeUndefined, `"z"`},
		{"operation", "leaky_relu", "leaky_rel", codeOp, "did you mean leaky_relu?"},
		{"undefined", "(%0)", "(%00)", codeUndefined, ":6:19"},
		{"defined twice", "%r =", "%x =", codeTwice, ":6:3"},
		{"attribute", "alpha", "alhpa", codeField, "did you mean alpha?"},
		{"attribute twice", "alpha = 0.1", "alpha = 0.1, alpha = 1", codeField, "twice"},
		{"attribute value", "= 0.1", "= x", codeValue, "float32"},
		{"attribute range", "= 0.1", "= 1e39", codeValue, ":6:32"},
		{"hardware", "in_lanes", "in_lane", codeField, "did you mean in_lanes?"},
		{"style", "= fold", "= folded", codeValue, "fold or unroll"},
		{"truth", "known = true", "known = 2", codeValue, "bool"},
		{"truth letter", "known = true", "known = t", codeValue, "bool"},
		{"shape", "1x2 fp32 hw", "1y2 fp32 hw", codeType, ":5:25"},
		{"shape size", "1x2 fp32 hw", "99999999x99999999 fp32 hw", codeType, "2^33"},
		{"format", "fp32 hw", "fp23 hw", "L0502", ":5:29"},
		{"scales", "fp32 hw", "fp32{1,x} hw", codeType, "list of scales"},
		{"element", "-0.5", "minus", codeValue, ":4:30"},
		{"element type", "data = f32", "data = f33", codeSyntax, "element type"},
		{"missing data", "[1, -0.5, 2, 0.25]", "sha256:" + strings.Repeat("0", 64), codeData, ".lathe"},
		{"short digest", "[1, -0.5, 2, 0.25]", "sha256:00", codeValue, "64"},
		{"string", `"m.onnx: x (input)"`, `"m.onnx`, codeSyntax, "does not end"},
		{"name", "%r =", "% =", codeSyntax, "name is missing"},
		{"cut off", "  return", "", codeSyntax, ":7:"},
		{"behind the end", "%0\n}\n", "%0\n}\ngraph\n", codeSyntax, "data"},
		{"output of nothing", "%0\n}", "%q\n}", codeUndefined, ":8:13"},
		{"output name", "y = %r", "%y = %r", codeSyntax, ":7:10"},
		{"perm", "perm [0, 1]", "perm [0, a]", codeValue, "int"},
		{"bad character", "(%x, %w)", "(%x; %w)", codeSyntax, `";"`},
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
		if _, err := Parse("small.txt", strings.Replace(src, c[0], c[1], 1), nil); diag.CodeOf(err) != codeData {
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
