// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"lathe/ir"
	"lathe/lower/schedule/tokens/beat"
)

// measure runs with the chosen FIFOs. One that turns out to be block RAM has other timing, so the run repeats until
// none does.
func (s *sizer) measure(branches []*ir.Node) (depth map[*ir.Node]int, ii float64, err error) {
	for {
		quiet, err := s.undisturbed(branches)
		if err != nil {
			return nil, 0, err
		}
		if now := quiet.II(); s.pace > 0 && now > s.pace+slack {
			s.pace, s.quiet = now, map[string]ran{} // no FIFO makes it faster
			continue
		}
		depth = map[*ir.Node]int{}
		if s.deepen(branches, depth, quiet) {
			continue
		}
		worst, err := s.worst(branches)
		if err != nil {
			return nil, 0, err
		}
		if !worst.Done { // a later frame stops it
			if err := s.release(branches, worst); err != nil {
				return nil, 0, err
			}
			continue
		}
		if !s.deepen(branches, depth, worst) && !s.unguess(depth) {
			return depth, quiet.II(), nil
		}
	}
}

// deepen makes depths that of what a run has held, and says whether one more of the FIFOs became block RAM.
func (s *sizer) deepen(branches []*ir.Node, depth map[*ir.Node]int, t *Times) (again bool) {
	for _, b := range branches {
		if !s.on[b] {
			depth[b] = 0
			continue
		}
		need := t.Most[b] + 1
		if most := s.turns[b]; most > 0 {
			need = min(need, most)
		}
		depth[b] = max(depth[b], need)
		if depth[b] > beat.BlockRAM && !s.late[b] {
			s.late[b], again = true, true
		}
	}
	return again
}

// unguess says whether one of the FIFOs that were taken for block RAM is none.
func (s *sizer) unguess(depth map[*ir.Node]int) (again bool) {
	for b := range s.guessed {
		if depth[b] <= beat.BlockRAM && s.late[b] {
			s.late[b], again = false, true
		}
		delete(s.guessed, b)
	}
	return again
}
