// SPDX-License-Identifier: Apache-2.0

// Package reduce holds kernels that reduce rows of a matrix: softmax, LayerNorm, RMSNorm, with a residual sum before
// and a quantizer after them. A kernel is chosen by the problem; every bit of a row depends on that row and on the
// problem's columns and formats only, not on the other rows.
package reduce

import (
	"math"
	"strconv"

	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// The problems.
var (
	_ cuda.Batched[SoftmaxArgs] = Softmax{}
	_ cuda.Batched[NormArgs]    = Norm{}
)

// Matrix is what every problem here works on: rows of columns, row after row without a gap, and no buffer of a launch
// overlaps another.
type Matrix struct {
	Rows, Cols int64
	// Unaligned says that some buffer does not start at a multiple of 16 bytes.
	Unaligned bool
}

// team is who works on a row: values of an access, values of a thread, warps of a row, rows of a block.
type team struct {
	access, values, warps, rows int
	long                        bool // a block reads the row in tiles, twice
	keep                        int  // bytes of it that stay in shared memory meanwhile
}

// inRegisters are the teams that hold a row in registers, smallest first; a value more a thread would cost occupancy.
var inRegisters = []struct{ warps, values, rows int }{
	{1, 8, 4}, {1, 16, 4}, {1, 32, 4}, {4, 16, 1}, {4, 32, 1}, {8, 16, 1}, {8, 32, 1},
}

// longWarps are the warps of a row that does not fit into registers.
const longWarps = 8

// kept are the bytes of a long row that stay in shared memory: two rows of a multiprocessor of sm_90, or four; every
// architecture has as much for a block.
var kept = []int{48 << 10, 96 << 10}

// team is the smallest that holds a row in registers, or in shared memory, or as much of it as fits.
func (m Matrix) team(in word.Float) team {
	t := team{access: 16 / in.Type().Bytes(), warps: 1, rows: 4}
	if m.Unaligned || m.Cols%int64(t.access) != 0 {
		t.access = 1
	}
	for _, s := range inRegisters {
		if s.values > 16 && t.access == 1 {
			continue // as many addresses as values
		}
		if m.Cols <= int64(32*s.warps*s.values) {
			t.warps, t.values, t.rows = s.warps, s.values, s.rows
			return t
		}
	}
	t = team{access: t.access, warps: longWarps, rows: 1, long: true}
	if t.access > 1 {
		t.keep = kept[0]
		if m.Cols*int64(in.Type().Bytes()) > int64(t.keep) {
			t.keep = kept[1]
		}
	}
	return t
}

// params are the template parameters that a team decides.
func (t team) params() []string {
	if t.long {
		return texts(t.access, t.warps, t.keep)
	}
	return texts(t.access, t.values, t.warps, t.rows)
}

// name is the template: that of rows in registers, or of long rows.
func (t team) name(base string) string {
	if t.long {
		return base + "_long"
	}
	return base
}

// valid reports rows or columns that no kernel can take: error L0990.
func (m Matrix) valid(kernel string, in word.Float) error {
	if m.Rows < 0 || m.Cols < 0 || m.Cols >= math.MaxInt32 {
		return diag.New(diag.NoKernelTakes, kernel, "rows of %d columns: a row has 0 to %d", m.Cols, math.MaxInt32-1).
			WithHint("split the rows, and join their statistics")
	}
	if t := m.team(in); m.Rows > math.MaxInt32*int64(t.rows) {
		return diag.New(diag.NoKernelTakes, kernel, "%d rows of %d columns: a launch has at most %d blocks of %d rows",
			m.Rows, m.Cols, math.MaxInt32, t.rows).WithHint("split the rows among launches")
	}
	return nil
}

// plan is that of the one kernel for a matrix, or of no launch where there is nothing to write.
func plan[O any](m Matrix, i cuda.Instance, in word.Float, args func(O) []cuda.Arg) (cuda.Plan[O], error) {
	shared, err := i.Shared()
	if err != nil {
		return cuda.Plan[O]{}, err
	}
	t := m.team(in)
	l := cuda.Launch{
		Kernel: i.Kernel,
		Grid:   [3]uint32{uint32((m.Rows + int64(t.rows) - 1) / int64(t.rows)), 1, 1},
		Block:  [3]uint32{uint32(32 * t.warps * t.rows), 1, 1},
		Shared: uint32(shared),
	}
	return cuda.OneKernel(i, func(o O) []cuda.Launch {
		if m.Rows == 0 || m.Cols == 0 {
			return nil
		}
		one := l
		one.Args = args(o)
		return []cuda.Launch{one}
	}), nil
}

func texts(numbers ...int) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.Itoa(n)
	}
	return out
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
