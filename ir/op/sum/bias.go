// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
)

// addBias adds a float bias along an axis of v, if the node has one.
func addBias(b *hlo.Builder, n *ir.Node, args []hlo.Value, v hlo.Value, axis int) (hlo.Value, error) {
	if len(n.Args) < 3 {
		return v, b.Err()
	}
	bias, err := channels(b, n, args, 2, axis)
	if err != nil {
		return hlo.Value{}, err
	}
	return b.Add(v, bias), b.Err()
}

// channels is argument i, one number a channel, repeated over the result of n; axis is that of the channels here.
func channels(b *hlo.Builder, n *ir.Node, args []hlo.Value, i, axis int) (hlo.Value, error) {
	v, err := carrier.Value(b, n, args, i)
	if err != nil {
		return hlo.Value{}, err
	}
	axes := []int{axis}
	if carrier.PerSample(n, i, v) {
		axes = []int{0, axis}
	}
	return b.BroadcastInDim(v, b.Dims(n.Type.Shape...), axes), b.Err()
}
