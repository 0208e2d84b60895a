// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	gofmt "go/format"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// The caps. A file over its cap holds two things that want two names.
const (
	maxGoLines       = 400
	maxHardwareLines = 250 // a SystemVerilog module, a CUDA template
	maxMakefileLines = 100
	maxFunctionLines = 60
	maxPackageFiles  = 15 // without tests
	maxColumns       = 120
	maxBytes         = 2 << 20
)

const licenceLine = "SPDX-License-Identifier: Apache-2.0"

func licence(t Tree) []Finding {
	var out []Finding
	for _, f := range t {
		if !f.source() && f.ext() != ".sv" && f.ext() != ".v" { // designs in testdata too
			continue
		}
		head := bytes.SplitN(f.Data, []byte("\n"), 3)
		has := bytes.Contains(head[0], []byte(licenceLine))
		if bytes.HasPrefix(head[0], []byte("#!")) && len(head) > 1 {
			has = bytes.Contains(head[1], []byte(licenceLine))
		}
		if !has && !f.generated() {
			out = append(out, Finding{Path: f.Path, Line: 1, Msg: "lacks the line " + licenceLine})
		}
	}
	return out
}

func format(t Tree) []Finding {
	var out []Finding
	for _, f := range t {
		if f.ext() != ".go" {
			continue
		}
		formatted, err := gofmt.Source(f.Data)
		if err != nil {
			out = append(out, Finding{Path: f.Path, Msg: err.Error()})
		} else if !bytes.Equal(formatted, f.Data) && !f.generated() {
			out = append(out, Finding{Path: f.Path, Msg: "is not gofmt-ed: run make fmt"})
		}
	}
	return out
}

func length(t Tree) []Finding {
	var out []Finding
	for _, f := range t {
		limit := 0
		switch f.ext() {
		case ".go":
			limit = maxGoLines
		case ".sv", ".cuh", ".cu":
			limit = maxHardwareLines
		}
		if f.base() == "Makefile" {
			limit = maxMakefileLines
		}
		if n := f.lines(); limit > 0 && n > limit && !f.generated() {
			out = append(out, Finding{Path: f.Path, Msg: fmt.Sprintf("%d lines, at most %d", n, limit)})
		}
	}
	return out
}

func columns(t Tree) []Finding {
	var out []Finding
	for _, f := range t {
		if !f.source() || f.generated() {
			continue
		}
		n := 0
		for line := range bytes.Lines(f.Data) {
			n++
			if w := utf8.RuneCount(bytes.TrimRight(line, "\n")); w > maxColumns {
				out = append(out, Finding{Path: f.Path, Line: n, Msg: fmt.Sprintf("%d characters, at most %d", w, maxColumns)})
			}
		}
	}
	return out
}

func functions(t Tree) []Finding {
	var out []Finding
	for _, f := range t.goFiles(false) {
		if f.generated() {
			continue
		}
		for _, d := range f.Go.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > maxFunctionLines {
				msg := fmt.Sprintf("%s has %d lines, at most %d", fn.Name.Name, n, maxFunctionLines)
				out = append(out, Finding{Path: f.Path, Line: f.line(fn.Pos()), Msg: msg})
			}
		}
	}
	return out
}

// catalogues hold one file an entry: their number grows with the formats, errors, families of operators and commands
// there are. So do the rooms of operations, which ir/op/all.go imports.
var catalogues = []string{"ir/format", "frontend/hf", "frontend/onnx", "frontend/torch", "frontend/stablehlo",
	"internal/cli", "internal/diag"}

// rooms are the packages that hold the operations of ir/op/all.go.
func rooms(t Tree) []string {
	var out []string
	for _, f := range t.goFiles(true) {
		if f.Path != allOps {
			continue
		}
		for _, i := range f.Go.Imports {
			if dir := strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), module); under(dir, "ir/op") {
				out = append(out, dir)
			}
		}
	}
	return out
}

func packages(t Tree) []Finding {
	growing := append(rooms(t), catalogues...)
	count := map[string]int{}
	for _, f := range t.goFiles(true) {
		if !f.generated() {
			count[f.dir()]++
		}
	}
	var out []Finding
	for _, dir := range slices.Sorted(maps.Keys(count)) {
		if n := count[dir]; n > maxPackageFiles && !slices.Contains(growing, dir) {
			msg := fmt.Sprintf("%d files, at most %d: join two, or move some into a package of their own", n, maxPackageFiles)
			out = append(out, Finding{Path: dir, Msg: msg})
		}
	}
	return out
}

func size(t Tree) []Finding {
	var out []Finding
	for _, f := range t {
		if len(f.Data) > maxBytes {
			out = append(out, Finding{Path: f.Path, Msg: fmt.Sprintf("%d bytes, at most %d", len(f.Data), maxBytes)})
		}
	}
	return out
}

// vague are words that say nothing of what a package holds.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "manager", "base", "shared", "types"}

func names(t Tree) []Finding {
	seen := map[string]bool{}
	var out []Finding
	for _, f := range t.goFiles(true) {
		name := strings.TrimSuffix(f.Go.Name.Name, "_test")
		if slices.Contains(vague, name) && !seen[f.dir()] {
			seen[f.dir()] = true
			out = append(out, Finding{Path: f.dir(), Msg: "package " + name + ": name it after the thing that it holds"})
		}
	}
	return out
}
