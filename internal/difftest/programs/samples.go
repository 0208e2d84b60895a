// SPDX-License-Identifier: Apache-2.0

//go:build !long

package programs

// samples is how many samples one program runs on; the build tag long has more.
const samples = 100
