// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	pointwise "lathe/cuda/map"
)

func dequants(t testing.TB) []cuda.Instance {
	t.Helper()
	var all []cuda.Instance
	wide := int64(1 << 31)
	for _, d := range []pointwise.Dequant{{Out: "bf16"}, {Out: "f32"}, {Out: "bf16", N: wide}, {Out: "f32", N: wide}} {
		i, err := d.Instance()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, i)
	}
	return all
}

func TestDequantGates(t *testing.T) { cudatest.Gates(t, dequants(t)...) }
