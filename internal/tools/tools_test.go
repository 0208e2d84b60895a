// SPDX-License-Identifier: Apache-2.0

package tools

import "testing"

func TestVerdict(t *testing.T) {
	absent := missing([]string{"go", "no-such-program-here"})
	if len(absent) != 1 || absent[0] != "no-such-program-here" {
		t.Fatalf("missing = %q", absent)
	}
	for _, ci := range []bool{false, true} {
		got := verdict("TestX", absent, ci)
		want := "TestX needs no-such-program-here, not found in PATH"
		if got.text != want || got.fatal != ci {
			t.Errorf("ci %v: %+v", ci, got)
		}
	}
	if got := verdict("TestX", missing([]string{"go"}), true); got != (message{}) {
		t.Errorf("a present tool gives %+v", got)
	}
}
