// SPDX-License-Identifier: Apache-2.0

package mutatetest

import (
	"strings"
	"testing"

	"lathe/internal/tools"
)

// A few faults of one kernel, all of which its tests notice.
func TestSample(t *testing.T) {
	tools.NeedNVRTC(t)
	var out strings.Builder
	err := Run(t.Context(), Options{Root: "../../..", Families: "map", Files: "quantize", Tests: "^TestQuantize$",
		Rules: "drop operand|shift index|constant", Sample: 6, Seed: 3, Workers: 2, Verbose: true, Goal: 60}, &out)
	t.Log("\n" + out.String())
	if err != nil {
		t.Error(err)
	}
	if strings.Count(out.String(), "wrong values") < 2 {
		t.Error("hardly any fault gives wrong values")
	}
}
