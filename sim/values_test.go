// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
)

// TestValues packs values of scalar and of block formats, and takes them apart again.
func TestValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		t      ir.Type
		lanes  int
		blocks int
		width  int
	}{
		{ir.Type{Shape: []int{2, 6}, Format: format.Fixed{W: 7, Signed: true}}, 3, 0, 21},
		{ir.Type{Shape: []int{3, 40}, Format: format.NewMXInt(8, 32)}, 4, 6, 40},
		{ir.Type{Shape: []int{5, 2}, Format: format.NewMXInt(8, 32)}, 2, 5, 24},
		{ir.Type{Shape: []int{64}, Format: format.NewMXInt(5, 16)}, 16, 4, 88},
	} {
		if c.t.Blocks() != c.blocks || c.t.BeatWidth(c.lanes) != c.width {
			t.Errorf("%s: %d blocks, %d bits", c.t, c.t.Blocks(), c.t.BeatWidth(c.lanes))
		}
		var stream []byte
		var values []*ir.Tensor
		for range 3 {
			v := ir.NewTensor(c.t)
			for i := range v.Codes {
				v.Codes[i] = int64(r.IntN(31)) - 15
			}
			for i := range v.BlockScales {
				v.BlockScales[i] = int64(r.IntN(256))
			}
			values, stream = append(values, v), append(stream, PackValue(v, c.lanes)...)
		}
		got := UnpackValues(stream, c.t, c.lanes, 3)
		for s, v := range values {
			if !slices.Equal(got[s].Codes, v.Codes) || !slices.Equal(got[s].BlockScales, v.BlockScales) {
				t.Errorf("%s: %v %v, want %v %v", c.t, got[s].Codes, got[s].BlockScales, v.Codes, v.BlockScales)
			}
		}
		if UnpackValues(stream[1:], c.t, c.lanes, 3) != nil {
			t.Errorf("%s: a stream that is too short", c.t)
		}
	}
	mx := ir.Type{Shape: []int{4}, Format: format.NewMXInt(8, 32)}
	if v := UnpackValues([]byte{1, 7, 2, 7, 3, 8, 4, 7}, mx, 1, 1)[0]; v.BlockScales[0] == 7 {
		t.Error("beats of one block with different scales pass for a block")
	}
}
