// SPDX-License-Identifier: Apache-2.0

//go:build long

package num_test

// everyPair says that casts between neighbours in the list of formats are tried too, not only those from and to fp32.
const everyPair = true
