// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/sequence"
	"lathe/lower/lowertest"
)

// TestLackingAttention: inspect names attention where lowering leaves it whole, and no other.
func TestLackingAttention(t *testing.T) {
	b := lowertest.New(t, 1)
	heads := &move.ReshapeAttrs{Shape: []int{1, 1, 2, 2}}
	y := b.Add(move.Reshape, "heads", heads, b.Input("x", 1, 4))
	plain := b.Add(sequence.Attention, "plain", &sequence.AttentionAttrs{Causal: true}, y, y, y)
	bounded := b.Add(sequence.Attention, "bounded", &sequence.AttentionAttrs{Softcap: 3}, plain, plain, plain)
	out := b.Add(norm.GroupNorm, "groups", &norm.GroupNormAttrs{Groups: 1, Eps: 1e-5}, bounded)
	for _, c := range []struct {
		last *ir.Node
		want []string
	}{
		{plain, nil},
		{out, []string{"bounded (attention)"}},
	} {
		got, err := lackingHardware(t.Context(), b.Done(c.last))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.last.Name, got, c.want)
		}
	}
}
