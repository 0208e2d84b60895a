// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/frontend/torch/pt2test"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
)

// load imports a program that must be sound.
func load(t *testing.T, text string, opts source.Options) *ir.Graph {
	t.Helper()
	g, err := Parse("m.pt2", pt2test.New(text).Archive(), opts)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return g
}

// nodes lists names, operations and shapes, but for constants.
func nodes(g *ir.Graph) string {
	var list []string
	for _, n := range g.Nodes {
		if !n.IsConst() {
			list = append(list, n.Name+":"+n.Op.Name+":"+ir.ShapeString(n.Type.Shape))
		}
	}
	return strings.Join(list, " ")
}

// run computes the outputs of a program on ramps, or on counting numbers for inputs of whole numbers.
func run(t *testing.T, g *ir.Graph) [][]float64 {
	t.Helper()
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	var sample ref.Sample
	for _, n := range g.In {
		v := ir.NewTensor(n.Type)
		for i, x := range pt2test.Ramp(n.Type.Elems()) {
			if n.Type.IsFloat() {
				v.Floats[i] = float32(x)
			} else {
				v.Codes[i] = int64(i & 1)
			}
		}
		sample = append(sample, v)
	}
	out, err := p.Run(t.Context(), []ref.Sample{sample})
	if err != nil {
		t.Fatal(err)
	}
	var values [][]float64
	for _, v := range out[0] {
		d, err := v.Decode()
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, d)
	}
	return values
}

const fc = "y f32 2x4 = linear.default input=%x weight=%fc.weight bias=%fc.bias @ fc:torch.nn.modules.linear.Linear\n" +
	"output y\n"

// TestStorage reads weights that lie in their data in all ways that a tensor may.
func TestStorage(t *testing.T) {
	const x, bias = "input x f32 2x3\n", "param fc.bias f32 4\n"
	product := func(w func(i, j int) int) (y []float64) {
		x, stored, bias := pt2test.Ramp(6), pt2test.Ramp(64), pt2test.Ramp(4)
		for n := range 2 {
			for i := range 4 {
				sum := bias[i]
				for j := range 3 {
					sum += x[3*n+j] * stored[w(i, j)]
				}
				y = append(y, sum)
			}
		}
		return y
	}
	for weight, at := range map[string]func(i, j int) int{
		"4x3":                               func(i, j int) int { return 3*i + j },
		"4x3 offset=5 elems=20":             func(i, j int) int { return 5 + 3*i + j },
		"4x3 strides=1,4 elems=12":          func(i, j int) int { return i + 4*j },
		"4x3 strides=1,4 offset=2 elems=14": func(i, j int) int { return 2 + i + 4*j },
		"4x3 strides=7,2 offset=1 elems=64": func(i, j int) int { return 1 + 7*i + 2*j },
		"4x3 strides=0,1 elems=3":           func(_, j int) int { return j },
		"4x3 strides=3,1 offset=0 data=0":   func(i, j int) int { return 3*i + j },
	} {
		g := load(t, x+"param fc.weight f32 "+weight+"\n"+bias+fc, source.Options{})
		if got, want := run(t, g)[0], product(at); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", weight, got, want)
		}
		if g.Find("fc.weight") == nil || g.Find("fc.bias") == nil {
			t.Errorf("%s: %s", weight, nodes(g))
		}
	}
}

// TestViews demands that weights are not copied, and that equal views of the same data are one constant.
func TestViews(t *testing.T) {
	data := pt2test.New("input x f32 2x4\nparam a f32 4x4 data=tied\nparam b f32 4x4 data=tied\n" +
		"h f32 2x4 = linear.default input=%x weight=%a\ny f32 2x4 = linear.default input=%h weight=%b\noutput y").Archive()
	g, err := Parse("m.pt2", data, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var constants []*ir.Node
	for _, n := range g.Nodes {
		if n.IsConst() {
			constants = append(constants, n)
		}
	}
	if len(constants) != 1 {
		t.Fatalf("%d constants", len(constants))
	}
	bytes := constants[0].Attrs.(*ir.Const).Data.Bytes
	before := bytes[0]
	i := strings.Index(string(data), string(bytes))
	if data[i]++; bytes[0] == before {
		t.Error("the constant is a copy")
	}
}

// TestUnsupported demands all unsupported operations in one error, with counts and places.
func TestUnsupported(t *testing.T) {
	_, err := Parse("m.pt2", pt2test.New("input x f32 2x4\n"+
		"a f32 2x4 = fft_rfft.default self=%x @ net.0:Cell\nb f32 2x4 = fft_rfft.default self=%a @ net.1:Cell\n"+
		"c f32 2x4 = my::op.default self=%b @ net.2:Cell\nd f32 2x4 = relu.default self=%c\noutput d").Archive(),
		source.Options{})
	if diag.CodeOf(err) != diag.UnsupportedOps || strings.Count(err.Error(), string(diag.UnsupportedOps)) != 1 {
		t.Fatal(err)
	}
	for _, want := range []string{"2 operations in 3 places", "fft_rfft.default: at net.0.a, net.1.b",
		"my::op.default: at net.2.c"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}

// TestTable demands that no operation stands twice in the table.
func TestTable(t *testing.T) {
	all := Operations()
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			t.Errorf("%s stands twice", all[i])
		}
	}
	if len(all) < 200 {
		t.Errorf("%d operations", len(all))
	}
}

// TestLinearVector: one output feature, whose axis the weights lack, has a bias, too.
func TestLinearVector(t *testing.T) {
	g := load(t, "input x f32 2x4\nparam w f32 4\nparam b f32 1\ny f32 2 = linear.default input=%x weight=%w bias=%b\n"+
		"output y", source.Options{})
	if have := nodes(g); !strings.HasSuffix(have, "y:add:2") {
		t.Error(have)
	}
}

// TestSharedConstants: what a chain of constants does that are too large to be evaluated takes no time, though each is
// read twice.
func TestSharedConstants(t *testing.T) {
	var text strings.Builder
	text.WriteString("input x f32 1x1024\nparam w0 f32 1024x1032\n")
	const deep = 64
	for i := range deep {
		fmt.Fprintf(&text, "w%d f32 1024x1032 = add.Tensor self=%%w%d other=%%w%d\n", i+1, i, i)
	}
	fmt.Fprintf(&text, "y f32 1x1032 = matmul.default self=%%x other=%%w%d\noutput y", deep)
	g := load(t, text.String(), source.Options{})
	if last := g.Out[0].Node; last.Op.Name != "linear" {
		t.Errorf("a product with constants is %s", last.Op.Name)
	}
}

// TestWholeBounds: bounds of whole numbers may have more digits than float32 has.
func TestWholeBounds(t *testing.T) {
	g := load(t, "input x i64 2\ny i64 2 = clamp.default self=%x min=-16777217 max=16777217\noutput y", source.Options{})
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	in := &ir.Tensor{Type: g.In[0].Type, Codes: []int64{1 << 40, -1 << 40}}
	out, err := p.Run(context.Background(), []ref.Sample{{in}})
	if err != nil || !slices.Equal(out[0][0].Codes, []int64{16777217, -16777217}) {
		t.Errorf("%v, %v", out, err)
	}
}

// TestTrunc cuts fractions off, whatever their sign.
func TestTrunc(t *testing.T) {
	for _, name := range []string{"trunc", "fix"} {
		g := load(t, "input x f32 4\ny f32 4 = "+name+".default self=%x\noutput y", source.Options{})
		p, err := ref.New(g)
		if err != nil {
			t.Fatal(err)
		}
		in := &ir.Tensor{Type: g.In[0].Type, Floats: []float32{-2.5, -0.75, 0.75, 7}}
		out, err := p.Run(context.Background(), []ref.Sample{{in}})
		if err != nil || !slices.Equal(out[0][0].Floats, []float32{-2, 0, 0, 7}) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}

// TestClampByTensors: either bound may be a tensor, and missing.
func TestClampByTensors(t *testing.T) {
	for text, want := range map[string][]float32{
		"clamp.Tensor self=%x min=%y max=%z": {0.5, 3}, "clamp.Tensor self=%x max=%z": {-1, 3},
		"clamp_min.Tensor self=%x min=%y": {0.5, 7}, "clamp_max.Tensor self=%x max=%z": {-1, 3},
	} {
		g := load(t, "input x f32 2\ninput y f32 2\ninput z f32 2\nr f32 2 = "+text+"\noutput r", source.Options{})
		p, err := ref.New(g)
		if err != nil {
			t.Fatal(err)
		}
		var in ref.Sample
		for i, v := range [][]float32{{-1, 7}, {0.5, 1}, {4, 3}} {
			in = append(in, &ir.Tensor{Type: g.In[i].Type, Floats: v})
		}
		out, err := p.Run(context.Background(), []ref.Sample{in})
		if err != nil || !slices.Equal(out[0][0].Floats, want) {
			t.Errorf("%s: %v, %v", text, err, out)
		}
	}
}
