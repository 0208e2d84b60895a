// SPDX-License-Identifier: Apache-2.0

//go:build long

package tools

// Long says that nothing is left out for the sake of time: the tag long.
const Long = true
