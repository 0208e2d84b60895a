// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// stream is shortened from real output of the go command.
const stream = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestGood"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"noise of a good test\n"}
{"Action":"pass","Package":"a","Test":"TestGood","Elapsed":0.1}
{"Action":"output","Package":"a","Test":"TestTool","Output":"=== RUN   TestTool\n"}
{"Action":"output","Package":"a","Test":"TestTool","Output":"    tools.go:31: needs verilator\n"}
{"Action":"output","Package":"a","Test":"TestTool","Output":"--- SKIP: TestTool (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"TestTool","Elapsed":0}
{"Action":"pass","Package":"a","Test":"TestSlow/part","Elapsed":11}
{"Action":"pass","Package":"a","Test":"TestSlow","Elapsed":12.5}
{"Action":"pass","Package":"a","Test":"TestSlower","Elapsed":20}
{"Action":"pass","Package":"a","Elapsed":1.25}
`

const failing = `{"Action":"output","Package":"b","Test":"TestBad","Output":"    b_test.go:7: got 1, want 2\n"}
{"Action":"fail","Package":"b","Test":"TestBad","Elapsed":0}
{"Action":"fail","Package":"b","Elapsed":0.5}
`

// crash has no end event for the test that was running, as after a panic.
const crash = `{"Action":"run","Package":"c","Test":"TestCrash"}
{"Action":"output","Package":"c","Test":"TestCrash","Output":"panic: index out of range\n"}
{"Action":"fail","Package":"c","Elapsed":0.5}
`

const noBuild = `{"ImportPath":"d","Action":"build-output","Output":"d/d.go:3:1: syntax error\n"}
{"ImportPath":"d","Action":"build-fail"}
{"Action":"fail","Package":"d","Elapsed":0}
`

func TestSummary(t *testing.T) {
	cases := []struct {
		name, in string
		good     bool
		want     []string
		not      string
	}{
		{"good", stream, true, []string{
			"SKIP  a TestTool: needs verilator\n", "4 tests passed, 1 skipped, 0 failed, in 1 packages\n", "ok    a ",
			"long     20.0 s  a TestSlower\nlong     12.5 s  a TestSlow\n4 tests",
		}, "noise"},
		{"failed test", stream + failing, false, []string{"b_test.go:7: got 1, want 2", "failed: b\n"}, "noise"},
		{"crash", stream + crash, false, []string{"panic: index out of range", "failed: c\n"}, "noise"},
		{"no build", stream + noBuild, false, []string{"d/d.go:3:1: syntax error", "failed: d\n"}, "noise"},
		{"nothing ran", `{"Action":"skip","Package":"e"}` + "\n", false, []string{"nothing passed"}, "failed: "},
		{"plain text passes through", "go: a message\n" + stream, true, []string{"go: a message\n"}, "noise"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			sum := newSummary(&out)
			if err := sum.read(strings.NewReader(c.in)); err != nil {
				t.Fatal(err)
			}
			if good := sum.close(); good != c.good {
				t.Errorf("good = %v, want %v", good, c.good)
			}
			for _, w := range c.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("%q is missing in:\n%s", w, &out)
				}
			}
			if strings.Contains(out.String(), c.not) {
				t.Errorf("%q should not be in:\n%s", c.not, &out)
			}
		})
	}
}
