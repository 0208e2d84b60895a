// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"time"
)

// Inside is what a worker knows of trials, for tests that compare states: its leases, and those of others with whether
// they are over, if they have stood for so long.
func (s *Study) Inside(long time.Duration) string {
	text := fmt.Sprint(s.held)
	over := map[int]string{}
	for n, at := range s.seen {
		over[n] = fmt.Sprint(at.lease, s.Now().Sub(at.since) >= long)
	}
	known := map[int]State{}
	if s.history != nil {
		for n := range s.history.Len() {
			known[n] = s.history.State(n)
		}
	}
	return text + fmt.Sprint(over, known)
}
