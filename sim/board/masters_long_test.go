// SPDX-License-Identifier: Apache-2.0

//go:build long

package board

// masterTransfers are how many beats masters send over AXI4-Lite, and over AXI4-Stream.
const masterTransfers = 100_000
