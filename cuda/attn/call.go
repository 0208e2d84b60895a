// SPDX-License-Identifier: Apache-2.0

package attn

import "lathe/cuda"

// Call is the attention of every sample in one launch, whose batches follow each other. Errors as Plan.
func (p SDPA) Call(a Args, t cuda.Target) (cuda.Call, error) {
	plan, err := p.Plan(t.Arch)
	if err != nil {
		return cuda.Call{}, err
	}
	launches := plan.Launches(a)
	if len(launches) == 0 {
		return cuda.Call{}, refuse("sdpa", "no queries")
	}
	return cuda.Call{Instance: plan.Instances[0], Blocks: p.blocks() / p.Batch, Rows: p.Batch, Tile: 1,
		Args: launches[0].Args, Bytes: p.Floor().Bytes}, nil
}
