// SPDX-License-Identifier: Apache-2.0

package ptx

import "math/bits"

// Stats counts what a launch did. Only Instructions, Blocks and Divergent are filled without Options.Count.
type Stats struct {
	// Blocks is the number of blocks that ran, Instructions that of instructions that warps executed.
	Blocks, Instructions int64
	// Threads counts instructions once for each lane that took part.
	Threads int64
	// Divergent counts branches that parted a warp.
	Divergent int64
	// SharedAccesses counts loads, stores and ldmatrix of shared memory; SharedCycles the passes that their banks need:
	// equal numbers mean no bank conflict but those of accesses wider than 4 bytes a lane, which SharedIdeal counts.
	SharedAccesses, SharedCycles, SharedIdeal int64
	// GlobalAccesses counts loads and stores of global memory, Sectors the 32-byte sectors that they touch, and
	// SectorsIdeal the least number for as many bytes.
	GlobalAccesses, Sectors, SectorsIdeal int64
	// Opcodes counts the instructions of each opcode, without modifiers.
	Opcodes map[string]int64
}

func (s *Stats) note(_ *warp, in *inst, mask uint32) {
	if s.Opcodes == nil {
		s.Opcodes = map[string]int64{}
	}
	s.Opcodes[in.src.Op]++
	s.Threads += int64(bits.OnesCount32(mask))
}

func (s *Stats) add(o *Stats) {
	s.Blocks += o.Blocks
	s.Instructions += o.Instructions
	s.Threads += o.Threads
	s.Divergent += o.Divergent
	s.SharedAccesses += o.SharedAccesses
	s.SharedCycles += o.SharedCycles
	s.SharedIdeal += o.SharedIdeal
	s.GlobalAccesses += o.GlobalAccesses
	s.Sectors += o.Sectors
	s.SectorsIdeal += o.SectorsIdeal
	for op, n := range o.Opcodes {
		if s.Opcodes == nil {
			s.Opcodes = map[string]int64{}
		}
		s.Opcodes[op] += n
	}
}
