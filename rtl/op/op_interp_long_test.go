// SPDX-License-Identifier: Apache-2.0

//go:build long

package op_test

import (
	"math"
	"testing"

	"lathe/rtl/rtltest"
)

// TestInterpLong tries every code of 16 bits, with each edge.
func TestInterpLong(t *testing.T) {
	for _, p := range []interp{
		{f: gelu, lanes: 2, in: fixed16, fx: 12, d: 3, fo: 12, out: fixed16, beats: 128, frames: 256},
		{f: gelu, lanes: 1, in: fixed16, fx: 10, d: 3, fo: 10, out: fixed16, beats: 256, frames: 256},
		{f: sigmoid, lanes: 1, in: fixed16, fx: 10, d: 4, fo: 15, out: format{16, false}, edge: 1, beats: 256, frames: 256},
		{f: math.Tanh, lanes: 4, in: fixed16, fx: 12, d: 2, fo: 14, out: fixed16, edge: 2, beats: 64, frames: 256},
		{f: silu, lanes: 1, in: fixed16, fx: 3, d: 4, fo: 3, out: fixed16, beats: 256, frames: 256},
	} {
		rtltest.Run(t, p.bench())
	}
}
