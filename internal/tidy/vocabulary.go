// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bytes"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// meaning is a word of docs/architecture.md whose other senses have other words.
type meaning struct {
	word  string         // as the table of words has it
	forms *regexp.Regexp // its forms as parts of identifiers, in lower case
	// where lists what may use it: files, folders, and with a slash behind them folders with all below.
	where []string
	other string // what to write elsewhere
	// passes are the passes that users see by a name with the word in its sense.
	passes []string
}

var meanings = []meaning{
	{"fold", regexp.MustCompile(`^fold(s|ed|ing|ings)?$`),
		[]string{"ir", "lower", "lower/plan", "lower/schedule/", "rtl/", "internal/diag"},
		"constants are computed, scales absorbed, reductions reduce", nil},
	{"flow", regexp.MustCompile(`^flows?$`),
		[]string{"ir/unit", "ir/op/hardware", "lower/schedule/tokens", "rtl/", "internal/difftest/"},
		"stages in a row are a pipeline or steps", nil},
	{"pair", regexp.MustCompile(`^pair(s|ed|ing)?$`),
		[]string{"ir/op/", "lower/schedule/streams/forks.go", "lower/float/recognize", "rtl/", "cuda/",
			"frontend/onnx/ops.go",
			"frontend/torch/ops_pair.go", "internal/difftest/"},
		"what belongs together matches, what is two is called by its names", []string{"pair_streams"}},
	{"real", regexp.MustCompile(`^reals?$`), []string{"ir/op/", "rtl/", "internal/diag", "internal/difftest/"},
		"what is not whole or not quantized is float", nil},
}

// allows says that the word may stand in f.
func (m *meaning) allows(f *File) bool {
	return slices.ContainsFunc(m.where, func(w string) bool {
		return f.Path == w || f.dir() == w || strings.HasSuffix(w, "/") && strings.HasPrefix(f.Path, w)
	})
}

// vocabulary holds the names of declarations, of files and of passes to the words of docs/architecture.md. Names of
// local variables are free.
func vocabulary(t Tree) []Finding {
	var out []Finding
	var page []byte
	if i := slices.IndexFunc(t, func(f *File) bool { return f.Path == architecture }); i >= 0 {
		page = t[i].Data
	}
	for _, m := range meanings {
		if !bytes.Contains(page, []byte("\n| "+m.word+" | ")) {
			out = append(out, Finding{Path: architecture, Msg: "its words lack " + m.word})
		}
	}
	for _, f := range t.goFiles(false) {
		if f.generated() {
			continue
		}
		for _, id := range f.declared() {
			for _, m := range meanings {
				if slices.ContainsFunc(parts(id.Name), m.forms.MatchString) && !m.allows(f) {
					msg := id.Name + ": " + m.word + " has another meaning in docs/architecture.md; " + m.other
					out = append(out, Finding{Path: f.Path, Line: f.line(id.Pos()), Msg: msg})
				}
			}
		}
		for name, pos := range f.passes() {
			for _, m := range meanings {
				if slices.ContainsFunc(parts(name), m.forms.MatchString) && !slices.Contains(m.passes, name) {
					msg := "the pass " + name + ": " + m.word + " has another meaning in docs/architecture.md; " + m.other
					out = append(out, Finding{Path: f.Path, Line: f.line(pos), Msg: msg})
				}
			}
		}
	}
	return out
}

// passes are the names that f gives to passes: the first argument of pass.New.
func (f *File) passes() map[string]token.Pos {
	found := map[string]token.Pos{}
	ast.Inspect(f.Go, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || fun.Sel.Name != "New" {
			return true
		}
		if of, ok := fun.X.(*ast.Ident); !ok || of.Name != "pass" {
			return true
		}
		if text, ok := call.Args[0].(*ast.BasicLit); ok {
			if name, err := strconv.Unquote(text.Value); err == nil {
				found[name] = text.Pos()
			}
		}
		return true
	})
	return found
}

// declared lists the names that f declares at its top level, those of fields and methods, and the name of its file.
func (f *File) declared() []*ast.Ident {
	names := []*ast.Ident{{Name: strings.TrimSuffix(f.base(), ".go"), NamePos: f.Go.Package}}
	for _, d := range f.Go.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					names = append(names, v.Names...)
				}
			}
		}
	}
	f.types(func(s *ast.TypeSpec) {
		names = append(names, s.Name)
		ast.Inspect(s.Type, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				names = append(names, field.Names...)
			}
			return true
		})
	})
	return names
}

var part = regexp.MustCompile(`[A-Z]+(?:[a-z0-9]+)?|[a-z0-9]+`)

// parts are the words of an identifier in lower case: two of ReduceMax, three of fold_max_test.
func parts(name string) []string {
	all := part.FindAllString(name, -1)
	for i, p := range all {
		all[i] = strings.ToLower(p)
	}
	return all
}
