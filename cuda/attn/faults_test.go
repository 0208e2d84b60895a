// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn/attntest"
	"lathe/cuda/cudatest"
)

// TestPlantedFaults plants faults that the cases must notice: each in every instance that it changes.
func TestPlantedFaults(t *testing.T) {
	cases, err := attntest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct{ name, instance, sound, fault string }{
		{"none", "sdpa<1, 128, 48, 2, 4, 0, 0>", "tiles > 0", "tiles > 0"},
		{"a scale 2.08 times too large", "sdpa<1, 128, 48, 2, 4, 0, 0>", "mul_rn(scale, 1.44269504f)",
			"mul_rn(scale, D == 128 && WM == 2 && !CAUSAL ? 3.0f : 1.44269504f)"},
		{"a phantom key", "sdpa<1, 128, 48, 2, 4, 0, 0>", "if (MASK || rare(from + BN > limit ||",
			"if (MASK || rare(from + BN > limit + 1 ||"},
		{"a top that never moves", "sdpa<1, 128, 48, 2, 4, 0, 0>", "if (rare(moves)) flash_move", "if (false) flash_move"},
		{"sums that stay", "sdpa<1, 32, 64, 2, 4, 0, 0>", "sum[m][h] = mul_rn(sum[m][h], keep)", "(void)0"},
		{"outputs that stay", "sdpa<1, 32, 64, 2, 4, 0, 0>", "mul_rn(o[m][d][2 * h + 1], keep)", "o[m][d][2 * h + 1]"},
		{"a phantom key on Hopper", "sdpa_hopper<1, 128, 176, 2, 0>", "if (from + BN > keys ||",
			"if (from + BN > keys + 1 ||"},
		{"keys given back early", "sdpa_hopper<1, 128, 176, 2, 0>", "wgmma_wait<1>();", "wgmma_wait<2>();"},
		{"sums rescaled while they grow", "sdpa_hopper<1, 64, 128, 3, 1>",
			"      weigh(j, keep);\n      wgmma_wait<0>();", "      weigh(j, keep);"},
		{"values of another tile", "sdpa_hopper<1, 64, 128, 3, 1>", "load(at_v + stage, v, BN, j * BN,",
			"load(at_v + stage, v, BN, j * BN + 1,"},
		{"a phantom key of a cache", "sdpa_decode<1, 64, 4, 1>", "n * 8 + e % 2 >= left", "n * 8 + e % 2 > left"},
		{"a key too few", "sdpa_decode<1, 64, 4, 0>", "keys - 1) + 1;", "keys - 1);"},
		{"a tile that is read before it is there", "sdpa_decode<1, 64, 4, 0>", "barrier();  // the tile is there", "//"},
		{"the next stage too early", "sdpa_decode<1, 64, 4, 0>", "((j + 1) & 1) * (2 * BN * S)", "(j & 1) * (2 * BN * S)"},
		{"sums that are joined by other tops", "sdpa_decode<1, 64, 4, 1>", "add_rn(top, -s.top)", "add_rn(top, s.top)"},
		{"a part too many", "sdpa_decode<1, 64, 4, 1>", "+ chunk - 1) / chunk, 1)", "+ chunk) / chunk, 1)"},
		{"a phantom key in blocks", "sdpa_decode_mxint8<64, 4, 1>", "n * 8 + e % 2 >= left", "n * 8 + e % 2 > left"},
		{"a tile of blocks twice", "sdpa_decode_mxint8<64, 4, 0>", "k += BN * k_s,", "k += 0 * k_s,"},
		{"scales of another tile", "sdpa_decode_mxint8<64, 4, 0>", "vx += BN * x_s", "vx += BN * x_s + 1"},
		{"blocks that are read before they are there", "sdpa_decode_mxint8<64, 4, 0>", "    cp_async_wait<0>();\n    __sync",
			"    cp_async_wait<1>();\n    __sync"},
		{"blocks of another warp", "sdpa_decode_mxint8<64, 4, 0>", "+ warp * 32 * D", "+ warp * 16 * D"},
		{"keys that are not rounded before they are encoded", "rope_append<1, 64, 1, 1>", "ROPE == 2 ? z", "ROPE ? z"},
		{"a scale that nobody writes", "rope_append<1, 16, 1, 1>", "c % 2 == 0) (h", "c % 2 == 1) (h"},
		{"scales of the next head", "rope_append<1, 64, 1, 1>", "[row * ((D + 31) / 32) + c / 2]",
			"[row * ((D + 31) / 32) + c]"},
		{"codes of threads without elements", "rope_append<1, 16, 1, 1>", "there && c * 16 < D", "there"},
		{"angles of another token", "rope_append<1, 16, 1, 0>", "cos += at * (D / 2)", "cos += (at + 1) * (D / 2)"},
		{"a row of the cache too far", "rope_append<1, 64, 1, 0>", "* room + at;", "* room + at + 1;"},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := smallest(t, cases, f.instance)
			got := cudatest.Planted(t, c, f.sound, f.fault)
			if t.Log(got); (got != "") != (f.sound != f.fault) {
				t.Errorf("%s: %q", c.Name, got)
			}
		})
	}
}

// smallest is the first case of an instance that is not timed.
func smallest(t *testing.T, cases []cuda.Case, instance string) cuda.Case {
	t.Helper()
	for _, c := range cases {
		if !c.Timed && c.Instances[0].String() == instance {
			return c
		}
	}
	t.Fatalf("%s has timed cases only", instance)
	return cuda.Case{}
}
