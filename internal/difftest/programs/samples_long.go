// SPDX-License-Identifier: Apache-2.0

//go:build long

package programs

// samples is how many samples one program runs on.
const samples = 400
