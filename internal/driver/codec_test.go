// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"testing"

	"lathe/internal/tools"
)

// TestCodecs proves networks whose data and weights have codes that are no integers: casts decode and encode them.
func TestCodecs(t *testing.T) {
	type design struct{ model, plan string }
	var designs []design
	for _, model := range []string{"digits-mlp", "digits-cnn"} {
		for _, plan := range []string{"float", "dfloat", "log", "e4m3", "e5m2", "binary", "ternary", "codebook", "mase",
			"bfp", "mxfp8", "mxfp4", "bminifloat", "blog"} {
			designs = append(designs, design{model, plan})
		}
	}
	for _, d := range tools.Few(2, designs) {
		t.Run(d.model+"/"+d.plan, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			j := job(t, d.model, "model.onnx", "../../internal/driver/testdata/"+d.plan, 8)
			check, err := e.Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 || check.Outputs != 80 {
				t.Fatalf("%d of %d codes differ: %v", check.Mismatches, check.Outputs, check.First)
			}
		})
	}
}
