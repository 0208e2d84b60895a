// SPDX-License-Identifier: Apache-2.0

//go:build !long

package gemm_test

// slotTiles is how many configurations of each kernel TestSlots compiles.
const slotTiles = 1
