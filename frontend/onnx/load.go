// SPDX-License-Identifier: Apache-2.0

// Package onnx imports ONNX models (operator sets 7 to 27) as float graphs.
//
// The file is mapped and read field by field; weights stay views of the mapping. Decoding (wire.go, records.go,
// tensor.go) checks every length before anything is allocated, conversion (importer.go, ops.go) computes shape
// arithmetic on constants and makes one graph node, or few, from each remaining ONNX node.
package onnx

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// The operator set versions. Up to NewestOpset the node tests of the ONNX project have been run; newer ones are read as
// if they were that one, with a note.
const (
	OldestOpset = 7
	NewestOpset = 27
)

// Sniff says that data may be an ONNX model: a message that begins with ir_version or another small field of
// ModelProto.
func Sniff(data []byte) bool {
	if len(data) < 4 {
		return false
	}
	return data[0] == 0x08 && data[1] >= 1 && data[1] < 0x40 || data[0] == 0x12 || data[0] == 0x3a
}

// Load imports the model at path. Errors are *diag.Error or diag.List.
func Load(path string, opts source.Options) (*ir.Graph, error) {
	file, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	return parse(file.Base, filepath.Dir(path), file.Data, opts)
}

// Parse imports a model from memory, which must not change as long as the graph is in use. Name stands for the file
// name in messages. External data are refused.
func Parse(name string, data []byte, opts source.Options) (*ir.Graph, error) {
	return parse(name, "", data, opts)
}

func parse(name, dir string, data []byte, opts source.Options) (*ir.Graph, error) {
	if err := notOnnx(name, data); err != nil {
		return nil, err
	}
	m, err := decodeModel(message{buf: data})
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, diag.At(err, diag.ModelBroken, name)
	}
	im := newImporter(name, dir, m, opts)
	g, err := im.run()
	return g, positioned(err, name)
}

func newImporter(name, dir string, m *model, opts source.Options) *importer {
	return &importer{
		base: name, model: m, opts: opts, b: build.New(graphName(name), name),
		ext: externals{dir: dir, files: map[string][]byte{}},
	}
}

// positioned fills in the file name where errors have no position.
func positioned(err error, name string) error {
	var list diag.List
	if errors.As(err, &list) {
		for i, e := range list {
			list[i] = diag.At(e, diag.ModelBroken, name).(*diag.Error)
		}
		return list
	}
	if err == nil {
		return nil
	}
	return diag.At(err, diag.ModelBroken, name)
}

// notOnnx names what the file is if it is one of the usual mistakes.
func notOnnx(name string, data []byte) error {
	what, hint := source.LooksLike(data)
	if len(data) == 0 {
		what = "an empty file"
	} else if bytes.HasPrefix(data, []byte("ONNX")) && what == "" {
		what = "an ONNX model in text form"
	}
	if what == "" {
		return nil
	}
	return diag.New(diag.NotModel, name, "is not an ONNX model: it is %s", what).WithHint("%s", hint)
}

// check verifies versions and that there is something to compute.
func (m *model) check() error {
	switch {
	case m.graph == nil:
		return diag.New(diag.NoOutputs, "", "holds no graph: it is not an ONNX model, or a truncated one")
	case m.opset < OldestOpset:
		return diag.New(diag.OpsetVersion, "", "uses operator set %d; %d and newer are supported", m.opset, OldestOpset).
			WithHint("export it with opset_version=18")
	case len(m.graph.outputs) == 0:
		return diag.New(diag.NoOutputs, "", "has no outputs")
	}
	if m.graph.sparse {
		return diag.New(diag.SparseTensor, "", "has sparse initializers").WithHint("store the weights dense")
	}
	return nil
}

// graphName is the file name without its extension.
func graphName(file string) string {
	base := filepath.Base(file)
	if stem := base[:len(base)-len(filepath.Ext(base))]; stem != "" {
		return stem
	}
	return base
}

// values of names in order, for suggestions.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
