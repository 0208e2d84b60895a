// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"lathe/frontend/layers"
	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
	"lathe/internal/diag"
)

// TestDeclared: operators of torch.library that the user declares read numbers by the names of their schema.
func TestDeclared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ops.toml")
	text := "[[op]]\ntorch = \"mylib::squareplus\"\nattributes = { b = 4.0 }\nformula = \"(x + sqrt(x*x + $b))/2\"\n" +
		"[[op]]\ntorch = \"mylib::gain\"\ngraph = \"\"\"lathe 1\ngraph %g float(%x, %w) {\n  %x = input : 1 fp32\n" +
		"  %w = input : 1 fp32\n  %y = mul(%x, %w) : 1 fp32\n  return y = %y\n}\"\"\"\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := layers.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	opts := source.Options{Layers: file}
	const own = "torch.ops.mylib."
	plus := func(x, b float64) float64 { return (x + math.Sqrt(x*x+b)) / 2 }
	for line, f := range map[string]func(x float64) float64{
		"y f32 12 = " + own + "squareplus.default x=%x":         func(x float64) float64 { return plus(x, 4) },
		"y f32 12 = " + own + "squareplus.default x=%x b=-0.25": func(x float64) float64 { return plus(x, -0.25) },
		"y f32 12 = " + own + "gain.default x=%x w=%w":          func(x float64) float64 { return 3 * x },
	} {
		g := load(t, "input x f32 12\nparam w f32 1 values=3\n"+line+"\noutput y", opts)
		y := run(t, g)[0]
		for i, x := range pt2test.Ramp(12) {
			if want := f(x); math.Abs(y[i]-want) > 1e-6 && !(math.IsNaN(want) && math.IsNaN(y[i])) {
				t.Errorf("%s: %g of %g, want %g", line, y[i], x, want)
			}
		}
	}
	_, err = Parse("m.pt2", pt2test.New(
		"input x f32 12\ny f32 12 = "+own+"gain.default x=%x by=2.0\noutput y").Archive(), opts)
	if diag.CodeOf(err) != diag.OpsUse {
		t.Errorf("an argument that is not declared: %v", err)
	}
}
