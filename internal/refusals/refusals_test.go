// SPDX-License-Identifier: Apache-2.0

package refusals

import (
	"strings"
	"testing"
)

// TestRows: rows are written as they are read, and each has a code.
func TestRows(t *testing.T) {
	all, err := All()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d rows: %v", len(all), err)
	}
	for _, r := range all {
		data, err := rows.ReadFile("rows/" + r.File)
		if err != nil || string(r.Text()) != string(data) {
			t.Errorf("%s: %v, reads as\n%s", r.File, err, r.Text())
		}
		if r.Code() == "" {
			t.Errorf("%s: no code in %q", r.File, r.Message)
		}
	}
}

// TestUnsaid: a message that names nothing of what the user changes is found.
func TestUnsaid(t *testing.T) {
	for text, want := range map[string]string{
		"T\n\n$ lathe a\nL0101: no\n  hint: did you mean b?\n\n$ lathe b\n":                                  "",
		"T\n\n$ lathe a\nL0101: no\n\n$ lathe b\n":                                                           "b",
		"T\n\n$ lathe a x\nL0101: x is too much\n\n$ lathe a\n":                                              "",
		"T\n\n$ lathe p\nL0101: no\n  hint: did you mean key?\n\n$ lathe p\n-- p --\nkye\n-- then/p --\nkey": "",
		"T\n\n$ lathe p\nL0101: no\n  hint: did you mean kye?\n\n$ lathe p\n-- p --\nkye\n-- then/p --\nkey": "key",
		"T\n\n$ lathe a\nL0101: no\n  hint: call eval()\n\n# call eval()\n$ lathe b\n":                       "",
	} {
		r, err := Parse([]byte(text))
		if got := r.Unsaid(); err != nil || got != want {
			t.Errorf("%q, %v, want %q, of\n%s", got, err, want, text)
		}
	}
	for _, text := range []string{"", "T\n", "T\n\n$ a\n", "T\n\n$ a\nL0101: no\n\n$ b\nstray\n",
		"T\n\nstray\n$ a\nno\n$ b\n"} {
		if r, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", strings.TrimSpace(text), r)
		}
	}
}
