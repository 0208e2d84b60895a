// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"math/rand/v2"
	"testing"
)

// TestPhases counts arrivals and bytes in random order: a phase is complete exactly when both are, whichever came last.
func TestPhases(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b Barrier
	if err := b.Init(3); err != nil {
		t.Fatal(err)
	}
	for phase := range uint32(200) {
		token := b.Token()
		steps := []func() (bool, error){
			func() (bool, error) { return b.Arrive(1, false) }, func() (bool, error) { return b.Arrive(1, false) },
			func() (bool, error) { // the arrival that announces
				if _, err := b.Expect(96); err != nil {
					return false, err
				}
				return b.Arrive(1, false)
			},
			func() (bool, error) { return b.Expect(-64) }, func() (bool, error) { return b.Expect(-32) },
		}
		r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		for i, step := range steps {
			if done, _ := b.Done(token); done || b.Phase != phase || b.Parity(uint64(phase&1)) {
				t.Fatalf("phase %d is complete after %d steps: %s", phase, i, b.String())
			}
			done, err := step()
			if err != nil || done != (i == 4) {
				t.Fatalf("phase %d, step %d: %v, %v", phase, i, done, err)
			}
		}
		if done, err := b.Done(token); !done || err != nil || !b.Parity(uint64(phase&1)) || b.Bytes != 0 {
			t.Fatalf("phase %d: %v, %v, %s", phase, done, err, b.String())
		}
	}
	if _, err := b.Done(0); err == nil {
		t.Error("the state of a phase long ago")
	}
}

// TestMisuse demands errors of what the hardware leaves undefined.
func TestMisuse(t *testing.T) {
	var b Barrier
	if b.Init(0) == nil || b.Init(MaxCount+1) == nil {
		t.Error("counts")
	}
	if err := b.Init(2); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Arrive(3, false); err == nil {
		t.Error("three arrivals of two")
	}
	if _, err := b.Expect(MaxBytes + 1); err == nil {
		t.Error("too many bytes")
	}
	if err := b.Init(2); err != nil {
		t.Fatal(err)
	}
	b.Bytes = 0
	if _, err := b.Arrive(1, true); err != nil {
		t.Fatal(err)
	}
	if done, err := b.Arrive(1, false); !done || err != nil || b.Pending != 1 {
		t.Errorf("after a drop: %v, %v, %s", done, err, b.String())
	}
}
