// SPDX-License-Identifier: Apache-2.0

//go:build long

package norm

// errorOutputs is the number of results whose error is measured for a configuration.
const errorOutputs = 10_000_000
