// SPDX-License-Identifier: Apache-2.0

// Package peft reads and writes adapters of low rank as the library PEFT keeps them: a folder with adapter_config.json
// and adapter_model.safetensors. Adapters are added to the matrices of a graph, so what comes out is a plain graph.
package peft

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend/safetensors"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/sum"
)

// Files of a folder, and the prefix of all names in it.
const (
	ConfigName = "adapter_config.json"
	TensorName = "adapter_model.safetensors"
	prefix     = "base_model.model."
)

// product is the adapter of a module: W + scale B A.
type product struct {
	a, b *safetensors.Tensor
}

// folder is an adapter that was read.
type folder struct {
	dir      string
	products map[string]*product // by module
	// whole are parameters that take the place of those of the model.
	whole map[string]*safetensors.Tensor
	settings
}

// Merge adds the adapter of a folder to a float graph whose constants have the names of the model's parameters. Sums
// are made in float64 and rounded once. Errors are L0282, and those of the files.
func Merge(g *ir.Graph, dir string) error {
	if g.Stage != ir.StageFloat {
		return diag.New(diag.WrongStage, dir, "the graph is %s already; adapters belong to float models", g.Stage)
	}
	f, err := read(dir)
	if err != nil {
		return err
	}
	for _, module := range slices.Sorted(maps.Keys(f.products)) {
		if err := f.add(g, module, f.products[module]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.whole)) {
		if err := f.replace(g, name, f.whole[name]); err != nil {
			return err
		}
	}
	return g.Check()
}

// read reads a folder.
func read(dir string) (*folder, error) {
	config, err := source.Open(filepath.Join(dir, ConfigName))
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, products: map[string]*product{}, whole: map[string]*safetensors.Tensor{}}
	if f.settings, err = readSettings(ConfigName, config.Data); err != nil {
		return nil, err
	}
	file, err := safetensors.Open(filepath.Join(dir, TensorName))
	if err != nil {
		return nil, err
	}
	for i := range file.Tensors {
		if err := f.take(&file.Tensors[i]); err != nil {
			return nil, err
		}
	}
	for module, p := range f.products {
		if p.a == nil || p.b == nil {
			return nil, f.errorf("has one of the two matrices of %s", source.Quote(module))
		}
	}
	if len(f.products)+len(f.whole) == 0 {
		return nil, f.errorf("%s holds no adapter", TensorName)
	}
	return f, nil
}

func (f *folder) errorf(msg string, args ...any) *diag.Error {
	return diag.New(diag.AdapterFolder, f.dir, msg, args...)
}

// take puts a tensor where its name says.
func (f *folder) take(t *safetensors.Tensor) error {
	name, ok := strings.CutPrefix(t.Name, prefix)
	if !ok {
		return f.errorf("tensor %s does not begin with %s", source.Quote(t.Name), prefix)
	}
	for suffix, place := range map[string]func(*product) **safetensors.Tensor{
		".lora_A.weight": func(p *product) **safetensors.Tensor { return &p.a },
		".lora_B.weight": func(p *product) **safetensors.Tensor { return &p.b }} {
		module, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		if f.products[module] == nil {
			f.products[module] = &product{}
		}
		*place(f.products[module]) = t
		return nil
	}
	if strings.Contains(name, ".lora_") {
		return f.errorf("tensor %s is of a kind of adapter that is not supported", source.Quote(t.Name)).
			WithHint("matrices of linear layers are: merge the adapter with PEFT's merge_and_unload, and save the model")
	}
	f.whole[strings.Replace(name, ".modules_to_save", "", 1)] = t
	return nil
}

// find is the constant of a parameter. A folder of the bare model lacks the prefix that one with a head has.
func (f *folder) find(g *ir.Graph, name string) (*ir.Node, error) {
	n := g.Find(name)
	var names []string
	var ends []*ir.Node
	for _, c := range g.Nodes {
		if !c.IsConst() {
			continue
		}
		names = append(names, c.Name)
		if strings.HasSuffix(c.Name, "."+name) || strings.HasSuffix(name, "."+c.Name) {
			ends = append(ends, c)
		}
	}
	if n == nil && len(ends) > 1 {
		return nil, f.errorf("%s may be %s or %s of the model", source.Quote(name), source.Quote(ends[0].Name),
			source.Quote(ends[1].Name)).WithHint("import the model that the adapter was made for")
	}
	if n == nil && len(ends) == 1 {
		n = ends[0]
	}
	if n != nil && n.IsConst() && n.Type.IsFloat() {
		return n, nil
	}
	e := f.errorf("the model has no parameter %s", source.Quote(name))
	if near := source.Near(name, names); near != "" {
		return nil, e.WithHint("the nearest is %s; the adapter belongs to another model, or the importer has renamed it",
			near)
	}
	return nil, e.WithHint("import the model from its Hugging Face folder, whose parameters keep their names")
}

// add adds the adapter of a module to its matrix.
func (f *folder) add(g *ir.Graph, module string, p *product) error {
	n := g.Find(module) // a model without modules
	if n == nil || !n.IsConst() {
		var err error
		if n, err = f.find(g, module+".weight"); err != nil {
			return err
		}
	}
	a, b, err := f.values(p)
	if err != nil {
		return err
	}
	rank, in, out := p.a.Shape[0], p.a.Shape[1], p.b.Shape[0]
	w, err := n.Value()
	if err != nil {
		return err
	}
	readers := readersOf(g, n)
	byRows := slices.Equal(n.Type.Shape, []int{out, in}) && (in != out || readers.linear > 0 || !f.fanInFanOut)
	if !byRows && !slices.Equal(n.Type.Shape, []int{in, out}) {
		return f.errorf("the adapter of %s has the shape %s, and the matrix %s", source.Quote(module),
			ir.ShapeString([]int{out, in}), ir.ShapeString(n.Type.Shape))
	}
	scale := f.scale(module, rank)
	sums := slices.Clone(w.Floats)
	for o := range out {
		for i := range in {
			total := 0.0
			for r := range rank {
				total += float64(b[o*rank+r]) * float64(a[r*in+i])
			}
			at := o*in + i
			if !byRows {
				at = i*out + o
			}
			sums[at] = float32(float64(w.Floats[at]) + scale*total)
		}
	}
	if readers.others > 0 && readers.linear > 0 { // an embedding that shares the matrix keeps its values
		n = split(g, n)
	}
	put(n, sums)
	return nil
}

// values are the two matrices of a product, A of rank rows, B of rank columns.
func (f *folder) values(p *product) (a, b []float32, err error) {
	if len(p.a.Shape) != 2 || len(p.b.Shape) != 2 || p.a.Shape[0] != p.b.Shape[1] {
		return nil, nil, f.errorf("%s has the shape %s, and %s %s; the first is rank by inputs, the second outputs by rank",
			source.Quote(p.a.Name), ir.ShapeString(p.a.Shape), source.Quote(p.b.Name), ir.ShapeString(p.b.Shape))
	}
	if a, err = floats(p.a); err == nil {
		b, err = floats(p.b)
	}
	return a, b, err
}

func floats(t *safetensors.Tensor) ([]float32, error) {
	blob, err := t.Blob()
	if err != nil {
		return nil, err
	}
	return blob.Floats(), nil
}

// replace puts a tensor in the place of a parameter.
func (f *folder) replace(g *ir.Graph, name string, t *safetensors.Tensor) error {
	n, err := f.find(g, name)
	if err != nil {
		return err
	}
	if !slices.Equal(n.Type.Shape, t.Shape) {
		return f.errorf("%s has the shape %s, and the parameter of the model %s", source.Quote(t.Name),
			ir.ShapeString(t.Shape), ir.ShapeString(n.Type.Shape))
	}
	v, err := floats(t)
	if err == nil {
		put(n, v)
	}
	return err
}

// readers counts the places that read a matrix: weights of linear layers, and others.
type readers struct{ linear, others int }

func readersOf(g *ir.Graph, n *ir.Node) (r readers) {
	for _, u := range g.Nodes {
		for i, a := range u.Args {
			switch {
			case a != n:
			case u.Op == sum.Linear && i == 1:
				r.linear++
			default:
				r.others++
			}
		}
	}
	return r
}

// split gives the linear layers that read a matrix one of their own.
func split(g *ir.Graph, n *ir.Node) *ir.Node {
	c := *n
	own := n.Attrs.(*ir.Const)
	c.Attrs = &ir.Const{Data: own.Data, Role: own.Role}
	c.Name = n.Name + ".adapted"
	g.InsertAfter(n, &c)
	for _, u := range g.Nodes {
		if u.Op == sum.Linear && u.Args[1] == n {
			u.Args[1] = &c
		}
	}
	return &c
}

// put gives a constant other values.
func put(n *ir.Node, v []float32) {
	was := n.Attrs.(*ir.Const)
	n.Attrs = &ir.Const{Data: ir.FloatBlob(v), Role: was.Role}
}
