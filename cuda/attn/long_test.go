// SPDX-License-Identifier: Apache-2.0

//go:build long

package attn_test

// long says that nothing is left out for the sake of time.
const long = true
