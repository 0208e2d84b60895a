// SPDX-License-Identifier: Apache-2.0

//go:build long

package norm

// errorOutputs is how many results the tests of errors take for each pair of formats.
const errorOutputs = 10_000_000
