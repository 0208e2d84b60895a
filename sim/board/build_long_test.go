// SPDX-License-Identifier: Apache-2.0

//go:build long

package board

import (
	"bytes"
	"testing"

	"lathe/internal/tools"
	"lathe/ir/target"
	"lathe/sim/route"
)

// TestBuild makes a bitstream of twins for each board: the usual clock is reached, and the same seed gives the same
// bitstream.
func TestBuild(t *testing.T) {
	for _, b := range target.Boards() {
		t.Run(b.Name, func(t *testing.T) {
			d, err := b.Device()
			if err != nil {
				t.Fatal(err)
			}
			o := route.Options{Tools: tools.NeedRoute(t, d.Family.Router.Package), Seeds: 1, LogDir: t.TempDir()}
			var first []byte
			for range 2 {
				bits, err := Build(t.Context(), twinsFolder(t), &b, 0, o)
				if err != nil {
					t.Fatal(err)
				}
				if bits.Margin < 0 || bits.Clock != b.Clock || len(bits.Fit.Bitstream) < 1000 || bits.Fit.Pins != route.Fixed {
					t.Errorf("%g MHz, %.1f %% to spare, %d bytes, %s", bits.Clock, bits.Margin, len(bits.Fit.Bitstream),
						bits.Fit.Pins)
				}
				t.Logf("%+v, %.1f %% to spare", bits.Fit.Cells, bits.Margin)
				if first != nil && !bytes.Equal(first, bits.Fit.Bitstream) {
					t.Error("the bitstream is another one the second time")
				}
				first = bits.Fit.Bitstream
			}
		})
	}
}
