// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestQuick reads every program of the tests by both ways, which come to one result: the quick one passes all that has
// no errors, and nothing else.
func TestQuick(t *testing.T) {
	archive, err := txtar.ParseFile("../testdata/ops.txtar")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(digits + "model_args.stablehlo.mlir")
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{data, program(10000),
		[]byte("#a = loc(\"x\")\n#b = #a !t = tensor<4xf32>\na.b \"c.d\"() {k = {l}} e.f")}
	for _, p := range archive.Files {
		texts = append(texts, p.Data)
	}
	for _, text := range texts {
		bothWays(t, text, true)
		for i := 0; i < len(text); i += 1 + len(text)/20 {
			bothWays(t, text[:i], false)
			bothWays(t, fmt.Appendf(nil, "%s%c%s", text[:i], " =~(\"%#"[i%7], text[i:]), false)
		}
	}
}

func bothWays(t *testing.T, text []byte, sound bool) {
	t.Helper()
	a, b := scannedOnly(text), scannedOnly(text)
	if a == nil {
		return
	}
	quick, ok := a.quick()
	thorough, err := b.thorough()
	if ok != (err == nil) {
		t.Fatalf("%.60q: %v, %v", text, ok, err)
	}
	if !ok {
		if sound {
			t.Fatalf("%.60q: %v", text, err)
		}
		return
	}
	if !reflect.DeepEqual(quick, thorough) {
		t.Fatalf("%.60q: other tokens, or rules", text)
	}
}

// scannedOnly is a file before it is parsed, nil where the scan refuses it.
func scannedOnly(text []byte) *File {
	f := &File{Name: "m", aliases: map[string]*Node{}, resources: map[string]span{}}
	if f.scan(text) != nil {
		return nil
	}
	f.text = string(f.code)
	return f
}
