// SPDX-License-Identifier: Apache-2.0

// Package mbarrier is the barrier object of shared memory (PTX ISA, "mbarrier"): a phase is complete once as many
// arrivals have come as the barrier expects, and as many bytes have landed as were announced.
package mbarrier

import "fmt"

const (
	// Size is that of an object in bytes, which is its alignment too.
	Size = 8
	// MaxCount is the greatest number of arrivals a phase.
	MaxCount = 1<<20 - 1
	// MaxBytes is the greatest number of bytes that may be open.
	MaxBytes = 1<<20 - 1
)

// Barrier is one object. The zero value is none: Init makes one.
type Barrier struct {
	// Count is the number of arrivals of the next phases, Pending how many the current one lacks.
	Count, Pending int64
	// Bytes were announced and have not landed; negative where more have landed than were announced.
	Bytes int64
	// Phase is the number of phases that are complete.
	Phase uint32
}

// Init begins the first phase.
func (b *Barrier) Init(count int64) error {
	if count < 1 || count > MaxCount {
		return fmt.Errorf("%d arrivals a phase, not 1 to %d", count, MaxCount)
	}
	*b = Barrier{Count: count, Pending: count}
	return nil
}

// Arrive counts n arrivals; drop leaves them out of all later phases. It says whether that completes the phase.
func (b *Barrier) Arrive(n int64, drop bool) (bool, error) {
	if n < 1 || n > b.Pending {
		return false, fmt.Errorf("%d arrivals where the phase lacks %d of %d", n, b.Pending, b.Count)
	}
	b.Pending -= n
	if drop {
		b.Count -= n
	}
	return b.complete(), nil
}

// Expect announces bytes, as a negative number such that have landed. It says whether that completes the phase.
func (b *Barrier) Expect(bytes int64) (bool, error) {
	b.Bytes += bytes
	if b.Bytes > MaxBytes || b.Bytes < -MaxBytes {
		return false, fmt.Errorf("%d bytes are open, at most %d can be counted", b.Bytes, MaxBytes)
	}
	return bytes < 0 && b.complete(), nil
}

func (b *Barrier) complete() bool {
	if b.Pending != 0 || b.Bytes != 0 {
		return false
	}
	b.Phase++
	b.Pending = b.Count
	return true
}

// Token is the state of the current phase, which Done wants.
func (b *Barrier) Token() uint64 { return uint64(b.Phase)<<32 | uint64(b.Pending) }

// Done says whether the phase of a token is complete. Only the current phase and the one before can be asked for.
func (b *Barrier) Done(token uint64) (bool, error) {
	phase := uint32(token >> 32)
	if phase != b.Phase && phase+1 != b.Phase {
		return false, fmt.Errorf("the state is that of phase %d, and the barrier is in phase %d", phase, b.Phase)
	}
	return phase != b.Phase, nil
}

// Parity says whether the phase of a parity is complete: that before the current one, or the current one.
func (b *Barrier) Parity(parity uint64) bool { return uint64(b.Phase&1) != parity }

// TokenPending is the number of arrivals that the phase of a token lacked.
func TokenPending(token uint64) uint64 { return token & 0xFFFFFFFF }

// String says what the current phase lacks.
func (b *Barrier) String() string {
	s := fmt.Sprintf("phase %d lacks %d of %d arrivals", b.Phase, b.Pending, b.Count)
	switch {
	case b.Bytes > 0:
		s += fmt.Sprintf(" and %d bytes that were announced", b.Bytes)
	case b.Bytes < 0:
		s += fmt.Sprintf(", and %d bytes landed that were not announced", -b.Bytes)
	}
	return s
}
