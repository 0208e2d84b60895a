// SPDX-License-Identifier: Apache-2.0

//go:build !long

package norm

// errorOutputs is the number of results whose error is measured for a configuration; the build tag long has more.
const errorOutputs = 60_000
