// SPDX-License-Identifier: Apache-2.0

//go:build long

package curve

// interpStride is the distance of codes of 20 bits whose error is measured.
const interpStride = 1
