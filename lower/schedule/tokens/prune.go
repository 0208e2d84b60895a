// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"fmt"
	"slices"

	"lathe/ir"
)

// large says that runs of the graph take so long that their number counts.
func (s *sizer) large() bool { return s.frames <= Whole(s.g, fewest) }

// alike are b and, in a large design, the branches without FIFO that have its place in other layers.
func (s *sizer) alike(branches []*ir.Node, b *ir.Node) []*ir.Node {
	if !s.large() {
		return []*ir.Node{b}
	}
	place, found := s.place(b), []*ir.Node{}
	for _, other := range branches {
		if !s.on[other] && s.turns[other] == 0 && s.place(other) == place {
			found = append(found, other)
		}
	}
	return found
}

// prune takes away what is not needed after all: one FIFO after the other, in large designs those at the same places of
// all layers together. FIFOs that stay there for the sake of others cost what they hold, and no cycle.
func (s *sizer) prune(branches []*ir.Node) error {
	if len(s.on) < 2 || len(s.on) == len(s.proven) {
		return nil
	}
	with, err := s.undisturbed(branches)
	if err != nil {
		return err
	}
	for _, group := range s.doubtful(branches) {
		for _, b := range group {
			delete(s.on, b)
		}
		as, err := s.asFast(branches, with.II())
		if err != nil {
			return err
		}
		for _, b := range group {
			if !as {
				s.on[b] = true
			}
		}
	}
	return nil
}

// asFast says that the design does not stop and takes at most so many cycles a sample.
func (s *sizer) asFast(branches []*ir.Node, ii float64) (bool, error) {
	worst, err := s.worst(branches)
	if err != nil || !worst.Done { // which shows soon
		return false, err
	}
	t, err := s.undisturbed(branches)
	return err == nil && t.Done && t.II() <= ii+slack, err
}

// doubtful groups the FIFOs of which nothing says that they are needed, in the order of branches.
func (s *sizer) doubtful(branches []*ir.Node) (groups [][]*ir.Node) {
	at := map[string]int{}
	for _, b := range branches {
		if !s.on[b] || s.proven[b] {
			continue
		}
		place := b.Name
		if s.large() {
			place = s.place(b)
		}
		if _, known := at[place]; !known {
			at[place] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[place]] = append(groups[at[place]], b)
	}
	return groups
}

// place says what stands at both ends of a branch.
func (s *sizer) place(b *ir.Node) string {
	source, reader, from := b.Args[0], b, b
	for source.Op.Traits.Forks {
		source = source.Args[0]
	}
	for users := s.users[b]; len(users) == 1 && (reader == b || reader.Op.Traits.KeepsCodes); users = s.users[reader] {
		reader, from = users[0], reader
	}
	return fmt.Sprint(source.Op.Name, source.Type, reader.Op.Name, reader.Type.Shape, slices.Index(reader.Args, from))
}
