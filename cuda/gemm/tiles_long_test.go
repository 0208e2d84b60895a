// SPDX-License-Identifier: Apache-2.0

//go:build long

package gemm_test

// slotTiles takes all configurations.
const slotTiles = 100
