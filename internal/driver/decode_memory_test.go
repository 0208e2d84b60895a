// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/internal/tools"
)

// outsidePlans are plans of decoders with a memory outside: rows of keys that no beats of the memory fill, and scores
// over blocks; caches alone, and weights beside them; layers that share a block.
var outsidePlans = map[string]string{
	"cache": fifths + "[memory]\ncache = \"external\"\naxi_bits = 64\nburst = 4\n",
	"both": "[quantize]\ndata = \"mxint8\"\nweight = \"mxint8\"\n[[fold.rule]]\nop = \"attend_scores\"\nin_lanes = 4\n" +
		"out_lanes = 2\n[memory]\nweights = \"external\"\ncache = \"external\"\naxi_bits = 128\nburst = 2\n",
	"loop": sharing + looped + "burst = 4\n", "loop, weights once": sharing + looped + "weights = \"hold\"\n",
	"loop, weights each time": sharing + looped + "weights = \"stream\"\nburst = 8\n",
}

const looped = "[[quantize.rule]]\nop = \"attend_scores\"\ndata_in = \"mxint8\"\n" +
	"[[fold.rule]]\nop = \"attend_scores\"\nin_lanes = 4\nout_lanes = 2\n" +
	"[[fold.rule]]\nop = \"attend_sum\"\nin_lanes = 3\nout_lanes = 2\n" +
	"[memory]\ncache = \"external\"\naxi_bits = 128\n"

const smallDecoder = "../../frontend/hf/testdata/gpt2"

// perLayer is what says in its configuration that layers have scales of their own, so that they are not alike.
const perLayer = `"scale_attn_by_inverse_layer_idx": `

// alikeLayers is the small decoder with layers that can share a block.
func alikeLayers(t *testing.T) string {
	return edited(t, smallDecoder, perLayer+"true", perLayer+"false")
}

// TestDecodeOutside is TestDecode of decoders that keep keys and values in a memory outside, which stalls at random:
// nothing that was promised is less than what is measured.
func TestDecodeOutside(t *testing.T) {
	for _, name := range tools.Few(1, slices.Sorted(maps.Keys(outsidePlans))) {
		plan := outsidePlans[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			j := decoderJob(t, alikeLayers(t), plan, 12, 37, true)
			if name == "cache" {
				j.Second = driver.Second{Frames: 1}
			}
			check, err := e.Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			d, want := check.Decode, j.HW.Decoder()
			if check.Mismatches != 0 || check.Compared["rtl"] == 0 || d.Short < 3 || d.Surplus < 2 {
				t.Fatalf("%d of %v codes differ: %v, %+v", check.Mismatches, check.Compared, check.First, d)
			}
			m, weights := j.HW.Design.Memory, strings.Contains(plan, "weights =")
			if m.Cache == nil || d.Cache != m.Cache || (m.File != "") != weights {
				t.Errorf("memory %+v, %+v", m, d.Cache)
			}
			if !want.AtLeast || d.PrefillCycles < want.First && d.Prefill == want.Prefill || d.MostCycles < want.Token ||
				check.II < want.Cycles {
				t.Errorf("measured %+v and %v a sequence, at least %+v was promised", d, check.II, want)
			}
		})
	}
}
