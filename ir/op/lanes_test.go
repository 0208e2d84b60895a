// SPDX-License-Identifier: Apache-2.0

package op

import (
	"testing"

	"lathe/ir"
)

func TestCheckLanes(t *testing.T) {
	n := &ir.Node{Name: "fc", Op: Linear}
	for lanes, hint := range map[int]string{
		-1: "use 1", 0: "use 1", 1: "", 4: "", 5: "use 4 or 6", 7: "use 6 or 12", 12: "", 13: "use 12", 24: "use 12",
	} {
		e := checkLanes(n, "in_lanes", lanes, 12, "inputs")
		switch {
		case e == nil && hint != "":
			t.Errorf("%d lanes of 12 are taken", lanes)
		case e != nil && (hint == "" || e.Code != "L0412" || e.Hint != hint):
			t.Errorf("%d lanes of 12: %v", lanes, e)
		}
	}
	if e := CheckLanes(n, "in_lanes", 3, nil, 0, "inputs"); e == nil || e.Hint != "" {
		t.Errorf("nothing is legal: %v", e)
	}
}
