// SPDX-License-Identifier: Apache-2.0

package ir_test

import (
	"reflect"
	"testing"

	"lathe/ir"
)

// TestOrigin clones a record, which then shares nothing with the first.
func TestOrigin(t *testing.T) {
	g, _, _, _ := small(t)
	if c := g.Clone(); c.Origin != nil || c.Origin.Class("a") != "" {
		t.Errorf("%+v", c.Origin)
	}
	g.Origin = &ir.Origin{Format: "ONNX", Modules: []ir.Module{{Path: "a", Class: "A"}}, Dangling: []string{"x"},
		Shadowed: []string{"y"}, Renamed: []ir.Renamed{{From: "a", To: "a_2"}}, Notes: []string{"n"}}
	c := g.Clone()
	if !reflect.DeepEqual(c.Origin, g.Origin) || c.Origin.Class("a") != "A" || c.Origin.Class("b") != "" {
		t.Errorf("%+v", c.Origin)
	}
	c.Origin.Modules[0].Class, c.Origin.Dangling[0], c.Origin.Shadowed[0] = "B", "", ""
	c.Origin.Renamed[0].To, c.Origin.Notes[0] = "", ""
	if o := g.Origin; o.Class("a") != "A" || o.Dangling[0] == "" || o.Shadowed[0] == "" || o.Renamed[0].To == "" ||
		o.Notes[0] == "" {
		t.Errorf("the clone shares: %+v", o)
	}
}
