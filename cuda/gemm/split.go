// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"slices"

	"lathe/cuda"
)

// SplitSum ends a product whose k range was split: it adds Splits parts of M x N fp32 sums in their order, and applies
// the epilogue.
type SplitSum struct {
	M, N, Splits int
	Epilogue
}

// pitch is the length of a row of a part, stride that of a part.
func (s SplitSum) pitch() int64  { return int64(ceil(s.N, 16) * 16) }
func (s SplitSum) stride() int64 { return int64(s.M) * s.pitch() }

// Workspace is the size of all parts in bytes.
func (s SplitSum) Workspace() int64 { return int64(s.Splits) * s.stride() * 4 }

func (s SplitSum) instance() (cuda.Instance, error) { return cuda.Named("split_sum", s.params()...) }

// blocks of the grid: a thread takes eight columns, blocks of 32 stay together.
func (s SplitSum) blocks() int { return max(ceil(s.M*ceil(s.Columns(s.N), 32)*4, 256), 1) }

func (s SplitSum) args(o Operands) []cuda.Arg {
	return slices.Concat([]cuda.Arg{o.Workspace, cuda.I64(s.stride()), cuda.I64(s.pitch())}, s.sink(o, s.M, s.N),
		[]cuda.Arg{cuda.I32(int32(s.M)), cuda.I32(int32(s.Columns(s.N))), cuda.I32(int32(s.Splits))})
}
