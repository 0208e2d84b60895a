// SPDX-License-Identifier: Apache-2.0

package format

import "testing"

func TestMix(t *testing.T) {
	if Mix(1) != 0x688990c0 || Mix(2) != 0xd1132181 || StochasticWord(1, 1) != 0xd25b73e6 {
		t.Fatalf("mix: %x %x %x", Mix(1), Mix(2), StochasticWord(1, 1))
	}
}
