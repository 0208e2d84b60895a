// SPDX-License-Identifier: Apache-2.0

package cases_test

import (
	"math"
	"os"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cases"
	"lathe/cuda/predictor"
)

// measured are the times of an H200.
func measured(t *testing.T) []predictor.Measured {
	t.Helper()
	lines, err := os.Open("../../docs/measurements/nvidia-h200.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	all, err := cases.Measured(lines)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 84 {
		t.Fatalf("%d cases, at least 84 were timed", len(all))
	}
	return all
}

func arch(t *testing.T) cuda.Arch {
	t.Helper()
	a, err := cuda.FindArch(cuda.HopperArch)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFit holds the constants to the measurements from which they come, and the model to those that it has not seen.
func TestFit(t *testing.T) {
	a, all := arch(t), measured(t)
	m, err := predictor.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	fits, held := predictor.Halves(all)
	again := predictor.Fit(a, fits)
	again.Source = m.Source
	if *again != *m {
		t.Errorf("cuda/predictor/constants.json is not what the measurements give: go run ./scripts/gpubench fit")
	}
	for _, half := range []struct {
		name   string
		of     []predictor.Measured
		factor float64
		near   float64
	}{{"fits", fits, 1.12, 0.88}, {"held out", held, 1.15, 0.9}} {
		q := predictor.QualityOf(m, a, half.of)
		t.Logf("%s: factor %.3f, %.0f %% within 25 %%", half.name, q.Factor, 100*q.Near)
		if q.Factor > half.factor || q.Near < half.near {
			t.Errorf("%s: factor %.3f, %.0f %% within 25 %%; demanded are %.2f and %.0f %%", half.name, q.Factor, 100*q.Near,
				half.factor, 100*half.near)
		}
	}
}

// TestOrder demands that kernels of one shape take longer in the order in which they were measured to, unless they are
// within 5 %.
func TestOrder(t *testing.T) {
	a, all := arch(t), measured(t)
	m, err := predictor.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]predictor.Measured{}
	for _, s := range all {
		names[s.Name] = s
	}
	orders := [][]string{ // fastest first
		{"int8_hopper_256_4_0_0_0_i8_i8/m=4096 n=4096 k=4096", "w16a16_hopper_256_4_1_2_0_bf16/m=4096 n=4096 k=4096",
			"int8_128_128_2_4_3_1_0_0_0_i8_i8/m=4096 n=4096 k=4096",
			"w16a16_128_128_2_4_3_1_1_2_0_bf16/m=4096 n=4096 k=4096", "w8a16_128_128_2_4_3_1_2_0_bf16/m=4096 n=4096 k=4096"},
		{"w16a16_hopper_256_4_1_0_0_bf16/m=4096 n=8192 k=8192", "w8a16_hopper_256_4_0_0_bf16/m=4096 n=8192 k=8192",
			"w16a16_128_128_2_4_3_1_1_0_0_bf16/m=4096 n=8192 k=8192", "w8a16_128_128_2_4_3_1_0_0_bf16/m=4096 n=8192 k=8192"},
		{"w16a16_64_128_2_4_3_1_1_0_0_bf16/m=64 n=14336 k=4096", "w8a16_64_128_2_4_3_1_0_0_bf16/m=64 n=14336 k=4096"},
		{"sdpa_hopper/4x16x4096x4096x128/causal=0", "sdpa/4x16x4096x4096x128/causal=0",
			"sdpa_mxint8/4x16x4096x4096x128/causal=0"},
		{"sdpa_hopper/4x16x4096x4096x128/causal=2", "sdpa/4x16x4096x4096x128/causal=2"},
		{"mx_block_128_64_4_2_3_1_0_0_bf16/m=2048 n=4096 k=4096", "mx_window_128_64_4_2_3_1_1_1_i64/m=2048 n=4096 k=4096",
			"mx_wide_128_64_4_2_3_1_0_0_bf16/m=2048 n=4096 k=4096"},
	}
	find := func(prefix string) predictor.Measured {
		for name, s := range names {
			if len(name) >= len(prefix) && name[:len(prefix)] == prefix {
				return s
			}
		}
		t.Fatalf("no measured case %s", prefix)
		return predictor.Measured{}
	}
	for _, order := range orders {
		for i := range order[1:] {
			fast, slow := find(order[i]), find(order[i+1])
			if math.Abs(slow.Us/fast.Us-1) < 0.05 {
				continue
			}
			if p, q := fast.Predicted(m, a), slow.Predicted(m, a); p >= q {
				t.Errorf("%s took %.1f us and is predicted %.1f, %s took %.1f and is predicted %.1f", fast.Name, fast.Us, p,
					slow.Name, slow.Us, q)
			}
		}
	}
}
