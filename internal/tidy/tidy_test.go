// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestProject runs every check over the whole project.
func TestProject(t *testing.T) {
	tree, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(tree, func(f *File) bool { return f.Path == "go.mod" }); i < 0 {
		t.Fatal("the project's root is not two folders up")
	}
	for _, f := range Audit(tree, Checks, Exceptions) {
		t.Error(f)
	}
	for _, e := range Exceptions {
		if e.Why == "" {
			t.Errorf("the exception of %s from %s has no reason", e.Path, e.Check)
		}
	}
}

const spdx = "// SPDX-License-Identifier: Apache-2.0\n\n"

// goText is a Go file in good order.
func goText(pkg, rest string) string {
	return spdx + "// Package " + pkg + " is a test.\npackage " + pkg + "\n" + rest
}

// violation is a small tree that breaks a rule, or does not.
type violation struct {
	name string
	tree map[string]string
	want string
}

// planted are small trees, each with what its check must say; an empty want stands for silence.
var planted = map[string][]violation{
	"licence": {
		{"go", map[string]string{"ir/a.go": "package ir\n"}, "ir/a.go:1"},
		{"sv in testdata", map[string]string{"sim/testdata/a.sv": "module a; endmodule\n"}, "sim/testdata/a.sv:1"},
		{"script", map[string]string{"scripts/x": "#!/bin/sh\necho\n"}, "scripts/x:1"},
		{"good", map[string]string{"scripts/x": "#!/bin/sh\n# " + licenceLine + "\n", "ir/a.go": goText("ir", "")}, ""},
	},
	"format": {
		{"unformatted", map[string]string{"ir/a.go": goText("ir", "\nvar  x = 1\n")}, "make fmt"},
		{"broken", map[string]string{"ir/a.go": "package ir\nfunc {\n"}, "expected"},
		{"good", map[string]string{"ir/a.go": goText("ir", "")}, ""},
	},
	"concrete": {
		{"assertion", formatTree("_, _ = f.(format.Fixed)"), "lower/a.go:8: concrete: asks for format.Fixed"},
		{"switch", formatTree("switch f.(type) {\n\tcase *format.Fixed:\n\t}"), "lower/a.go:9"},
		{"alias", formatTree("type fixed = format.Fixed\n\tvar _ fixed"), "calls format.Fixed fixed"},
		{"type argument", formatTree("_, _ = is[format.Fixed](f)"), "has the type argument format.Fixed"},
		{"code set", formatTree("_ = f.CodeSet() == format.NewFixed(8, 4)"), "compares a CodeSet"},
		{"code sets", formatTree("switch f.CodeSet() {\n\tcase format.NewFixed(8, 4):\n\t}"), "compares a CodeSet"},
		{"struct", formatTree("_ = f == (format.Fixed{})"), "compares with a format.Fixed"},
		{"family", formatTree("_ = format.FamilyOf(f) == \"int\""), "compares a FamilyOf"},
		{"text", formatTree("_ = f.String() != \"mxint8\""), "compares the text of a format"},
		{"prefix", formatTree("_ = strings.HasPrefix(f.String(), \"mx\")"), "compares the text of a format"},
		{"two texts", formatTree("_ = f.String() == f.String()"), ""},
		{"question", formatTree("_, _ = f.(format.Block)"), ""},
	},
	"identity": {
		{"comparison", opTree("_ = n.Op == sum.Linear"), "lower/a.go:8: identity: asks for sum.Linear"},
		{"case", opTree("switch n.Op {\n\tcase sum.Linear:\n\t}"), "lower/a.go:9: identity: asks for sum.Linear"},
		{"variable", opTree("l := sum.Linear\n\t_ = n.Op == l"), "lower/a.go:8: identity: asks for sum.Linear"},
		{"map", opTree("_ = map[*ir.Op]bool{sum.Linear: true}"), "asks for sum.Linear"},
		{"slice", opTree("_ = slices.Contains([]*ir.Op{sum.Linear}, n.Op)"), "asks for sum.Linear"},
		{"argument", opTree("_ = is(n, sum.Linear)"), "asks for sum.Linear"},
		{"name", opTree("_ = n.Op.Name == \"conv\""), "compares the name of an operation"},
		{"name of a variable", opTree("_ = \"conv\" != op.Name"), "compares the name of an operation"},
		{"names", opTree("switch n.Op.Name {\n\tcase \"conv\":\n\t}"), "lower/a.go:8: identity: compares the name"},
		{"list of names", opTree("_ = slices.Contains(list, n.Op.Name)"), "compares the name of an operation"},
		{"map of names", opTree("_ = list[n.Op.Name]"), "compares the name of an operation"},
		{"found", opTree("_ = op.Find(\"conv\")"), "finds an operation by its name"},
		{"shared attributes", opTree("_ = n.Attrs.(*column.AxisAttrs)"), "asks for column.AxisAttrs"},
		{"attributes", opTree("_ = n.Attrs.(*sum.ConvAttrs)"), "asks for sum.ConvAttrs"},
		{"elsewhere", inFile(opTree("_ = n.Op == sum.Linear"), "emit/a.go"), "emit/a.go:8: identity: asks"},
		{"frontend", inFile(opTree("_ = n.Op == sum.Linear"), "frontend/a.go"), ""},
		{"made", opTree("_ = g.Add(sum.Linear, &sum.ConvAttrs{})"), ""},
		{"made of a literal", opTree("_ = ir.Node{Op: sum.Linear}"), ""},
		{"made of another", opTree("n.Op, n.Attrs = sum.Linear, nil"), ""},
		{"names that plans give", opTree("_ = n.Op.Name == m.Op"), ""},
	},
	"vocabulary": {
		{"name", wordTree("frontend/a.go", "\nfunc maxFolded() {}\n"), "frontend/a.go:6: vocabulary: maxFolded"},
		{"field", wordTree("cuda/a.go", "\ntype t struct{ dataFlow int }\n"), "dataFlow"},
		{"file", wordTree("frontend/fold.go", ""), "frontend/fold.go"},
		{"below", wordTree("lower/float/simplify/a.go", "\nvar folded int\n"), "folded: fold has another meaning"},
		{"file of a folder", wordTree("lower/a.go", "\ntype pair int\n"), "lower/a.go:6: vocabulary: pair: pair has"},
		{"test", wordTree("sim/a_test.go", "\nfunc TestAllPairs() {}\n"), "TestAllPairs"},
		{"real", wordTree("frontend/a.go", "\ntype t struct{ realValue int }\n"), "realValue: real has another meaning"},
		{"pass", wordTree("lower/a.go", "\nvar p = pass.New(\"fold_pads\", 0)\n"), "a.go:6: vocabulary: the pass fold_p"},
		{"pass in a list", wordTree("lower/a.go", "\nvar p = []any{pass.New(\"real_scale\", 0)}\n"), "the pass real_scale"},
		{"good pass", wordTree("lower/a.go",
			"\nvar p = []any{pass.New(\"pair_streams\", 0), pass.New(\"absorb_pads\", 0)}\n"), ""},
		{"undefined", map[string]string{architecture: "\n| fold | |\n| pair | |\n| real | |\n"}, "lack flow"},
		{"good", wordTree("lower/fold.go", "\nvar foldings int\n"), ""},
		{"good file", wordTree("lower/schedule/streams/forks.go", "\nvar pairs, surreal int\n"), ""},
		{"good below", wordTree("rtl/op/a.go", "\nvar pairFlow, realScale int\n"), ""},
	},
	"length": {
		{"go", map[string]string{"ir/a.go": strings.Repeat("//\n", maxGoLines+1)}, "401 lines, at most 400"},
		{"sv", map[string]string{"rtl/a.sv": strings.Repeat("//\n", maxHardwareLines) + "x"}, "251 lines, at most 250"},
		{"makefile", map[string]string{"Makefile": strings.Repeat("#\n", maxMakefileLines+1)}, "101 lines"},
		{"gen_", map[string]string{"ir/gen_a.go": strings.Repeat("//\n", maxGoLines+1)}, "401 lines, at most 400"},
		{"generated", map[string]string{"ir/a.go": "// Code generated by x. DO NOT EDIT.\n\npackage ir\n" +
			strings.Repeat("//\n", maxGoLines)}, ""},
		{"good", map[string]string{"ir/a.go": strings.Repeat("//\n", maxGoLines)}, ""},
	},
	"columns": {
		{"long", map[string]string{"ir/a.go": "//\n//" + strings.Repeat("x", 119) + "\n"}, "ir/a.go:2: columns: 121 char"},
		{"good", map[string]string{"ir/a.go": "//" + strings.Repeat("é", 118) + "\n"}, ""},
		{"prose", map[string]string{"docs/a.txt": strings.Repeat("x", 300) + "\n"}, ""},
	},
	"function": {
		{"long", map[string]string{"ir/a.go": goText("ir", "\nfunc f() {\n"+strings.Repeat("\t_ = 0\n", 59)+"}\n")},
			"f has 61 lines"},
		{"good", map[string]string{"ir/a.go": goText("ir", "\nfunc f() {\n"+strings.Repeat("\t_ = 0\n", 58)+"}\n")}, ""},
	},
	"package": {
		{"many", files("emit/f", 16, ".go"), "emit: package: 16 files"},
		{"good", files("emit/f", 15, ".go"), ""},
		{"catalogue", files("ir/format/f", 16, ".go"), ""},
		{"room of operations", room("ir/op/sum/f"), ""},
		{"beside the rooms", room("ir/op/dot/f"), "ir/op/dot: package: 16 files"},
		{"tests", files("emit/f", 16, "_test.go"), ""},
	},
	"codes": {
		{"text", map[string]string{"ir/a.go": goText("ir", "\nvar c = \"L0412\"\n")}, "use the constant of internal/diag"},
		{"catalogue", map[string]string{"internal/diag/codes.go": goText("diag", "\nconst c = \"L0412\"\n")}, ""},
		{"test", map[string]string{"ir/a_test.go": goText("ir", "\nvar c = \"L0412\"\n")}, ""},
	},
	"size": {
		{"large", map[string]string{"a.bin": strings.Repeat("x", maxBytes+1)}, "a.bin: size: 2097153 bytes"},
		{"good", map[string]string{"a.bin": strings.Repeat("x", maxBytes)}, ""},
	},
	"order": {
		{"up", imports("ir/a.go", "ir", "lathe/lower"), "imports lower, which does not stand below ir"},
		{"beside", imports("frontend/onnx/a.go", "onnx", "lathe/lower"), "lower, which does not stand below frontend"},
		{"apart", imports("lower/float/a.go", "float", "lathe/frontend"), "frontend, which does not stand below lower/float"},
		{"a room above", imports("lower/pass/a.go", "pass", "lathe/lower/float"),
			"float, which does not stand below lower/pass"},
		{"up inside a room", imports("lower/schedule/lanes/a.go", "lanes", "lathe/lower/schedule"),
			"schedule, which does not stand below lower/schedule/lanes"},
		{"up inside floats", imports("lower/float/simplify/a.go", "simplify", "lathe/lower/float/layout"),
			"layout, which does not stand below lower/float/simplify"},
		{"beside inside a room", imports("lower/schedule/timing/a.go", "timing", "lathe/lower/schedule/forms"),
			"forms, which does not stand below lower/schedule/timing"},
		{"below another room", imports("lower/kernels/a.go", "kernels", "lathe/lower/quantize/fit"),
			"fit, which does not stand below lower/kernels"},
		{"down inside a room", imports("lower/schedule/a.go", "schedule", "lathe/lower/schedule/tokens/beat"), ""},
		{"a room beside", imports("lower/schedule/a.go", "schedule", "lathe/lower/quantize/calib"),
			"calib, which does not stand below lower/schedule"},
		{"bench", imports("sim/a.go", "sim", "lathe/internal/tools"), "internal/tools is for tests only"},
		{"cases", imports("internal/cli/a.go", "cli", "lathe/cuda/cases"), "holds cases of kernels"},
		{"cases of a page", imports("internal/docs/a.go", "docs", "lathe/cuda/cases"), ""},
		{"no layer", imports("stray/a.go", "stray", "fmt"), "stands in no layer"},
		{"down", imports("emit/verilog/a.go", "verilog", "lathe/ir/op"), ""},
		{"own entry", imports("emit/report/a.go", "report", "lathe/emit/verilog"), ""},
		{"longest entry", imports("golden/pjrt/a.go", "pjrt", "lathe/ir/hlo"), ""},
		{"test", imports("ir/a_test.go", "ir", "lathe/internal/tools"), ""},
		{"bench of a package", imports("golden/pjrt/pjrttest/a.go", "pjrttest", "lathe/internal/tools"), ""},
	},
	"process": {
		{"exec", imports("lower/a.go", "lower", "os/exec"), "imports os/exec"},
		{"library", imports("emit/a.go", "emit", "github.com/ebitengine/purego"), "imports github.com/ebitengine/purego"},
		{"a name like that of a bench", imports("lower/fastest/a.go", "fastest", "os/exec"), "imports os/exec"},
		{"bench", imports("rtl/rtltest/a.go", "rtltest", "os/exec"), ""},
		{"cgo", imports("ir/a.go", "ir", "C"), "imports C"},
		{"allowed", imports("sim/area/a.go", "area", "os/exec"), ""},
	},
	"environment": {
		{"getenv", uses("ir/a.go", "os", "os.Getenv(\"X\")"), "uses os.Getenv"},
		{"renamed", uses("ir/a.go", "sys os", "sys.Environ()"), "uses os.Environ"},
		{"cli", uses("internal/cli/a.go", "os", "os.Getenv(\"X\")"), ""},
		{"another os", uses("ir/a.go", "strings", "os.Getenv(\"X\")"), ""},
	},
	"clock": {
		{"now", uses("lower/a.go", "time", "time.Now()"), "uses time.Now"},
		{"sim", uses("sim/a.go", "time", "time.Now()"), ""},
		{"constant", uses("lower/a.go", "time", "time.Second"), ""},
	},
	"random": {
		{"global", uses("ir/a.go", "math/rand", "rand.Intn(3)"), "uses math/rand.Intn"},
		{"global v2", uses("ir/a_test.go", "math/rand/v2", "rand.IntN(3)"), "uses math/rand/v2.IntN"},
		{"crypto", uses("ir/a.go", "crypto/rand", "rand.Reader"), "uses crypto/rand.Reader"},
		{"seeded", uses("ir/a.go", "math/rand/v2", "rand.New(rand.NewPCG(1, 2))"), ""},
	},
	"init": {
		{"init", map[string]string{"ir/a.go": goText("ir", "\nfunc init() {}\n")}, "has an init function"},
		{"method", map[string]string{"ir/a.go": goText("ir", "\nfunc (t t) init() {}\n")}, ""},
	},
	"metadata": {
		{"any", map[string]string{"ir/a.go": goText("ir", "\nvar m map[string]any\n")}, "a map of any"},
		{"interface", map[string]string{"emit/a.go": goText("emit", "\nvar m map[string]interface{}\n")}, "a map of any"},
		{"typed", map[string]string{"ir/a.go": goText("ir", "\nvar m map[string]int\n")}, ""},
	},
	"name": {
		{"util", map[string]string{"ir/util/a.go": goText("util", "")}, "package util"},
		{"good", map[string]string{"ir/format/a.go": goText("format", "")}, ""},
	},
	"doc": {
		{"function", map[string]string{"ir/a.go": goText("ir", "\nfunc F() {}\n")}, "F has no doc comment"},
		{"method", map[string]string{"ir/a.go": goText("ir", "\n// T is t.\ntype T int\n\nfunc (t *T) F() {}\n")}, "F has"},
		{"const", map[string]string{"ir/a.go": goText("ir", "\nconst (\n\tA = 1 // a\n\tB = 2\n)\n")}, "B has no doc"},
		{"package", map[string]string{"ir/a.go": spdx + "package ir\n"}, "no doc comment"},
		{"good", map[string]string{"ir/a.go": goText("ir", "\n// F is f.\nfunc F() {}\n\nfunc (t t) F() {}\n")}, ""},
	},
	"skip": {
		{"test", test("func TestX(t *testing.T) { t.Skip() }"), "skips by itself"},
		{"bench", test("func BenchmarkX(b *testing.B) { b.Skipf(\"\") }"), "skips by itself"},
		{"closure", test("func TestX(t *testing.T) { t.Run(\"\", func(s *testing.T) { t.SkipNow() }) }"), "skips by itself"},
		{"property", test("func TestX(t *testing.T) { f(func(t *rapid.T) { t.Skip() }) }"), ""},
		{"asked", test("func TestX(t *testing.T) { _ = t.Skipped() }"), ""},
	},
	"words": {
		{"path", map[string]string{"ir/a.go": "// see /ho" + "me/me/x\n"}, "a path of one machine"},
		{"mark", map[string]string{"docs/a.txt": "TO" + "DO: more\n"}, "docs/a.txt:1: words: \"TO" + "DO\""},
		{"unwritten", map[string]string{"ir/a.go": "// not imple" + "mented\n"}, "unfinished"},
		{"date", map[string]string{"docs/a.txt": "Generated" + " on 2031-01-02\n"}, "date of generation"},
		{"registry", map[string]string{"scripts/x": "curl https://py" + "pi.org/x\n"}, "a registry address"},
		{"good", map[string]string{"ir/a.go": "// homework/root/cause of workings, /usr/lib, todo list\n"}, ""},
		{"binary", map[string]string{"a.bin": "\x00 TO" + "DO\n"}, ""},
	},
	"links": {
		{"comment", map[string]string{"ir/a.go": "// as docs/gone" + ".md says\n"}, "docs/gone" + ".md does not exist"},
		{"good", map[string]string{"ir/a.go": "// docs/here" + ".md, docs/*.md\n", "docs/here" + ".md": "there" + ".md",
			"docs/there" + ".md": ""}, ""},
	},
	"folders": {
		{"unlisted", map[string]string{"ir/a.go": "", "ir/op/b.go": "", architecture: "| `ir/` | x\n| `docs/` | x\n"},
			"does not list ir/op/"},
		{"gone", map[string]string{"ir/a.go": "", architecture: "| `ir/` | x\n| `sim/` | x\n| `docs/` | x\n"},
			"lists sim/, which holds no code"},
		{"good", map[string]string{"ir/a.go": "", architecture: "| `ir/` | x\n| `docs/` | x\n"}, ""},
	},
	"layers": {
		{"another", layerPage(strings.Replace(layerText(), "ir/format", "ir/formats", 1)), `is "ir/formats" here`},
		{"missing", layerPage(strings.Replace(layerText(), "ir/format\n", "", 1)), `"ir/format" in internal/tidy/imports.go`},
		{"short", layerPage(strings.SplitAfter(layerText(), "\n")[0]), "layer 2 is"},
		{"good", layerPage(layerText()), ""},
	},
}

// layerText is the order of packages as the page shows it, and layerPage a page with such a block.
func layerText() string {
	text := ""
	for _, names := range layers {
		text += strings.Join(names, "  ") + "\n"
	}
	return text
}

func layerPage(text string) map[string]string {
	return map[string]string{architecture: "\n## Who may import whom\nAs follows:\n```\n" + text + "```\n"}
}

func files(stem string, n int, ext string) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[stem+string(rune('a'+i))+ext] = goText("p", "")
	}
	return out
}

// room is a package of many files below ir/op, whose list of operations imports sum.
func room(stem string) map[string]string {
	tree := files(stem, 16, ".go")
	tree[allOps] = goText("op", "\nimport _ \"lathe/ir/op/sum\"\n")
	return tree
}

func imports(path, pkg, imported string) map[string]string {
	return map[string]string{path: goText(pkg, "\nimport _ \""+imported+"\"\n")}
}

// uses is a file that imports a package, perhaps under another name, and evaluates an expression.
func uses(path, imported, expression string) map[string]string {
	name, pkg, ok := strings.Cut(imported, " ")
	if !ok {
		name, pkg = "", imported
	}
	return map[string]string{path: goText("p", "\nimport "+name+" \""+pkg+"\"\n\nvar _ = "+expression+"\n")}
}

func test(text string) map[string]string {
	return map[string]string{"ir/a_test.go": "package ir\n\nimport \"testing\"\n\n" + text + "\n"}
}

func load(t *testing.T, tree map[string]string) Tree {
	t.Helper()
	root := fstest.MapFS{}
	for name, text := range tree {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	loaded, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// TestChecksFail plants a violation for every check, and demands silence where there is none.
func TestChecksFail(t *testing.T) {
	for _, c := range Checks {
		cases := slices.Concat(planted[c.Name], plantedPages[c.Name])
		silent, loud := 0, 0
		for _, p := range cases {
			got := Audit(load(t, p.tree), []Check{c}, nil)
			if p.want == "" {
				silent++
				for _, f := range got {
					t.Errorf("%s, %s: unwanted: %v", c.Name, p.name, f)
				}
				continue
			}
			loud++
			if len(got) != 1 || !strings.Contains(got[0].String(), p.want) {
				t.Errorf("%s, %s: got %v, want one finding with %q", c.Name, p.name, got, p.want)
			}
		}
		if silent == 0 || loud == 0 {
			t.Errorf("%s: %d planted violations and %d clean trees, want both", c.Name, loud, silent)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(planted)) {
		if !slices.ContainsFunc(Checks, func(c Check) bool { return c.Name == name }) {
			t.Errorf("%s: planted for no check", name)
		}
	}
}

func TestExceptions(t *testing.T) {
	tree := load(t, map[string]string{"ir/a.go": goText("ir", "\nfunc init() {}\n")})
	inits := Checks[slices.IndexFunc(Checks, func(c Check) bool { return c.Name == "init" })]
	if got := Audit(tree, []Check{inits}, []Exception{{"init", "ir/a.go", "why"}}); len(got) != 0 {
		t.Errorf("with an exception: %v", got)
	}
	got := Audit(tree, []Check{inits}, []Exception{{"init", "ir/a.go", "why"}, {"init", "ir/b.go", "why"}})
	if len(got) != 1 || got[0].Path != "ir/b.go" || !strings.Contains(got[0].Msg, "no longer needs") {
		t.Errorf("a stale exception: %v", got)
	}
}

// TestLoad leaves out what Git and the Makefile keep, also where .git is a file.
func TestLoad(t *testing.T) {
	tree := load(t, map[string]string{".git": "gitdir", "bin/lathe": "x", "build/x": "x", "ir/bin/a.txt": "x"})
	if len(tree) != 1 || tree[0].Path != "ir/bin/a.txt" {
		t.Errorf("loaded %d files", len(tree))
	}
}

// formatTree has a statement in lower that sees a format f.
func formatTree(statement string) map[string]string {
	return map[string]string{
		"ir/format/a.go": goText("format", "\ntype Fixed struct{}\n\ntype Block interface{ Size() int }\n"),
		"lower/a.go": "// x\n\npackage lower\n\nimport (\"lathe/ir/format\"; \"strings\")\n\nfunc a(f any) {\n\t" +
			statement + "\n}\n",
	}
}

// opTree has a statement in lower that sees a node n.
func opTree(statement string) map[string]string {
	return map[string]string{
		"ir/op/all.go":      goText("op", "\nimport \"lathe/ir/op/sum\"\n\nvar All = [...]any{sum.Linear}\n"),
		"ir/op/sum/conv.go": goText("sum", "\ntype ConvAttrs struct{}\n"),
		"ir/op/column/a.go": goText("column", "\ntype AxisAttrs struct{}\n"),
		"lower/a.go": "// x\n\npackage lower\n\nimport (\"lathe/ir/op/sum\"; \"lathe/ir/op/column\"; \"lathe/ir/op\"; " +
			"\"slices\")\n\nfunc a(n, g any) {\n\t" +
			statement + "\n}\n",
	}
}

// inFile is a tree with its file in lower somewhere else.
func inFile(tree map[string]string, name string) map[string]string {
	tree[name] = tree["lower/a.go"]
	delete(tree, "lower/a.go")
	return tree
}

func wordTree(name, rest string) map[string]string {
	return map[string]string{architecture: "\n| flow | |\n| fold | |\n| pair | |\n| real | |\n", name: goText("a", rest)}
}
