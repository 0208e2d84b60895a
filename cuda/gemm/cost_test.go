// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"math"
	"strconv"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
)

// TestSlots compares the issue slots by which configurations are ranked with those of the compiled loops, of slotTiles
// configurations of each kernel.
func TestSlots(t *testing.T) {
	const arch = "sm_90"
	slotsOf := func(mnemonic string, count int, template string, params ...string) float64 {
		i, err := cuda.Make(template, "kernel", params...)
		if err != nil {
			t.Fatal(err)
		}
		source, err := cuda.Print(i)
		if err != nil {
			t.Fatal(err)
		}
		m, err := cudatest.Compiler(t).Compile(t.Context(), template, source, arch)
		if err != nil {
			t.Fatal(err)
		}
		codes, err := cudatest.Programs(t).Machine(t.Context(), m.Cubin)
		if err != nil {
			t.Fatal(err)
		}
		n, err := codes[0].Slots(cuda.Loop{Count: count, Mnemonic: mnemonic})
		if err != nil {
			t.Fatalf("%s: %v", i, err)
		}
		return float64(n)
	}
	slots := func(count int, template string, params ...string) float64 {
		return slotsOf("HMMA", count, template, params...)
	}
	near := func(what string, model, counted float64) {
		t.Logf("%s: %.1f for %.1f", what, model, counted)
		if math.Abs(model-counted) > 0.12*counted {
			t.Errorf("%s: the model has %.1f slots, the loop %.1f", what, model, counted)
		}
	}
	for _, tile := range first([]gemm.Tile{gemm.Tiles16[1], gemm.Tiles16[4], gemm.Tiles16[5]}) {
		params := append(tile.Params(), "1", "1", "0", "0", "bf16")
		near("w16a16", tile.Slots(false), slots(tile.Products(), "w16a16", params...))
	}
	for _, tile := range first([]gemm.Tile{gemm.TilesBF16[0], gemm.TilesBF16[3], gemm.TilesBF16[4]}) {
		near("w8a16", tile.Slots(true), slots(tile.Products(), "w8a16", append(tile.Params(), "1", "0", "0", "bf16")...))
	}
	for _, thin := range first([]gemm.Thin{gemm.Thins[0], gemm.Thins[3]}) {
		r := thin.Cols() / 16 / thin.Warps()
		params := append(thin.Params(), "1", "0", "0", "bf16")
		near("w8a16_thin", gemm.ThinSlots, slots(8*r, "w8a16_thin", params...)/float64(64*r))
	}
	for _, tile := range first(gemm.TilesConv) {
		for _, unit := range []int{16, 4, 1} {
			images := gemmtest.Images(1, 8, 8, unit, 3, 1, 1)
			params := append(tile.Params(), strconv.Itoa(unit), "0", "0", "0", "i8", "i8", "0")
			near("conv8", images.Slots(tile, 1), slotsOf("IMMA", tile.Products(), "conv8", params...))
		}
	}
}

// first are those of a list that the run takes.
func first[T any](list []T) []T { return list[:min(len(list), slotTiles)] }
