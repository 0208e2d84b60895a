// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"archive/zip"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
)

// NodeTest is one of the tests of operations that the ONNX project has: a model, and arrays that go in and come out.
type NodeTest struct {
	Name string
	// Op is the operation that it tests.
	Op string
	// Apart says why the test is not in scope; "" for those in scope.
	Apart string

	model   []byte
	in, out []*tensor
}

const nodeFolder = "onnx/backend/test/data/node/"

// NodeTests reads all tests of an archive, by name. Errors are those of the archive.
func NodeTests(archive string) ([]*NodeTest, error) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	files := map[string][]byte{}
	var names []string
	for _, f := range r.File {
		name, ours := strings.CutPrefix(f.Name, nodeFolder)
		if !ours {
			continue
		}
		if files[name], err = readAll(f); err != nil {
			return nil, err
		}
		if path.Base(name) == "model.onnx" {
			names = append(names, path.Dir(name))
		}
	}
	slices.Sort(names)
	var tests []*NodeTest
	bases := map[string]string{}
	for _, name := range names {
		c := &NodeTest{Name: strings.TrimPrefix(name, "test_"), model: files[name+"/model.onnx"]}
		c.in, c.Apart = readTensors(files, name+"/test_data_set_0/input_%d.pb")
		if out, apart := readTensors(files, name+"/test_data_set_0/output_%d.pb"); c.Apart == "" {
			c.out, c.Apart = out, apart
		}
		c.scope(bases)
		tests = append(tests, c)
	}
	return tests, nil
}

func readAll(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// readTensors reads arrays that are numbered from 0 on; apart is the type of one that is no array of numbers here.
func readTensors(files map[string][]byte, format string) (list []*tensor, apart string) {
	for i := 0; ; i++ {
		data := files[fmt.Sprintf(format, i)]
		if data == nil {
			return list, apart
		}
		v := &tensor{}
		if err := decodeTensor(message{buf: data}, v); err != nil || v.dtype == 0 {
			return list, "values that are not arrays"
		}
		if t := storage(v.dtype); t == "" || v.fourBits() {
			apart = "elements of type " + dtypeName(v.dtype)
		}
		list = append(list, v)
	}
}

// scope finds which operation a test is about, and whether it is one of those that the importer is for.
func (c *NodeTest) scope(bases map[string]string) {
	m, err := decodeModel(message{buf: c.model})
	if err != nil || m.graph == nil {
		c.Apart = "a model that cannot be decoded"
		return
	}
	base, _, expanded := strings.Cut(c.Name, "_expanded")
	if c.Op = bases[base]; !expanded && len(m.graph.nodes) > 0 {
		c.Op = m.graph.nodes[0].op
		for i := range m.graph.nodes { // the one that is not a constant
			if m.graph.nodes[i].op != "Constant" {
				c.Op = m.graph.nodes[i].op
			}
		}
		bases[c.Name] = c.Op
	}
	if c.Apart != "" {
		return
	}
	if m.opset < OldestOpset {
		c.Apart = fmt.Sprintf("operator set %d", m.opset)
	}
	for i := range m.graph.nodes {
		n := &m.graph.nodes[i]
		switch {
		case n.domain != "" || !slices.Contains(NodeOps(), n.op):
			c.Apart = "operation " + qualified(n)
		case n.op == "Dropout" && len(n.in) > 2, n.op == "BatchNormalization" && len(n.out) > 1:
			c.Apart = "training"
		}
	}
}

// NodeOps are the operations that the importer is for: those of networks in inference, in no order, some of them twice.
func NodeOps() []string {
	return append(opNames(), "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul",
		"MatMulInteger", "Resize", "Einsum", "ConvTranspose", "Attention", "RotaryEmbedding", "LRN", "NonZero", "OneHot",
		"TopK", "Trilu", "CumSum", "GatherElements", "GatherND", "ScatterElements", "ScatterND")
}

// bindings are the ways in which inputs become constants, tried in order: parameters of operations are inputs of the
// graphs of these tests.
var bindings = [...]func(i int, v *tensor) bool{
	func(int, *tensor) bool { return false },
	func(i int, v *tensor) bool { return i > 0 && !isFloat(storage(v.dtype)) },
	func(_ int, v *tensor) bool { return !isFloat(storage(v.dtype)) },
	func(i int, v *tensor) bool { return i > 0 },
	func(int, *tensor) bool { return true },
}

// Load imports the model, with as few of its inputs as constants as it needs, and has the values of the others. Errors
// are those of the importer.
func (c *NodeTest) Load() (*ir.Graph, ref.Sample, error) {
	var err error
	for _, constant := range bindings {
		var m *model
		if m, err = decodeModel(message{buf: c.model}); err != nil {
			return nil, nil, err
		}
		var live []*tensor
		for k := range min(len(m.graph.inputs), len(c.in)) {
			v := *c.in[k]
			if v.name = m.graph.inputs[k].name; constant(k, &v) {
				m.graph.inits = append(m.graph.inits, v)
			} else {
				live = append(live, &v)
			}
		}
		if err = m.check(); err != nil {
			return nil, nil, err
		}
		var g *ir.Graph
		if g, err = newImporter("m.onnx", "", m, source.Options{}).run(); err == nil {
			s, err := sample(g, live)
			return g, s, err
		}
		switch diag.CodeOf(err) {
		case diag.DataDependent, diag.NotConstant, diag.BadDimension, diag.ConstantExpression, diag.QuantForm,
			diag.ArgumentShapes:
		default:
			return nil, nil, err
		}
	}
	return nil, nil, err
}

// sample makes the values of the live inputs.
func sample(g *ir.Graph, live []*tensor) (ref.Sample, error) {
	var s ref.Sample
	for _, n := range g.In {
		i := slices.IndexFunc(live, func(v *tensor) bool { return v.name == n.Name })
		if i < 0 {
			return nil, fmt.Errorf("no value for input %s", n.Name)
		}
		data, err := live[i].blob(&externals{})
		if err != nil {
			return nil, err
		}
		v, err := data.Tensor(n.Type)
		if err != nil {
			return nil, err
		}
		s = append(s, v)
	}
	return s, nil
}

// Tolerances of the tests: float32 and float64, and half floats, whose steps are 1e-3 and 8e-3. Whole numbers are
// equal.
const (
	NodeRel, NodeAbs = 1e-3, 1e-5
	HalfRel, HalfAbs = 1e-2, 1e-3
)

// Compare says where outputs are not those of the test.
func (c *NodeTest) Compare(got ref.Sample) error {
	if len(got) != len(c.out) {
		return fmt.Errorf("%d outputs, want %d", len(got), len(c.out))
	}
	for k, v := range got {
		want := c.out[k]
		if !slices.Equal(v.Type.Shape, want.dims) {
			return fmt.Errorf("output %d has shape %s, want %s", k, ir.ShapeString(v.Type.Shape), ir.ShapeString(want.dims))
		}
		data, err := want.blob(&externals{})
		if err != nil {
			return err
		}
		if f := ir.FormatOf(data.DType); f != v.Type.Format {
			return fmt.Errorf("output %d is %s, want %s", k, v.Type.Format, f)
		}
		values, err := v.Decode()
		if err != nil {
			return err
		}
		rel, abs := NodeRel, NodeAbs
		if data.DType == ir.F16 || data.DType == ir.BF {
			rel, abs = HalfRel, HalfAbs
		}
		for i, w := range data.Floats64() {
			g := values[i]
			if math.IsNaN(g) && math.IsNaN(w) || g == w || math.Abs(g-w) <= abs+rel*math.Abs(w) && v.Type.IsFloat() {
				continue
			}
			return fmt.Errorf("output %d, element %d: %g, want %g", k, i, g, w)
		}
	}
	return nil
}
