// SPDX-License-Identifier: Apache-2.0

// Package layers reads the operations that users declare (--ops), and writes their uses in models as operations that
// Lathe knows.
package layers

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"lathe/internal/diag"
	"lathe/ir/op/curve"
	"lathe/ir/op/custom"
)

// File is what a file of --ops declares; nil declares nothing.
type File struct{ ops []*Op }

// Op is a declared operation: a function of one number, a graph of known operations, or a module.
type Op struct {
	// At is where it is declared: "my.toml: [[op]] 2".
	At string
	// onnx is a domain and an operator, torch a name of torch.library, stablehlo the target of a custom call; all in the
	// spelling that models use, "" for none.
	onnx, torch, stablehlo string
	// defaults are the attributes that it has, as texts, under the names of models.
	defaults map[string]string
	formula  string
	points   *curve.PolylineAttrs
	graph    string // the text, which messages call named
	named    string
	module   *custom.ModuleAttrs
}

// declared is an [[op]] as the file has it.
type declared struct {
	ONNX       string                    `toml:"onnx"`
	Torch      string                    `toml:"torch"`
	StableHLO  string                    `toml:"stablehlo"`
	Attributes map[string]toml.Primitive `toml:"attributes"`
	Formula    string                    `toml:"formula"`
	Samples    any                       `toml:"samples"`
	Graph      string                    `toml:"graph"`
	Module     string                    `toml:"module"`
	Reference  string                    `toml:"reference"`
	Parameters map[string]int            `toml:"parameters"`
}

// keys are those of an [[op]], for suggestions.
var keys = []string{"onnx", "torch", "stablehlo", "attributes", "formula", "samples", "graph", "module", "reference",
	"parameters"}

// Read reads a file of declarations; paths in it count from its folder. Errors L0230, all at once.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.New(diag.OpsFile, path, "cannot be read: %v", reason(err))
	}
	name, dir := filepath.Base(path), filepath.Dir(path)
	var file struct {
		Op []declared `toml:"op"`
	}
	meta, err := toml.Decode(string(data), &file)
	if err != nil {
		return nil, diag.New(diag.OpsFile, name, "%s", diag.OneLine(err.Error()))
	}
	var errs diag.List
	for _, key := range meta.Undecoded() {
		if len(key) > 2 {
			continue // within attributes, or within an unknown table
		}
		e := diag.New(diag.OpsFile, name, "unknown key %q", key.String())
		if near := diag.Nearest(key[len(key)-1], keys); near != "" && len(key) == 2 {
			e = e.WithHint("did you mean %s?", near)
		}
		errs = append(errs, e)
	}
	if len(file.Op) == 0 {
		errs = append(errs, diag.New(diag.OpsFile, name, "declares no [[op]]"))
	}
	f := &File{}
	for i := range file.Op {
		o := &Op{At: fmt.Sprintf("%s: [[op]] %d", name, i+1)}
		if err := o.read(&file.Op[i], meta, dir); err != nil {
			errs = errs.Add(err, diag.OpsFile, o.At)
			continue
		}
		if twice := f.same(o); twice != nil {
			errs = append(errs, diag.New(diag.OpsFile, o.At, "declares what %s declares", twice.At))
		}
		f.ops = append(f.ops, o)
	}
	return f, errs.Err()
}

// reason drops the path that messages of the operating system repeat.
func reason(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

// same is an operation of f that has a name of o.
func (f *File) same(o *Op) *Op {
	for _, p := range f.ops {
		if o.onnx != "" && p.onnx == o.onnx || o.torch != "" && p.torch == o.torch ||
			o.stablehlo != "" && p.stablehlo == o.stablehlo {
			return p
		}
	}
	return nil
}

func (o *Op) fail(msg string, args ...any) *diag.Error {
	return diag.New(diag.OpsFile, o.At, msg, args...)
}

// read completes o by its declaration.
func (o *Op) read(d *declared, meta toml.MetaData, dir string) error {
	if err := o.names(d); err != nil {
		return err
	}
	o.defaults = map[string]string{}
	for name, p := range d.Attributes {
		var v any
		err := meta.PrimitiveDecode(p, &v)
		text, ok := valueText(v)
		if err != nil || !ok {
			return o.fail("attribute %s is neither a number nor a list of numbers", name)
		}
		o.defaults[name] = text
	}
	var given []string
	for _, k := range []struct {
		key string
		has bool
	}{{"formula", d.Formula != ""}, {"samples", d.Samples != nil}, {"graph", d.Graph != ""}, {"module", d.Module != ""}} {
		if k.has {
			given = append(given, k.key)
		}
	}
	if len(given) != 1 {
		has := cmp.Or(strings.Join(given, " and "), "nothing")
		return o.fail("one of formula, samples, graph and module says what it computes; it has %s", has)
	}
	if given[0] != "module" && (d.Reference != "" || d.Parameters != nil) {
		return o.fail("reference and parameters belong to a module, and it has %s", given[0])
	}
	switch given[0] {
	case "formula":
		o.formula = d.Formula
		if text, ok := o.filled(o.formula, nil); ok {
			return o.at(curve.CheckFormula(text))
		}
		return nil
	case "samples":
		return o.readSamples(d.Samples, dir)
	case "graph":
		return o.readGraph(d.Graph, dir)
	}
	return o.readModule(d, dir)
}

// at places an error that has no place.
func (o *Op) at(err error) error {
	if err == nil {
		return nil
	}
	return diag.At(o.fail("%s", diag.Message(err)), diag.OpsFile, o.At)
}

// names reads under which names models have the operation.
func (o *Op) names(d *declared) error {
	if d.ONNX == "" && d.Torch == "" && d.StableHLO == "" {
		return o.fail("has no name: onnx = \"domain::Op\", torch = \"library::op\" or stablehlo = \"target\"")
	}
	for _, k := range [...]struct{ key, name string }{{"onnx", d.ONNX}, {"torch", d.Torch}} {
		space, op, ok := strings.Cut(k.name, "::")
		if k.name != "" && (!ok || space == "" || op == "") {
			return o.fail("%s = %q names no operation", k.key, k.name).WithHint("write it as \"%s\"", map[string]string{
				"onnx": "domain::Op", "torch": "library::op"}[k.key])
		}
	}
	o.onnx, o.stablehlo = strings.Replace(d.ONNX, "::", ".", 1), d.StableHLO
	o.torch = strings.Replace(d.Torch, "::", ".", 1)
	return nil
}

// ONNX is the operation of a name "domain.Op", nil for none.
func (f *File) ONNX(name string) *Op { return f.find(func(o *Op) bool { return o.onnx == name }) }

// Torch is the operation of a target "library.op.overload", nil for none.
func (f *File) Torch(target string) *Op {
	base, _ := strings.CutSuffix(target, ".default")
	return f.find(func(o *Op) bool { return o.torch != "" && (o.torch == base || o.torch == target) })
}

// StableHLO is the operation of the target of a custom call, nil for none.
func (f *File) StableHLO(target string) *Op {
	return f.find(func(o *Op) bool { return o.stablehlo != "" && o.stablehlo == target })
}

func (f *File) find(is func(o *Op) bool) *Op {
	if f == nil {
		return nil
	}
	if i := slices.IndexFunc(f.ops, is); i >= 0 {
		return f.ops[i]
	}
	return nil
}

// NearONNX is the declared name that comes closest to "domain.Op", with its place; "" for none.
func (f *File) NearONNX(name string) string {
	return f.near(name, func(o *Op) string { return o.onnx })
}

// NearTorch is NearONNX of a target "library.op.overload".
func (f *File) NearTorch(target string) string {
	base, _ := strings.CutSuffix(target, ".default")
	return f.near(base, func(o *Op) string { return o.torch })
}

// NearStableHLO is NearONNX of the target of a custom call.
func (f *File) NearStableHLO(target string) string {
	return f.near(target, func(o *Op) string { return o.stablehlo })
}

func (f *File) near(name string, of func(*Op) string) string {
	if f == nil {
		return ""
	}
	var names []string
	for _, o := range f.ops {
		if of(o) != "" {
			names = append(names, of(o))
		}
	}
	near := diag.Nearest(name, names)
	if near == "" {
		return ""
	}
	o := f.find(func(o *Op) bool { return of(o) == near })
	return near + ", declared in " + o.At
}

// Hint says how an operation that Lathe does not know can be declared.
const Hint = "an operation of your own can be declared by --ops FILE.toml (docs/own-layers.md)"

// Declare is Hint with the line that names an operation: key is onnx, torch or stablehlo, and name as NearONNX and its
// like take it.
func Declare(key, name string) string {
	if space, op, ok := cutLast(name, "."); ok && key != "stablehlo" {
		name = space + "::" + op
	}
	return fmt.Sprintf("%s, with %s = %q", Hint, key, name)
}

// cutLast is strings.Cut at the last separator.
func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}
