// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// TestPayloads stores the same factors in every way that the format has.
func TestPayloads(t *testing.T) {
	le := binary.LittleEndian
	var f64, f16, bf16 []byte
	for _, v := range []float64{1, -2, 0.5} {
		f64 = le.AppendUint64(f64, math.Float64bits(v))
	}
	for _, v := range []uint16{0x3c00, 0xc000, 0x3800} {
		f16 = le.AppendUint16(f16, v)
	}
	for _, v := range []uint16{0x3f80, 0xc000, 0x3f00} {
		bf16 = le.AppendUint16(bf16, v)
	}
	one := func(v float32) string { return raw32(v) }
	for name, c := range map[string]pb{
		"raw":           head("c", 1, 3).str(9, raw32(1, -2, 0.5)),
		"packed":        head("c", 1, 3).str(4, raw32(1, -2, 0.5)),
		"unpacked":      head("c", 1, 3).f32(4, 1).f32(4, -2).f32(4, 0.5),
		"mixed":         head("c", 1, 3).f32(4, 1).str(4, one(-2)+one(0.5)),
		"packed dims":   pb(nil).packed(1, 3).int(2, 1).str(8, "c").str(9, raw32(1, -2, 0.5)),
		"double":        head("c", 11, 3).str(9, string(f64)),
		"double typed":  head("c", 11, 3).str(10, string(f64)),
		"half":          head("c", 10, 3).str(9, string(f16)),
		"half typed":    head("c", 10, 3).packed(5, 0x3c00, 0xc000, 0x3800),
		"bfloat":        head("c", 16, 3).str(9, string(bf16)),
		"bfloat single": head("c", 16, 3).int(5, 0x3f80).int(5, 0xc000).int(5, 0x3f00),
	} {
		g, err := Parse("m.onnx", single(13, vi("x", 3), nd("Mul", "x c", "y"), c).bytes(), source.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := evaluate(t, g, []float32{1, 1, 4})[0].Floats; !slices.Equal(got, []float32{1, -2, 2}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestIntegers reads integer constants of every type as a factor.
func TestIntegers(t *testing.T) {
	for name, c := range map[string]pb{
		"int8": head("c", 3, 2).str(9, "\x03\xfe"), "int8 typed": head("c", 3, 2).packed(5, 3, -2),
		"int16": head("c", 5, 2).str(9, "\x03\x00\xfe\xff"), "int32 typed": head("c", 6, 2).int(5, 3).int(5, -2),
		"int64": it("c", 3, -2), "int64 typed": head("c", 7, 2).packed(7, 3, -2),
	} {
		m := chain(13, vi("x", 2), []pb{c}, nd("Cast", "c", "f", aInt("to", 1)), nd("Mul", "x f", "y"))
		g, err := Parse("m.onnx", m.bytes(), source.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := evaluate(t, g, []float32{1, 1})[0].Floats; !slices.Equal(got, []float32{3, -2}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestViews demands that weights are views of the file, large ones in every position that an operation gives them.
func TestViews(t *testing.T) {
	data := single(13, vi("x", 2, 300), nd("Gemm", "x w", "y", aInt("transB", 1)), ft("w", d(70, 300))).bytes()
	g, err := Parse("m.onnx", data, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := g.Find("w").Attrs.(*ir.Const).Data.Bytes
	data[strings.Index(string(data), string(w[:64]))] ^= 1
	if got := g.Find("w").Attrs.(*ir.Const).Data.Bytes; got[0] != data[strings.Index(string(data), string(w[:64]))] {
		t.Error("the weights are a copy")
	}
}

// TestLargeWeights multiplies by a weight above the limit of copies: nodes on the constant take its place.
func TestLargeWeights(t *testing.T) {
	m := chain(13, vi("x", 1, 1024), []pb{ft("w", d(1024, 1025))}, nd("MatMul", "x w", "a"), nd("MatMul", "x w", "b"),
		nd("Add", "a b", "y"))
	g, err := Parse("m.onnx", m.bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, n := range g.Nodes {
		ops = append(ops, n.Op.Name)
	}
	if got := strings.Join(ops, " "); got != "input const transpose linear linear add" {
		t.Errorf("nodes %s", got)
	}
}

func TestBrokenFraming(t *testing.T) {
	ok := single(13, vi("x", 2), nd("Relu", "x", "y"))
	for name, data := range map[string][]byte{
		"tag":         {0x08, 0x08, 0x80},
		"field zero":  {0x08, 0x08, 0x00, 0x00},
		"length":      {0x08, 0x08, 0x3a, 0x7f, 0x00},
		"varint":      append([]byte{0x08}, []byte(strings.Repeat("\xff", 11))...),
		"group":       {0x08, 0x08, 0x3b, 0x3c},
		"fixed":       {0x08, 0x08, 0x3d, 0x00},
		"graph type":  {0x08, 0x08, 0x38, 0x00},
		"name type":   with(ok, pb(nil).msg(1, pb(nil).int(3, 1).str(4, "Relu"))),
		"no op":       with(ok, pb(nil).msg(1, pb(nil).str(1, "x"))),
		"no name":     with(ok, pb(nil).msg(1, nd("Relu", "x", "z", aInt("", 1)))),
		"ints":        with(ok, pb(nil).msg(1, nd("Relu", "x", "z", pb(nil).str(1, "a").str(8, "\x80")))),
		"nested long": with(ok, pb{0x0a, 0x05, 0x22, 0x7f, 0x00, 0x00, 0x00}),
	} {
		_, err := Parse("m.onnx", data, source.Options{})
		if diag.CodeOf(err) != diag.ModelBroken || !strings.Contains(err.Error(), "at byte ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := with(ok, pb(nil).msg(1, pb(nil).str(3, strings.Repeat("n", maxName+1)).str(4, "Relu")))
	if _, err := Parse("m.onnx", long, source.Options{}); diag.CodeOf(err) != diag.ModelLimit {
		t.Errorf("long name: %v", err)
	}
}

// TestNestedMessages: messages that are read have a limit of depth; those that nobody reads are passed over at once.
func TestNestedMessages(t *testing.T) {
	for _, c := range []struct {
		levels int
		code   diag.Code
	}{{maxNesting, ""}, {maxNesting + 1, diag.ModelLimit}} {
		var nested pb
		for range c.levels {
			nested = pb(nil).msg(1, nested)
		}
		var descend func(m message) error
		descend = func(m message) error {
			return m.each(func(f *field) error {
				sub, err := f.message()
				if err != nil {
					return err
				}
				return descend(sub)
			})
		}
		if err := descend(message{buf: nested}); diag.CodeOf(err) != c.code {
			t.Errorf("%d messages: %v", c.levels, err)
		}
	}
	branch, unread := pb(nil), pb(nil)
	for range 2000 {
		branch = aGraph("then_branch", "t", nd("If", "c", "t", branch))
		unread = pb(nil).msg(99, unread)
	}
	ok := single(13, vi("x", 2), nd("Relu", "x", "y"))
	for code, inside := range map[diag.Code]pb{diag.ModelLimit: pb(nil).msg(1, nd("If", "x", "z", branch)), "": unread} {
		if _, err := Parse("m.onnx", with(ok, inside), source.Options{}); diag.CodeOf(err) != code {
			t.Errorf("want %q: %.300v", code, err)
		}
	}
}

func with(m testModel, inside pb) []byte {
	m.extraInside = inside
	return m.bytes()
}

// TestTruncated cuts a model at every offset; none may load, because the opset stands at the end.
func TestTruncated(t *testing.T) {
	data := opCases()[0].model.bytes()
	big, err := os.ReadFile("../../examples/digits-cnn/model_legacy.onnx")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{data, big} {
		step := max(1, len(file)/1500)
		for n := 0; n < len(file); n += step {
			if _, err := Parse("m.onnx", file[:n], source.Options{}); diag.CodeOf(err) == "" {
				t.Fatalf("%d of %d bytes: %v", n, len(file), err)
			}
		}
	}
}

func externalTensor(name, location string, offset, length int64) pb {
	kv := func(k, v string) pb { return pb(nil).str(1, k).str(2, v) }
	t := head(name, 1, 3).int(14, 1).msg(13, kv("location", location)).msg(13, kv("offset", strconv.FormatInt(offset, 10)))
	if length >= 0 {
		t = t.msg(13, kv("length", strconv.FormatInt(length, 10)))
	}
	return t
}

func TestExternal(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "model")
	for path, data := range map[string]string{
		filepath.Join(folder, "w.bin"): "x" + raw32(1, -2, 0.5), filepath.Join(folder, "sub", "w.bin"): raw32(1, -2, 0.5),
		filepath.Join(dir, "secret.bin"): raw32(1, -2, 0.5),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out.bin": "../secret.bin", "in.bin": "sub/w.bin", "dir": ".."} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [...]struct {
		location       string
		offset, length int64
		want           string
	}{
		{"w.bin", 1, 12, ""}, {"w.bin", 1, -1, ""}, {"sub/w.bin", 0, 12, ""}, {"in.bin", 0, 12, ""},
		{"w.bin", 2, -1, "which has 13"}, {"w.bin", math.MaxInt64, -1, "which has 13"}, {"none.bin", 0, 12, "no such file"},
		{"../secret.bin", 0, 12, "model's folder"}, {filepath.Join(dir, "secret.bin"), 0, 12, "model's folder"},
		{"out.bin", 0, 12, "escapes"}, {"dir/secret.bin", 0, 12, "escapes"}, {"sub", 0, 12, "regular file"},
		{`sub\w.bin`, 0, 12, "model's folder"},
	} {
		m := single(13, vi("x", 3), nd("Mul", "x c", "y"), externalTensor("c", c.location, c.offset, c.length))
		path := filepath.Join(folder, "m.onnx")
		if err := os.WriteFile(path, m.bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := Load(path, source.Options{})
		if c.want != "" {
			if diag.CodeOf(err) != diag.ExternalData || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: want %q in: %v", c.location, c.want, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.location, err)
		} else if got := evaluate(t, g, []float32{1, 1, 1})[0].Floats; !slices.Equal(got, []float32{1, -2, 0.5}) {
			t.Errorf("%s: %v", c.location, got)
		}
	}
}

func TestBindings(t *testing.T) {
	two := testModel{opset: 13, nodes: []pb{nd("Add", "a b", "y")}, inputs: []pb{vi("a", "batch", "n"), vi("b", 1, "n")},
		outputs: []pb{vi("y")}}
	for _, c := range [...]struct {
		opts source.Options
		want string
	}{
		{source.Options{Dims: map[string]int{"n": 4}}, "1x4"},
		{source.Options{Dims: map[string]int{"n": 4, "batch": 3}}, "3x4"},
		{source.Options{Shapes: map[string][]int{"a": {2, 5}}}, "2x5"},
		{source.Options{Dims: map[string]int{"m": 4}}, `no dimension called "m"`},
		{source.Options{Dims: map[string]int{"n": 0}}, "cannot be 0"},
		{source.Options{Shapes: map[string][]int{"c": {2, 5}}}, `no input called "c"`},
		{source.Options{Shapes: map[string][]int{"a": {2}}}, "has 2 dimensions"},
		{source.Options{Shapes: map[string][]int{"b": {2, 5}}}, "is 1, not 2"},
		{source.Options{Shapes: map[string][]int{"a": {2, 5}, "b": {1, 6}}}, "is 5 and also 6"},
	} {
		g, err := Parse("m.onnx", two.bytes(), c.opts)
		if err != nil {
			if diag.CodeOf(err) != diag.BadBinding || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q in: %v", c.want, err)
			}
		} else if got := ir.ShapeString(g.Out[0].Node.Type.Shape); got != c.want {
			t.Errorf("shape %s, want %s", got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	meta := func(n pb, key, val string) pb { return n.msg(9, pb(nil).str(1, key).str(2, val)) }
	scopes := func(n pb, s, c string) pb {
		return meta(meta(n, "pkg.torch.onnx.name_scopes", s), "pkg.torch.onnx.class_hierarchy", c)
	}
	relu := nd("Relu", "x", "y")
	for _, c := range [...]struct {
		n    pb
		want string
	}{
		{relu, "y"},
		{relu.str(3, "act"), "act"},
		{relu.str(3, "/layer1/layer1.0/act/Relu"), "layer1.0.act"},
		{relu.str(3, "/Relu_1"), "relu_1"},
		{scopes(relu, "['', 'a', 'a.act', 'relu']", "['M', 'A', 'torch.nn.modules.activation.ReLU', 'f']"), "a.act"},
		{scopes(relu, "['', 'a', 'relu']", "['M', '__main__.A', 'f']"), "a.relu"},
		{scopes(relu, "['', 'relu']", "['M', 'f']"), "relu"},
		{scopes(relu, "['', \"it's\", 'relu']", "[]"), "it's"},
		{scopes(relu, "no list", ""), "y"},
		{meta(relu, "namespace", ": __main__.M/act: torch.nn.modules.activation.ReLU/relu: aten.relu.default"), "act"},
		{meta(relu, "namespace", "_empty_x: _empty_x/relu: aten.relu.default"), "y"},
		{relu.str(3, "x"), "x.relu"},
	} {
		g, err := Parse("m.onnx", single(13, vi("x", 2), c.n).bytes(), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Out[0].Node.Name; got != c.want {
			t.Errorf("name %q, want %q", got, c.want)
		}
	}
	blocks := chain(13, vi("x", 2), nil, nd("Relu", "x", "a").str(3, "/b/act/Relu"), nd("Relu", "a", "c").str(3,
		"/b/Relu"),
		nd("Add", "c a", "y").str(3, "/b/Add_1"))
	if g, err := Parse("m.onnx", blocks.bytes(), source.Options{}); err != nil || g.Out[0].Node.Name != "b.add_1" ||
		g.Find("b.relu") == nil || g.Find("b.act") == nil {
		t.Errorf("functions of a module of modules: %v", err)
	}
	var nodes []pb
	for _, io := range []string{"x a", "a b", "b c", "c y"} {
		in, out, _ := strings.Cut(io, " ")
		nodes = append(nodes, nd("Relu", in, out).str(3, "same"))
	}
	g, err := Parse("m.onnx", chain(13, vi("x", 2), nil, nodes...).bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range g.Nodes {
		names = append(names, n.Name)
	}
	if got := strings.Join(names, " "); got != "x same same.relu same_2 same_3" {
		t.Errorf("names %s", got)
	}
}

// allocated is the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestSliceRange(t *testing.T) {
	for _, c := range [...]struct{ start, end, step, dim, first, n int64 }{
		{0, 5, 1, 5, 0, 5}, {1, 4, 2, 5, 1, 2}, {1, 5, 2, 5, 1, 2}, {2, 2, 2, 5, 0, 0}, {3, 2, 1, 5, 0, 0}, {-2, 9, 1, 5, 3,
			2},
		{-9, -1, 1, 5, 0, 4}, {0, -9, 1, 5, 0, 0}, {4, 0, -2, 5, 4, 2}, {9, -9, -1, 5, 4, 5}, {2, 2, -2, 5, 0, 0},
		{-1, math.MinInt64, -3, 5, 4, 2}, {0, math.MaxInt64, 1, 0, 0, 0}, {0, math.MinInt64, -1, 0, 0, 0},
	} {
		if first, n := sliceRange(c.start, c.end, c.step, c.dim); int64(n) != c.n || n > 0 && int64(first) != c.first {
			t.Errorf("%d:%d:%d of %d: %d elements from %d", c.start, c.end, c.step, c.dim, n, first)
		}
	}
}

// TestBetaZero: what is multiplied by zero is left out.
func TestBetaZero(t *testing.T) {
	m := single(13, vi("x", 2, 3), nd("Gemm", "x w c", "y", aFlt("beta", 0)), ft("w", d(3, 4)), ft("c", d(2, 1)))
	if g, err := Parse("m.onnx", m.bytes(), source.Options{}); err != nil || g.Out[0].Node.Op.Name != "linear" {
		t.Errorf("%v", err)
	}
}
