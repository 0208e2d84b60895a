// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"fmt"
	"math"
	"slices"

	"lathe/cuda"
	"lathe/cuda/word"
)

// choice is a kernel, its configuration and the number of splits, with the estimated time in clocks.
type choice struct {
	template string
	params   []string
	tile     tile // where the kernel works on tiles
	blocks   int  // of the grid, without splits
	splits   int
	cost     float64
}

// least is the choice of least estimated time. Error L0990 where there is none.
func least(kernel string, all []choice, a cuda.Arch) (choice, error) {
	best := choice{cost: math.Inf(1)}
	for _, c := range all {
		if c.cost < best.cost {
			best = c
		}
	}
	if best.template == "" {
		return choice{}, refuse(kernel, "no configuration fits %s", a.Name)
	}
	return best, nil
}

// splitCounts are the numbers of parts worth a thought for that many steps of k.
func splitCounts(steps int) []int {
	counts := []int{1}
	for s := 2; s <= min(steps, 64); s++ {
		if s <= 8 || s%4 == 0 {
			counts = append(counts, s)
		}
	}
	if steps > 64*32 { // more than any part of w8a16_thin holds
		counts = append(counts, ceil(steps, 32))
	}
	return counts
}

// invariantSplits is the number of parts where it may depend on N and K alone: enough for small M to fill a GPU.
func invariantSplits(n, steps int) int {
	return max(1, min(8, steps/8, 256/max(ceil(n, 128), 1)))
}

// parted is a product whose k range may be split.
type parted struct {
	m, n, k int
	Epilogue
}

// plan is the plan of a choice. fixed are the template parameters between those of the configuration and of the
// epilogue, in are the first arguments.
func (p parted) plan(c choice, fixed []string, in func(Operands) []cuda.Arg) (Plan, error) {
	main := slices.Concat(c.params, fixed, p.Epilogue.params())
	if c.splits > 1 {
		main = slices.Concat(c.params, fixed, []string{"0", "0", string(word.F32)})
	}
	first, err := cuda.Named(c.template, main...)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Instances: []cuda.Instance{first}, Splits: c.splits,
		Why: fmt.Sprintf("%s, %d blocks, k in %d parts", first, c.blocks, c.splits)}
	if p.m == 0 || p.n == 0 {
		plan.Launches = func(Operands) []cuda.Launch { return nil }
		return plan, nil
	}
	dims := []cuda.Arg{cuda.I32(int32(p.m)), cuda.I32(int32(p.n)), cuda.I32(int32(p.k)), cuda.I32(int32(c.splits))}
	head, err := gridOf(first, c.blocks*c.splits)
	if err != nil {
		return Plan{}, err
	}
	if c.splits == 1 {
		plan.Launches = func(o Operands) []cuda.Launch {
			l := head
			l.Args = slices.Concat(in(o), p.sink(o, p.m, p.n), dims)
			return []cuda.Launch{l}
		}
		return plan, nil
	}
	return p.split(plan, head, dims, in)
}

// split adds the second kernel.
func (p parted) split(plan Plan, head cuda.Launch, dims []cuda.Arg, in func(Operands) []cuda.Arg) (Plan, error) {
	s := SplitSum{M: p.m, N: p.n, Splits: plan.Splits, Epilogue: p.Epilogue}
	i, err := s.instance()
	if err != nil {
		return Plan{}, err
	}
	tail, err := gridOf(i, s.blocks())
	if err != nil {
		return Plan{}, err
	}
	plan.Instances, plan.Workspace = append(plan.Instances, i), s.Workspace()
	plan.Launches = func(o Operands) []cuda.Launch {
		l, t := head, tail
		null := cuda.Null()
		l.Args = slices.Concat(in(o), []cuda.Arg{null, null, o.Workspace, null, cuda.I64(s.pitch()), cuda.I64(0),
			cuda.I64(0)}, dims)
		t.Args = s.args(o)
		return []cuda.Launch{l, t}
	}
	return plan, nil
}

// call is the product for each of a number of samples by a choice of one tile that does not split k; args are the first
// arguments. Scales of an MXINT8 result follow each other row by row: [M][ceil(columns/32)].
func (p parted) call(c choice, fixed []string, args []cuda.Arg, o Operands, floor cuda.Floor) (cuda.Call, error) {
	i, err := cuda.Named(c.template, slices.Concat(c.params, fixed, p.Epilogue.params())...)
	if err != nil {
		return cuda.Call{}, err
	}
	cols := p.Columns(p.n)
	args = append(args, o.Bias, o.Residual, o.Y, o.YScales, cuda.I64(int64(cols)), cuda.I64(1),
		cuda.I64(int64(ceil(cols, 32))), cuda.Samples32(int64(p.m), 1), cuda.I32(int32(p.n)), cuda.I32(int32(p.k)),
		cuda.I32(1))
	return cuda.Call{Instance: i, Blocks: int64(ceil(p.n, c.tile.bn)), Rows: int64(p.m), Tile: int64(c.tile.bm),
		Args: args, Bytes: floor.Bytes}, nil
}

// sink are the arguments of an epilogue: bias, residual, y, scales, ldy, scale_block, scale_row.
func (e Epilogue) sink(o Operands, m, n int) []cuda.Arg {
	return []cuda.Arg{o.Bias, o.Residual, o.Y, o.YScales, cuda.I64(int64(e.Columns(n))), cuda.I64(ScalePitch(m)),
		cuda.I64(1)}
}

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
