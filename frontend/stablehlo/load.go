// SPDX-License-Identifier: Apache-2.0

// Package stablehlo imports StableHLO programs in text form, as jax prints them, as float graphs.
//
// Package syntax reads the text; this one gives each operation its meaning (table.go): values that are known become
// constants at once, calls are inlined, loops of constant length are unrolled on request, and what broadcasts stays
// small until an operation needs all of its elements.
package stablehlo

import (
	"bytes"
	"path/filepath"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
)

// Sniff says that data may be a module: text that begins with one, a location, or a comment, or the binary form.
func Sniff(data []byte) bool {
	if syntax.Bytecode(data) {
		return true
	}
	data = bytes.TrimLeft(data, " \t\r\n")
	for _, prefix := range []string{"module", "#loc", "\"builtin.module\"", "func.func", "// ", "{-#"} {
		if bytes.HasPrefix(data, []byte(prefix)) {
			return true
		}
	}
	return false
}

// Load imports the module at path. Errors are *diag.Error or diag.List.
func Load(path string, opts source.Options) (*ir.Graph, error) {
	file, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	return Parse(file.Base, file.Data, opts)
}

// Parse imports a module from memory. Name stands for the file name in messages.
func Parse(name string, data []byte, opts source.Options) (*ir.Graph, error) {
	file, err := syntax.Parse(name, data)
	if err != nil {
		return nil, err
	}
	im := &importer{
		File: file, opts: opts, b: build.New(graphName(name), name),
		funcs: map[string]*function{}, specs: map[string]*spec{},
		sums: map[*ir.Node]partialSum{},
	}
	g, err := im.run()
	if err != nil {
		if list, ok := err.(diag.List); ok {
			return nil, list
		}
		return nil, diag.At(err, diag.UnsupportedForm, name)
	}
	return g, nil
}

// graphName is the file name without its extensions.
func graphName(file string) string {
	base := filepath.Base(file)
	for _, ext := range []string{".mlir", ".stablehlo"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}
