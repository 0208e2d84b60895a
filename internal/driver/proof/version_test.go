// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"testing"
)

// TestMeaning: comments and blanks mean nothing to what compares, all else does.
func TestMeaning(t *testing.T) {
	of := func(text string) []byte { return meaning([]byte("package p\n" + text)) }
	want := of("func f() int { return 1 }\n")
	for _, same := range []string{"// f is one.\nfunc f() int { return 1 /* one */ }\n",
		"\n\nfunc f() int {\n\treturn 1 }"} {
		if !bytes.Equal(of(same), want) {
			t.Errorf("%q means something else", same)
		}
	}
	for _, other := range []string{"func f() int { return 2 }\n", "func g() int { return 1 }\n", "var f int = 1\n",
		"func f() int { return 1 }\nvar s = \"// 1\"\n"} {
		if bytes.Equal(of(other), want) {
			t.Errorf("%q means the same", other)
		}
	}
}
