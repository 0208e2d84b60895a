// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"strconv"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// schemaMajor is the version of the schema of torch/_export/serde; minor ones add fields only.
const schemaMajor = 8

// Limits on the records.
const (
	maxNodes   = 1_000_000
	maxRank    = 16
	maxNesting = 8 // graphs inside of graphs
)

// graph is a graph of a program, or one that an operation takes as an argument.
type graph struct {
	inputs, outputs []arg
	nodes           []node
	tensors         map[string]*meta
	// syms are expressions of sizes that have names.
	syms map[string]*source.JSON
}

// node is one operation.
type node struct {
	target string
	name   string
	in     []input
	out    []arg
	stack  string // nn_module_stack
	at     *source.JSON
}

type input struct {
	name string
	arg  arg
}

// arg is an argument: its kind, such as as_tensor, and its value.
type arg struct {
	kind string
	v    *source.JSON
}

// meta is what the archive states of a tensor.
type meta struct {
	dtype          int64
	sizes, strides []*source.JSON
	offset         *source.JSON
	layout         int64
	at             *source.JSON
}

// inputSpec says what an input of the graph stands for.
type inputSpec struct {
	kind   string // parameter, buffer, tensor_constant, user_input, constant_input
	arg    string // the name in the graph; "" for constants that are no tensors
	stored string // the name of what is stored
	at     *source.JSON
}

// outputSpec says what an output of the graph stands for.
type outputSpec struct {
	kind string
	arg  arg
	at   *source.JSON
}

// dtypes are the element types by their numbers in the schema.
var dtypes = [...]struct {
	name string
	typ  ir.DType
}{
	1: {"uint8", ir.U8}, 2: {"int8", ir.I8}, 3: {"int16", ir.I16}, 4: {"int32", ir.I32}, 5: {"int64", ir.I64},
	6: {"float16", ir.F16}, 7: {"float32", ir.F32}, 8: {"float64", ir.F64}, 9: {"complex32", ""}, 10: {"complex64", ""},
	11: {"complex128", ""}, 12: {"bool", ir.B1}, 13: {"bfloat16", ir.BF}, 28: {"uint16", ir.U16},
	29: {"float8_e4m3fn", ""}, 30: {"float8_e5m2", ""}, 31: {"float8_e4m3fnuz", ""}, 32: {"float8_e5m2fnuz", ""},
}

// storage is the storage type of a number of the schema; "" if there is none.
func storage(code int64) ir.DType {
	if code < 0 || code >= int64(len(dtypes)) {
		return ""
	}
	return dtypes[code].typ
}

// dtypeName is the name of a number of the schema.
func dtypeName(code int64) string {
	if code >= 0 && code < int64(len(dtypes)) && dtypes[code].name != "" {
		return dtypes[code].name
	}
	return strconv.FormatInt(code, 10)
}

// decode reads the text of a program.
func (p *program) decode(root *source.JSON) error {
	r := reader{}
	version := r.need(r.need(root, "schema_version"), "major")
	if major := r.int(version); r.err == nil && major != schemaMajor {
		return version.Errorf(diag.OpsetVersion, "the schema has version %d; %d is read", major, schemaMajor).
			WithHint("export the model again with PyTorch 2.8 or newer")
	}
	p.version = r.optional(root.Get("torch_version"))
	module := r.need(root, "graph_module")
	p.graph = r.graph(r.need(module, "graph"), 0)
	signature := r.need(module, "signature")
	for _, v := range r.list(r.need(signature, "input_specs")) {
		p.inputs = append(p.inputs, r.inputSpec(v))
	}
	for _, v := range r.list(r.need(signature, "output_specs")) {
		kind, body := r.union(v)
		p.outputs = append(p.outputs, outputSpec{kind, r.arg(r.need(body, "arg")), v})
	}
	p.names = p.outputNames(module.Get("module_call_graph"))
	p.ranges = map[string][2]int64{}
	for _, v := range r.entries(root.Get("range_constraints")) {
		low, high := v.Get("min_val"), v.Get("max_val")
		bounds := [2]int64{0, 1<<63 - 1}
		if !low.IsNull() {
			bounds[0] = r.int(low)
		}
		if !high.IsNull() {
			bounds[1] = r.int(high)
		}
		p.ranges[v.Key] = bounds
	}
	return r.err
}

// reader reads records; the first error sticks.
type reader struct{ err error }

func (r *reader) fail(v *source.JSON, msg string, args ...any) {
	if r.err == nil {
		r.err = v.Errorf(diag.ProgramSchema, msg, args...)
	}
}

// keep records an error of a value that is of the wrong kind.
func (r *reader) keep(err error) {
	if err == nil || r.err != nil {
		return
	}
	r.err = err
	if d, ok := err.(*diag.Error); ok && d.Code == diag.BadAttribute {
		e := *d
		e.Code = diag.ProgramSchema
		r.err = &e
	}
}

func (r *reader) need(v *source.JSON, name string) *source.JSON {
	if r.err != nil {
		return nil
	}
	found, err := v.Need(name)
	r.keep(err)
	return found
}

func (r *reader) list(v *source.JSON) []*source.JSON {
	if r.err != nil {
		return nil
	}
	items, err := v.List()
	r.keep(err)
	return pointers(items)
}

// entries are the values of an object; none if it is absent.
func (r *reader) entries(v *source.JSON) []*source.JSON {
	if r.err != nil || v.IsNull() {
		return nil
	}
	items, err := v.Object()
	r.keep(err)
	return pointers(items)
}

func pointers(items []source.JSON) []*source.JSON {
	out := make([]*source.JSON, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

func (r *reader) str(v *source.JSON) string {
	if r.err != nil {
		return ""
	}
	s, err := v.Str()
	r.keep(err)
	return s
}

// optional is a string, or "" for anything else.
func (r *reader) optional(v *source.JSON) string {
	s, err := v.Str()
	if err != nil {
		return ""
	}
	return s
}

func (r *reader) int(v *source.JSON) int64 {
	if r.err != nil {
		return 0
	}
	n, err := v.Int()
	r.keep(err)
	return n
}

// union reads an object with one name, which says what its value is.
func (r *reader) union(v *source.JSON) (kind string, body *source.JSON) {
	items := r.entries(v)
	if r.err != nil {
		return "", nil
	}
	if len(items) != 1 {
		if v == nil {
			r.fail(v, "an object with one name is missing")
		} else {
			r.fail(v, "has %d names; one is needed, which says what it is", len(items))
		}
		return "", nil
	}
	return items[0].Key, items[0]
}

func (r *reader) arg(v *source.JSON) arg {
	kind, body := r.union(v)
	return arg{kind, body}
}

// inputSpec reads what an input stands for.
func (r *reader) inputSpec(v *source.JSON) inputSpec {
	kind, body := r.union(v)
	s := inputSpec{kind: kind, at: v}
	switch kind {
	case "parameter", "buffer", "tensor_constant":
		s.arg = r.str(r.need(r.need(body, "arg"), "name"))
		s.stored = r.str(r.need(body, kind+"_name"))
	case "user_input":
		a := r.arg(r.need(body, "arg"))
		if a.kind == "as_tensor" {
			s.arg = r.str(r.need(a.v, "name"))
		}
	case "constant_input": // a value that forward was called with, and that the graph holds already
	default:
		r.fail(v, "an input of the kind %s is not known", source.Quote(kind))
	}
	return s
}

// graph reads a graph.
func (r *reader) graph(v *source.JSON, depth int) *graph {
	g := &graph{tensors: map[string]*meta{}, syms: map[string]*source.JSON{}}
	if depth > maxNesting {
		r.fail(v, "graphs are nested more than %d deep", maxNesting)
		return g
	}
	for _, in := range r.list(r.need(v, "inputs")) {
		g.inputs = append(g.inputs, r.arg(in))
	}
	for _, out := range r.list(r.need(v, "outputs")) {
		g.outputs = append(g.outputs, r.arg(out))
	}
	nodes := r.list(r.need(v, "nodes"))
	if len(nodes) > maxNodes {
		r.fail(v, "has %d nodes; the limit is %d", len(nodes), maxNodes)
		return g
	}
	g.nodes = make([]node, 0, len(nodes))
	for _, n := range nodes {
		g.nodes = append(g.nodes, r.node(n))
	}
	for _, t := range r.entries(v.Get("tensor_values")) {
		g.tensors[t.Key] = r.meta(t)
	}
	for _, s := range r.entries(v.Get("sym_int_values")) {
		g.syms[s.Key] = s
	}
	return g
}

func (r *reader) node(v *source.JSON) node {
	n := node{target: r.str(r.need(v, "target")), name: r.optional(v.Get("name")), at: v}
	for _, in := range r.list(r.need(v, "inputs")) {
		n.in = append(n.in, input{r.optional(in.Get("name")), r.arg(r.need(in, "arg"))})
	}
	for _, out := range r.list(r.need(v, "outputs")) {
		n.out = append(n.out, r.arg(out))
	}
	n.stack = r.optional(v.Get("metadata").Get("nn_module_stack"))
	return n
}

// meta reads what is stated of a tensor.
func (r *reader) meta(v *source.JSON) *meta {
	m := &meta{dtype: r.int(r.need(v, "dtype")), sizes: r.list(r.need(v, "sizes")), at: v,
		layout: r.int(r.need(v, "layout")), offset: v.Get("storage_offset")}
	m.strides = r.list(r.need(v, "strides"))
	if len(m.sizes) > maxRank {
		r.fail(v, "has %d dimensions; the limit is %d", len(m.sizes), maxRank)
	}
	return m
}

// modulePath splits the text of nn_module_stack, "key,path,class" joined by ";": the last path and its class. Nodes
// that stand for sizes carry a text without a path.
func modulePath(stack string) (path, class string) {
	last := stack[strings.LastIndexByte(stack, ';')+1:]
	parts := strings.SplitN(last, ",", 3)
	if len(parts) < 3 || strings.HasPrefix(parts[0], "_empty_") {
		return "", ""
	}
	return parts[1], parts[2]
}
