// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"testing"

	"lathe/internal/tools"
)

// TestCodecs proves networks whose data and weights have codes that are no integers: casts decode and encode them.
func TestCodecs(t *testing.T) {
	for _, model := range []string{"digits-mlp", "digits-cnn"} {
		plans := []string{"float", "dfloat", "log", "e4m3", "e5m2", "binary", "ternary", "codebook", "mase", "bfp",
			"mxfp8", "mxfp4",
			"bminifloat", "blog"}
		if !tools.Long {
			plans = map[string][]string{"digits-mlp": {"e4m3", "mase", "bfp"},
				"digits-cnn": {"log", "ternary", "mxfp4"}}[model]
		}
		for _, plan := range plans {
			t.Run(model+"/"+plan, func(t *testing.T) {
				t.Parallel()
				e := engines(t)
				j := job(t, model, "model.onnx", "../../internal/driver/testdata/"+plan, 8)
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
}
