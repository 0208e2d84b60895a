// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import (
	"errors"
	"strings"
	"testing"

	"lathe/cuda"
)

// TestSerialized: the assembler says where products of warpgroups cannot run beside the threads, and that reaches the
// log, which the gates want empty. It says nothing of the same kernel without the fault.
func TestSerialized(t *testing.T) {
	intrinsics, errA := cuda.Text("intrinsics.cuh")
	hopper, errB := cuda.Text("hopper.cuh")
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	c := open(t, t.TempDir())
	const serialized = "wgmma.mma_async instructions are serialized"
	for between, want := range map[string]string{"": "", "s[0][0] += 1.0f;": serialized} {
		m, err := c.Compile(t.Context(), "k.cu", intrinsics+hopper+`
extern "C" __global__ void __launch_bounds__(128) k(f32* y) {
  const u64 a = operand(shared_addr(smem)), b = operand(shared_addr(smem) + 8192);
  f32 s[8][4];
  wgmma_fence();
  wgmma<1>(s, a, b, 0);
  `+between+`
  wgmma<1>(s, a + 2, b + 2, 1);
  wgmma_commit();
  wgmma_wait<0>();
  held(s);
  for (int i = 0; i < 32; ++i) y[threadIdx.x * 32 + i] = s[i / 4][i % 4];
}
`, "sm_90a")
		if err != nil {
			t.Fatal(err)
		}
		if (m.Log != "") != (want != "") || !strings.Contains(m.Log, want) {
			t.Errorf("%q between products: the log is %q", between, m.Log)
		}
	}
}
