// SPDX-License-Identifier: Apache-2.0

// Package pt2test writes .pt2 archives for tests, out of a text with a line for each value:
//
//	input x f32 1x8
//	param fc.weight f32 4x8 strides=1,4 data=shared
//	y f32 1x4 = linear.default input=%x weight=%fc.weight bias=none @ fc:torch.nn.modules.linear.Linear
//	[a f32 1x2, b f32 1x2] = split.Tensor self=%y split_size=2 dim=1
//	output a
//
// Arguments are %names of tensors, numbers, true, false, none, 'strings', lists of these in brackets, and dtype:7 or
// any other kind of argument with its value as JSON. Sizes that begin with a letter are symbols.
package pt2test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Value is a JSON value, Object a JSON object.
type (
	Value  any
	Object map[string]Value
)

// Program is what a text says, as the JSON values of the archive; tests may change them before Archive.
type Program struct {
	// Model, Weights and Constants are the values of model.json and of the two configs.
	Model, Weights, Constants Object
	// Data are the stored elements by the names of the members: data/weights/weight_0.
	Data map[string][]byte
	// Root is the folder in the archive.
	Root string

	tensors       Object
	names         map[string]string // of the graph, by those of the state_dict
	inputs, nodes []Value
	specs, outs   []Value
	outSpecs      []Value
	symInts       Object
}

var dtypes = map[string]struct{ code, size int }{"u8": {1, 1}, "i8": {2, 1}, "i16": {3, 2}, "i32": {4, 4},
	"i64": {5, 8},
	"f16": {6, 2}, "f32": {7, 4}, "f64": {8, 8}, "c64": {10, 8}, "bool": {12, 1}, "bf16": {13, 2}, "f8": {29, 1}}

// New reads a text. A mistake in it panics: texts stand in tests.
func New(text string) *Program {
	p := &Program{Root: "model", Data: map[string][]byte{}, tensors: Object{}, names: map[string]string{},
		Weights: Object{"config": Object{}}, Constants: Object{"config": Object{}}, symInts: Object{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "", "#":
		case "input", "param", "buffer", "const", "size":
			p.define(word, strings.Fields(rest))
		case "output":
			p.outs = append(p.outs, Object{"as_tensor": Object{"name": rest}})
			p.outSpecs = append(p.outSpecs, Object{"user_output": Object{"arg": Object{"as_tensor": Object{"name": rest}}}})
		default:
			p.nodes = append(p.nodes, p.node(line))
		}
	}
	ranges := Object{}
	p.Model = Object{
		"schema_version": Object{"major": 8, "minor": 20}, "torch_version": "2.15.0", "range_constraints": ranges,
		"graph_module": Object{"signature": Object{"input_specs": p.specs, "output_specs": p.outSpecs}, "graph": p.graph()},
	}
	return p
}

func (p *Program) graph() Object {
	return Object{"inputs": p.inputs, "outputs": p.outs, "nodes": p.nodes, "tensor_values": p.tensors,
		"sym_int_values": p.symInts}
}

// define adds an input of the graph.
func (p *Program) define(kind string, f []string) {
	if kind == "size" { // NAME SYMBOL: a name that results of sizes have
		p.symInts[f[0]] = size(f[1])
		return
	}
	name := f[0]
	arg := name
	if kind != "input" {
		arg = kind[:1] + "_" + strings.ReplaceAll(name, ".", "_")
	}
	p.names[name] = arg
	p.tensors[arg] = tensor(f[1], f[2])
	p.inputs = append(p.inputs, Object{"as_tensor": Object{"name": arg}})
	switch kind {
	case "input":
		p.specs = append(p.specs, Object{"user_input": Object{"arg": Object{"as_tensor": Object{"name": name}}}})
		return
	case "param":
		p.specs = append(p.specs, Object{"parameter": Object{"arg": Object{"name": arg}, "parameter_name": name}})
	case "buffer":
		p.specs = append(p.specs, Object{"buffer": Object{"arg": Object{"name": arg}, "buffer_name": name,
			"persistent": true}})
	case "const":
		p.specs = append(p.specs, Object{"tensor_constant": Object{"arg": Object{"name": arg}, "tensor_constant_name": name}})
	}
	p.store(kind, name, f)
}

// store writes the elements, which are small numbers of both signs, or 0 and 1 for truth values.
func (p *Program) store(kind, name string, f []string) {
	meta, folder, config := tensor(f[1], f[2]), "data/weights/weight_", p.Weights
	if kind == "const" {
		folder, config = "data/constants/tensor_", p.Constants
	}
	file := folder + strconv.Itoa(len(config["config"].(Object)))
	elems, values := 1, []float64(nil)
	for _, d := range meta["sizes"].([]Value) {
		elems *= d.(Object)["as_int"].(int)
	}
	for _, option := range f[3:] {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "strides":
			var list []Value
			for s := range strings.SplitSeq(value, ",") {
				list = append(list, Object{"as_int": number(s)})
			}
			meta["strides"] = list
		case "offset":
			meta["storage_offset"] = Object{"as_int": number(value)}
		case "data":
			file = folder + value
		case "elems":
			elems = number(value)
		case "values":
			for s := range strings.SplitSeq(value, ",") {
				v, err := strconv.ParseFloat(s, 64)
				must(err == nil, s)
				values = append(values, v)
			}
		default:
			panic(option)
		}
	}
	config["config"].(Object)[name] = Object{"path_name": file[strings.LastIndexByte(file, '/')+1:], "is_param": kind ==
		"param", "use_pickle": false, "tensor_meta": meta}
	if p.Data[file] != nil {
		return
	}
	if values == nil {
		values = Ramp(elems)
	}
	p.Data[file] = encode(f[1], values)
}

// Ramp is the elements that stored tensors of n elements have, where the text gives none.
func Ramp(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i*7%13-6) / 8
	}
	return out
}

func encode(dtype string, values []float64) []byte {
	var out []byte
	for _, v := range values {
		switch dtype {
		case "f32":
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		case "f64":
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		case "bf16":
			out = binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(float32(v))>>16))
		case "bool":
			out = append(out, byte(int(math.Ceil(math.Abs(v)))&1))
		default:
			word := binary.LittleEndian.AppendUint64(nil, uint64(int64(v)))
			out = append(out, word[:dtypes[dtype].size]...)
		}
	}
	return out
}

// tensor is what the archive states of a tensor.
func tensor(dtype, shape string) Object {
	code, ok := dtypes[dtype]
	must(ok, dtype)
	sizes, strides, step := []Value{}, []Value{}, 1
	if shape != "scalar" {
		for d := range strings.SplitSeq(shape, "x") {
			sizes = append(sizes, size(d))
		}
	}
	for _, d := range slices.Backward(sizes) {
		strides = append([]Value{Object{"as_int": step}}, strides...)
		if n, ok := d.(Object)["as_int"].(int); ok {
			step *= n
		}
	}
	return Object{"dtype": code.code, "sizes": sizes, "strides": strides, "storage_offset": Object{"as_int": 0},
		"layout":        7,
		"requires_grad": false, "device": Object{"type": "cpu", "index": nil}}
}

func size(d string) Object {
	if n, err := strconv.Atoi(d); err == nil {
		return Object{"as_int": n}
	}
	text := d
	if !strings.Contains(d, "(") {
		text = "Symbol('" + d + "', positive=True, integer=True)"
	}
	return Object{"as_expr": Object{"expr_str": text, "hint": Object{"as_int": 3}}}
}

// node reads a line of an operation.
func (p *Program) node(line string) Object {
	left, right, ok := strings.Cut(line, " = ")
	must(ok, line)
	right, module, _ := strings.Cut(right, " @ ")
	fields := strings.Fields(right)
	target := fields[0]
	if !strings.HasPrefix(target, "torch.") && !strings.HasPrefix(target, "_operator.") {
		target = "torch.ops.aten." + target
	}
	name, outputs := p.results(left)
	inputs := []Value{}
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		must(ok, f)
		inputs = append(inputs, Object{"name": key, "arg": p.arg(value), "kind": 1})
	}
	path, class, _ := strings.Cut(module, ":")
	stack := "L__self__,,Net"
	if module != "" {
		stack += ";L__self__" + path + "," + path + "," + class
	}
	return Object{"target": target, "name": name, "inputs": inputs, "outputs": outputs,
		"metadata": Object{"nn_module_stack": stack}, "is_hop_single_tensor_return": nil}
}

// results reads what stands in front of the equals sign: one result, several, or a list of them in brackets.
func (p *Program) results(left string) (name string, outputs []Value) {
	list := strings.TrimSuffix(strings.TrimPrefix(left, "["), "]")
	outputs = []Value{}
	for part := range strings.SplitSeq(list, ", ") {
		f := strings.Fields(part)
		switch {
		case len(f) == 0 || f[0] == "none":
			continue
		case len(f) == 2 && f[1] == "size":
			outputs = append(outputs, Object{"as_sym_int": Object{"as_name": f[0]}})
		default:
			p.tensors[f[0]] = tensor(f[1], f[2])
			outputs = append(outputs, Object{"as_tensor": Object{"name": f[0]}})
		}
		name = f[0]
	}
	if strings.HasPrefix(left, "[") {
		var all []Value
		for _, o := range outputs {
			all = append(all, o.(Object)["as_tensor"])
		}
		outputs = []Value{Object{"as_tensors": all}}
	}
	return name, outputs
}

// arg reads an argument.
func (p *Program) arg(v string) Object {
	switch {
	case strings.HasPrefix(v, "%"):
		return Object{"as_tensor": Object{"name": p.graphName(v[1:])}}
	case v == "none":
		return Object{"as_none": true}
	case v == "true" || v == "false":
		return Object{"as_bool": v == "true"}
	case strings.HasPrefix(v, "'"):
		return Object{"as_string": strings.Trim(v, "'")}
	case strings.HasPrefix(v, "$"):
		return Object{"as_sym_int": Object{"as_name": v[1:]}}
	case strings.HasPrefix(v, "["):
		return p.listArg(strings.Split(strings.Trim(v, "[]"), ","))
	case v == "inf" || v == "-inf":
		return Object{"as_float": map[string]string{"inf": "Infinity", "-inf": "-Infinity"}[v]}
	}
	if kind, value, ok := strings.Cut(v, ":"); ok {
		return Object{"as_" + kind: json.RawMessage(value)}
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		return Object{"as_int": n}
	}
	f, err := strconv.ParseFloat(v, 64)
	must(err == nil, v)
	return Object{"as_float": f}
}

func (p *Program) graphName(name string) string {
	if arg := p.names[name]; arg != "" {
		return arg
	}
	return name
}

func (p *Program) listArg(parts []string) Object {
	kind, items := "as_ints", []Value{}
	for _, s := range parts {
		switch {
		case strings.HasPrefix(s, "$"):
			kind = "as_sym_ints"
		case strings.HasPrefix(s, "%") && kind != "as_optional_tensors":
			kind = "as_tensors"
		case s == "none":
			kind = "as_optional_tensors"
		}
	}
	for _, s := range parts {
		switch {
		case s == "":
		case kind == "as_tensors":
			items = append(items, p.arg(s)["as_tensor"])
		case kind == "as_optional_tensors":
			items = append(items, p.arg(s))
		case strings.HasPrefix(s, "$"):
			items = append(items, Object{"as_name": s[1:]})
		case kind == "as_sym_ints":
			items = append(items, Object{"as_int": number(s)})
		default:
			items = append(items, number(s))
		}
	}
	return Object{kind: items}
}

// Graph is the graph of a text, as an argument of an operation.
func Graph(text string) string {
	data, err := json.Marshal(Object{"name": "inner", "graph": New(text).graph()})
	must(err == nil, err)
	return string(data)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	must(err == nil, s)
	return n
}

func must(ok bool, what any) {
	if !ok {
		panic(fmt.Sprint("pt2test: ", what))
	}
}
