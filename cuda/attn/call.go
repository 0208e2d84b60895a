// SPDX-License-Identifier: Apache-2.0

package attn

import "lathe/cuda"

// Call is the attention of every sample in one launch, whose batches follow each other. Errors as Plan.
func (p SDPA) Call(a Args, t cuda.Target) (cuda.Call, error) { return called(p, p, a, t) }

// Call is as that of SDPA.
func (p MXINT8) Call(a MXINT8Args, t cuda.Target) (cuda.Call, error) { return called(p, p.SDPA, a, t) }

// called is the call of a problem with the queries and heads of s.
func called[O any](p cuda.Problem[O], s SDPA, o O, t cuda.Target) (cuda.Call, error) {
	plan, err := p.Plan(t.Arch)
	if err != nil {
		return cuda.Call{}, err
	}
	launches := plan.Launches(o)
	if len(launches) == 0 {
		return cuda.Call{}, refuse("sdpa", "no queries")
	}
	return cuda.Call{Instance: plan.Instances[0], Blocks: s.blocks() / s.Batch, Rows: s.Batch, Tile: 1,
		Args: launches[0].Args, Bytes: p.Floor().Bytes}, nil
}
