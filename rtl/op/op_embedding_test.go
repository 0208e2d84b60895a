// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

func TestEmbedding(t *testing.T) {
	t.Parallel()
	for i, c := range []struct{ ids, idW, rows, beats, width int }{{3, 3, 6, 2, 8}, {1, 2, 4, 3, 5}, {4, 5, 11, 1, 40},
		{2, 1, 1, 5, 3}, {2, 9, 70, 7, 12}} {
		r := rand.New(rand.NewPCG(31, uint64(i)))
		im := rtl.Image{Param: "IMAGE", Width: c.width}
		for range c.rows * c.beats {
			im.Words = append(im.Words, big.NewInt(r.Int64N(1<<c.width)))
		}
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "op_embedding", Params: []rtl.Param{p("IDS", c.ids), p("ID_W", c.idW), p("ROWS", c.rows),
				p("BEATS", c.beats), p("WIDTH", c.width)},
			Images: []rtl.Image{im},
			In:     []rtltest.Port{{Name: "in", Beats: c.ids}},
			Out:    []rtltest.Port{{Name: "out"}},
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				var out []*big.Int
				for _, id := range in[0] {
					row := min(int(id.Int64()), c.rows-1) * c.beats
					out = append(out, im.Words[row:row+c.beats]...)
				}
				return [][]*big.Int{out}
			},
		})
	}
}
