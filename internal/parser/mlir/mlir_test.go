// SPDX-License-Identifier: Apache-2.0

package mlir

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestCurrent notices a grammar that was changed without its parser, and a parser that was changed by hand.
func TestCurrent(t *testing.T) {
	grammar, err := os.ReadFile("Mlir.g4")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mlir_lexer.go", "mlir_parser.go"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := bytes.Cut(data, []byte("\n\n"))
		for _, want := range []string{
			fmt.Sprintf("// grammar %x", sha256.Sum256(grammar)), fmt.Sprintf("// code %x", sha256.Sum256(body)),
		} {
			if !strings.Contains(string(head), want) {
				t.Errorf("%s lacks the line %q: run make gen", name, want)
			}
		}
	}
}
