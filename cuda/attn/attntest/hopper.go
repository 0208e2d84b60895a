// SPDX-License-Identifier: Apache-2.0

package attntest

import (
	"math"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/word"
)

// hopperCases are those of the kernel of sm_90a: one small and one of the speed goals for each configuration.
func hopperCases() ([]cuda.Case, error) {
	a, err := cuda.FindArch("sm_90a")
	if err != nil {
		return nil, err
	}
	var all []cuda.Case
	for _, c := range []struct {
		batch, heads, kv, queries, keys, dim int64
		causal                               attn.Causal
		timed                                bool
	}{
		{1, 2, 1, 129, 351, 128, attn.Full, false}, {1, 1, 1, 129, 255, 128, attn.BottomRight, false},
		{2, 1, 1, 193, 255, 64, attn.Full, false}, {1, 2, 2, 60, 257, 64, attn.BottomRight, false},
		{4, 16, 16, 4096, 4096, 128, attn.Full, true}, {4, 16, 16, 4096, 4096, 128, attn.BottomRight, true},
		{2, 16, 16, 8192, 8192, 128, attn.Full, true}, {16, 32, 32, 1024, 1024, 64, attn.Full, true},
		{16, 32, 32, 1024, 1024, 64, attn.BottomRight, true},
	} {
		p := attn.Hopper{SDPA: attn.SDPA{Word: word.BFloat16, Batch: c.batch, Heads: c.heads, KVHeads: c.kv,
			Queries: c.queries, Keys: c.keys, Dim: c.dim, Causal: c.causal, Scale: float32(1 / math.Sqrt(float64(c.dim)))}}
		p.Q, p.O = attn.Dense(c.heads, c.queries, c.dim), attn.Dense(c.heads, c.queries, c.dim)
		p.K, p.V = attn.Dense(c.kv, c.keys, c.dim), attn.Dense(c.kv, c.keys, c.dim)
		plan, err := p.Plan(a)
		if err != nil {
			return nil, err
		}
		one, o := dense(p.SDPA, plan.Instances[0], sample)
		all = append(all, finished(one, cuda.CaseOf(p, plan, o), c.timed, "bf16 -> bf16"))
	}
	return all, nil
}
