// SPDX-License-Identifier: Apache-2.0

package sums

import (
	"flag"
	"os"
	"strings"
	"testing"

	"lathe/rtl/cmvm"
)

var update = flag.Bool("update", false, "write the example of docs/unrolled.md")

// TestPage holds the example of docs/unrolled.md to what is printed: the sums and casts of a layer of three inputs.
//
//	go test -run '^TestPage$' ./rtl/sums -update
func TestPage(t *testing.T) {
	in := cmvm.Range{Lo: -8, Hi: 7}
	c := Cast{Shift: 3, Bits: 4}
	l := &Layer{InBits: 4, OutBits: 4, Stages: 2, Casts: []Cast{c, c}, Problem: cmvm.Problem{Group: 5,
		Inputs: []cmvm.Range{in, in, in}, Bias: []int64{3, -9}, Matrix: [][]int64{{7, 5, 3}, {5, -7, 1}}}}
	if err := l.Solve(); err != nil {
		t.Fatal(err)
	}
	u, err := l.Unit()
	if err != nil {
		t.Fatal(err)
	}
	m := u.Body.Module
	m.Name = "layer"
	const page, begin, end = "../../docs/unrolled.md", "\n```systemverilog\n", "```\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no example", page)
	}
	want := before + begin + string(m.Print()) + end + after
	switch {
	case want == string(data):
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is out of date: run this test with -update", page)
	}
}
