// SPDX-License-Identifier: Apache-2.0

//go:build long

package stream_test

import (
	"fmt"
	"testing"

	"lathe/rtl/formaltest"
)

// TestProofs proves the streams at more widths and depths: every kind of FIFO, and its borders.
func TestProofs(t *testing.T) {
	for name, p := range map[string]formaltest.Proof{
		"skid 1": skidProof(1), "skid 64": skidProof(64),
		"fifo 8 1": fifoProof(8, 1), "fifo 8 2": fifoProof(8, 2), "fifo 8 3": fifoProof(8, 3), "fifo 8 4": fifoProof(8, 4),
		"fifo 4 16": fifoProof(4, 16), "fifo 2 63": fifoProof(2, 63), "fifo 2 64": fifoProof(2, 64),
		"fifo 1 65": fifoProof(1, 65), "fifo 1 100": fifoProof(1, 100), "fifo 1 128": fifoProof(1, 128),
		"credit 8 1": creditProof(8, 1), "credit 2 3": creditProof(2, 3), "credit 2 6": creditProof(2, 6),
		"credit 1 7": creditProof(1, 7),
		"fork 16 2":  forkProof(16, 2), "fork 4 3": forkProof(4, 3), "fork 4 5": forkProof(4, 5),
		"widen 8 2": widenProof(8, 2), "widen 1 4": widenProof(1, 4), "widen 2 5": widenProof(2, 5),
		"cross 8 3": crossProof(8, 3), "cross 1 4": crossProof(1, 4), "cross 3 5": crossProof(3, 5),
		"narrow 8 2": narrowProof(8, 2), "narrow 1 4": narrowProof(1, 4), "narrow 2 5": narrowProof(2, 5),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.Prove(t)
		})
	}
}

// TestLongMutants breaks the FIFO in block RAM, whose prefetch registers the short test does not have.
func TestLongMutants(t *testing.T) {
	for i, m := range []formaltest.Mutant{
		{Module: "stream_fifo", Old: "if (take1) v1 <= v0;", New: "if (take1) v1 <= v0 || read;"},
		{Module: "stream_fifo", Old: "take0 = !v0 || take1", New: "take0 = 1'b1"},
		{Module: "stream_fifo", Old: "if (take1) q1 <= q0;", New: "q1 <= q0;"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			fifoProof(2, 65).Refute(t, m)
		})
	}
}
