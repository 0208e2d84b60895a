// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// programs are the texts of testdata/ops.txtar.
func programs(t testing.TB) []txtar.File {
	archive, err := txtar.ParseFile("testdata/ops.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return archive.Files
}

// FuzzParse reads any text: a sound graph, or an error of the catalogue.
func FuzzParse(f *testing.F) {
	for _, p := range programs(f) {
		f.Add(p.Data)
	}
	data, err := os.ReadFile(digits + "model_args.stablehlo.mlir")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) { parseAny(t, data) })
}

func parseAny(t *testing.T, data []byte) {
	t.Helper()
	g, err := Parse("m.mlir", data, source.Options{Unroll: 3})
	if err == nil {
		if err := g.Check(); err != nil {
			t.Errorf("a broken graph: %v", err)
		}
		return
	}
	var one *diag.Error
	var list diag.List
	if !errors.As(err, &one) && !errors.As(err, &list) || diag.CodeOf(err) == "" {
		t.Errorf("%T: %v", err, err)
	}
}

// TestTruncated cuts every program at every eighth byte, and takes single tokens out.
func TestTruncated(t *testing.T) {
	for _, p := range programs(t) {
		for i := 0; i < len(p.Data); i += 1 + len(p.Data)/40 {
			parseAny(t, p.Data[:i])
		}
		words := strings.Fields(string(p.Data))
		for i := 0; i < len(words); i += 1 + len(words)/40 {
			parseAny(t, []byte(strings.Join(append(append([]string{}, words[:i]...), words[i+1:]...), " ")))
		}
	}
}

// TestBombs: small texts that stand for much are refused, or stay small.
func TestBombs(t *testing.T) {
	calls := "module {\n"
	for i := range 40 { // each calls the next twice
		calls += fmt.Sprintf("func.func private @f%d(%%a: tensor<f32>) -> tensor<f32> {\n"+
			"%%0 = call @f%d(%%a) : (tensor<f32>) -> tensor<f32>\n%%1 = call @f%d(%%0) : (tensor<f32>) -> tensor<f32>\n"+
			"return %%1 : tensor<f32>\n}\n", i, i+1, i+1)
	}
	calls = strings.Replace(calls, "private @f0", "public @main", 1) +
		"func.func private @f40(%a: tensor<f32>) -> tensor<f32> {\nreturn %a : tensor<f32>\n}\n}"
	head := "func.func @main() -> tensor<9999999x9999999xf32> {\n"
	for name, text := range map[string]string{
		"calls":    calls,
		"brackets": "func.func @main() { " + strings.Repeat("{ \"a.b\"() ({ ", 150000),
		"splat":    head + "%0 = stablehlo.constant dense<1.0> : tensor<9999999x9999999xf32>\nreturn %0 : tensor<f32>\n}",
		"iota":     head + "%0 = stablehlo.iota dim = 0 : tensor<268435456xf32>\nreturn %0 : tensor<268435456xf32>\n}",
		"list":     head + "%0 = stablehlo.constant dense<[1.0]> : tensor<9999999x999xf32>\nreturn %0 : tensor<f32>\n}",
		"hex":      head + "%0 = stablehlo.constant dense<\"0x00\"> : tensor<9999999x999xf32>\nreturn %0 : tensor<f32>\n}",
		"results":  head + "%0:4095 = call @main() : () -> tensor<f32>\nreturn %0#1 : tensor<f32>\n}",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("m.mlir", []byte(text), source.Options{})
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s passes", name)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 2000 {
			t.Errorf("%s takes %d MB", name, used)
		}
	}
}
