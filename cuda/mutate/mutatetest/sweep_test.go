// SPDX-License-Identifier: Apache-2.0

package mutatetest

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	pointwise "lathe/cuda/map"
	"lathe/cuda/map/maptest"
)

// Every instruction of dequantize, over all pairs and a short tail.
func TestSweep(t *testing.T) {
	c, err := maptest.Dequant(pointwise.Dequant{Out: "bf16", N: 4113}, false)
	if err != nil {
		t.Fatal(err)
	}
	source, err := cuda.Print(c.Instances...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cudatest.Compiler(t).Compile(t.Context(), "dequant.cu", source, cuda.PortablePTX)
	if err != nil {
		t.Fatal(err)
	}
	s := Sweep(t, c, m.PTX)
	t.Log(s)
	for _, left := range s.Left {
		t.Log("survived: ", left)
	}
	if s.Wrong == 0 || s.Stopped == 0 || 10*s.Survived > 3*(s.Wrong+s.Stopped) {
		t.Error(s)
	}
}
