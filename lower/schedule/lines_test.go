// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strings"
	"testing"

	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
)

// TestNoWords warns of a memory for a node that keeps nothing in one.
func TestNoWords(t *testing.T) {
	for rule, warned := range map[string]bool{"name = \"r\"\nmem = \"block\"": true, "name = \"r\"\nmem = \"auto\"": false,
		"name = \"y\"\nmem = \"block\"": false, "name = \"*\"\nmem = \"distributed\"": false} {
		b := lowertest.New(t, 2)
		x := b.Add(pointwise.Relu, "r", nil, b.Input("x", 1, 4))
		_, r, err := decided(t, b.Done(b.Linear("y", x, 3, true)), "[[fold.rule]]\n"+rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(r.Warnings, "\n"), "mem changes nothing"); got != warned {
			t.Errorf("%s: warned %v: %q", rule, got, r.Warnings)
		}
	}
}

// TestNoLines warns of a line buffer for a layer that has none.
func TestNoLines(t *testing.T) {
	for name, warned := range map[string]bool{"y": true, "c": false} {
		b := lowertest.New(t, 2)
		x := b.Conv("c", b.Input("x", 1, 4, 5, 5), 4, 3, 1, 1, 1, true)
		plan := fmt.Sprintf("[[fold.rule]]\nname = %q\nline_mem = \"block\"", name)
		_, r, err := decided(t, b.Done(b.Linear("y", b.Flatten("flat", x), 3, true)), plan)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(r.Warnings, "\n"), "line_mem changes nothing"); got != warned {
			t.Errorf("a rule for %s: warned %v: %q", name, got, r.Warnings)
		}
	}
}
