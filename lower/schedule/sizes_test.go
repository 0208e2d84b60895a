// SPDX-License-Identifier: Apache-2.0

//go:build !long

package schedule

const hintedNets, boundedNets = 5, 3
