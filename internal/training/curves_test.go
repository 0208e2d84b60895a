// SPDX-License-Identifier: Apache-2.0

package training

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestCurves: what was done again counts once, and what was cut off does not.
func TestCurves(t *testing.T) {
	c, err := ReadCurves(strings.NewReader(`{"step":5,"epoch":1,"loss":3,"lr":0.1,"grad_norm":9,"accuracy":0.25}
{"step":10,"epoch":2,"loss":77,"lr":0.1,"grad_norm":9}
{"step":15,"epoch":3,"loss":78,"lr":0.1,"grad
{"step":10,"epoch":2,"loss":2,"lr":0.2,"grad_norm":8,"accuracy":0.5}
{"step":15,"epoch":3,"loss":1,"lr":0.3,"grad_norm":7,"accuracy":0.75,"sparsity":0.5}
`))
	if err != nil || len(c) != 3 || c[1].Loss != 2 || *c[2].Accuracy != 0.75 {
		t.Fatalf("%+v, %v", c, err)
	}
	if n := len(c.Plots()); n != 5 {
		t.Errorf("%d plots", n)
	}
	if n := bytes.Count(c.SVG(), []byte("<circle")); n != 4*3+1 {
		t.Errorf("%d dots", n)
	}
	if got := fmt.Sprint(c[2].Scalars()); got != "[{loss 1} {lr 0.3} {grad_norm 7} {accuracy 0.75} {sparsity 0.5}]" {
		t.Errorf("%s", got)
	}
	page, err := c.Page("Training of m", "1").HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"15 steps", "0.7500", "<polyline"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if strings.Contains(string(page), "<script") {
		t.Error("a script")
	}
}

// TestManyLines: a dot is the mean of its lines, and none is lost.
func TestManyLines(t *testing.T) {
	var c Curves
	for i := range 1000 {
		c = append(c, Line{Step: i + 1, Epoch: 1, Loss: float64(i % 7)})
	}
	svg := string(c.Plots()[0])
	if n := strings.Count(svg, "<circle"); n != 143 { // of 7 lines
		t.Errorf("%d dots", n)
	}
	for _, want := range []string{"step 7: loss 3<", "step 994: loss 3<", "step 1000: loss 2.5<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q", want)
		}
	}
	if n := len(Curves(nil).Plots()); n != 1 {
		t.Errorf("%d plots of nothing", n)
	}
}
