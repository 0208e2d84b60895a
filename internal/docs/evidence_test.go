// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"lathe/internal/evidence"
)

// TestQuoted holds the figures that pages quote of docs/evidence to its lines.
func TestQuoted(t *testing.T) {
	e, err := evidence.Read("../../docs/evidence")
	if err != nil {
		t.Fatal(err)
	}
	total := e.Totals()
	want := fmt.Sprintf("%d designs %d codes of simulated hardware %d mismatches", total.Proven, total.Codes["rtl"],
		total.Mismatches)
	for _, page := range []string{"../../README.md", "../../docs/compare.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.ReplaceAll(string(text), ",", ""), want) {
			t.Errorf("%s does not say %q, with commas", page, want)
		}
	}
}
