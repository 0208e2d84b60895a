// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"testing"

	"lathe/cuda/cudatest"
)

// TestBanks counts passes of shared memory: none more than the bytes need, but that copies of eight lanes may end one
// row and begin the next where 64 does not divide it.
func TestBanks(t *testing.T) {
	for _, d := range problems()[3:] {
		j := d.job(t)
		j.Quick = true
		_, stats := cudatest.Trace(t, j)
		s := stats[0]
		most := s.SharedIdeal
		switch {
		case d.p.Dim < 64:
			most += most * 3 / 10
		case d.p.Dim%64 != 0:
			most += most / 5
		}
		if s.SharedIdeal == 0 || s.SharedCycles > most {
			t.Errorf("%s: %d passes of shared memory, at least %d", d.name(), s.SharedCycles, s.SharedIdeal)
		}
	}
}
