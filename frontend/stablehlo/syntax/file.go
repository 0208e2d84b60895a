// SPDX-License-Identifier: Apache-2.0

// Package syntax reads the text form of MLIR modules: operations in generic and in pretty form as one kind of record,
// with their operands, attributes, regions, types and locations. It knows no operation by its meaning.
//
// A scan bounds the nesting and cuts long constants out (scan.go), the parser of internal/parser/mlir checks the syntax
// of the tokens (stream.go, parse.go), records are made of them (read.go), and readers decode these (form.go, types.go,
// dense.go, attr.go).
package syntax

import (
	"bytes"
	"fmt"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// File is a module text and what was read of it.
type File struct {
	// Name stands for the file in messages.
	Name string
	// Ops are the operations outside of all others: the module, or functions without one.
	Ops []Op

	*scanned
	aliases   map[string]*Node // of locations and types, by name with its mark
	resources map[string]span
	bad       error // what is wrong with a tree
}

type span struct{ at, end int }

// Position is FILE:LINE:COL of an offset.
func (f *File) Position(at int) string {
	line, col := f.lineCol(at)
	return fmt.Sprintf("%s:%d:%d", f.Name, line, col)
}

func (f *File) errorAt(code diag.Code, at int, msg string, args ...any) *diag.Error {
	return diag.New(code, f.Position(at), msg, args...)
}

// Errorf is an error at an offset of the text.
func (f *File) Errorf(code diag.Code, at int, msg string, args ...any) *diag.Error {
	return f.errorAt(code, at, msg, args...)
}

// Source is a part of the text as it is written.
func (f *File) Source(at, end int) string { return string(f.src[at:end]) }

// Bytecode says that data are the binary form of a module.
func Bytecode(data []byte) bool { return bytes.HasPrefix(data, []byte("ML\xefR")) }

// Parse reads a text. Errors are *diag.Error.
func Parse(name string, data []byte) (*File, error) {
	f := &File{Name: name, aliases: map[string]*Node{}, resources: map[string]span{}}
	if Bytecode(data) {
		return nil, diag.New(diag.MLIRBytecode, name, "is MLIR bytecode, not text").
			WithHint("print it: str(exported.mlir_module()), or stablehlo-translate --deserialize")
	}
	if what, hint := source.LooksLike(data); what != "" || len(bytes.TrimSpace(data)) == 0 {
		if what == "" {
			what = "an empty file"
		}
		return nil, diag.New(diag.NotModel, name, "is not StableHLO text: it is %s", what).WithHint("%s", hint)
	}
	if err := f.scan(data); err != nil {
		return nil, err
	}
	if err := f.parse(); err != nil {
		return nil, err
	}
	return f, nil
}
