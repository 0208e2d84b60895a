// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"fmt"
	"math"
	"slices"

	"lathe/cuda"
	"lathe/cuda/word"
)

// W8A16 is y = epilogue(x*transpose(w)): x bf16 [M][K], w MXINT8 [N][K], packed by LayoutBF16. Weights become bf16,
// exactly; sums are fp32.
type W8A16 struct {
	M, N, K int
	Epilogue
	// BatchInvariant gives a row of x the same bits whatever M is.
	BatchInvariant bool
}

// tile is a configuration of a kernel that works on tiles.
type tile struct{ bm, bn, wm, wn, stages int }

func (t tile) params() []string { return texts(t.bm, t.bn, t.wm, t.wn, t.stages) }

// tilesBF16 are the configurations of w8a16, those of few rows first.
var tilesBF16 = []tile{
	{16, 128, 1, 4, 4}, {32, 128, 1, 4, 4}, {64, 64, 2, 2, 3}, {64, 128, 2, 4, 3}, {128, 128, 2, 4, 3},
}

// thin is a configuration of w8a16_thin.
type thin struct{ r, wn, wk, kr int }

func (t thin) params() []string { return texts(t.r, t.wn, t.wk, t.kr) }
func (t thin) cols() int        { return 16 * t.r * t.wn }

var thins = []thin{
	{1, 1, 8, 2048}, {1, 2, 4, 2048}, {2, 1, 8, 2048}, {2, 2, 4, 2048}, {1, 2, 4, 4096}, {2, 2, 4, 4096},
}

// thinRows is the most rows that w8a16_thin takes.
const thinRows = 8

// Valid reports why no kernel can take the problem: error L0990.
func (p W8A16) Valid() error {
	if err := sizes("w8a16", p.M, p.N, p.K); err != nil {
		return err
	}
	return p.Epilogue.Valid("w8a16", p.N)
}

// Floor is the least that must be moved and computed.
func (p W8A16) Floor() cuda.Floor {
	m, n, k := int64(p.M), int64(p.N), int64(p.K)
	return cuda.Floor{Bytes: m*k*2 + n*(k+(k+31)/32) + p.Epilogue.floor(p.M, p.N), Flops: 2 * m * n * k}
}

// Plan chooses a kernel and its configuration: the one of least estimated time.
func (p W8A16) Plan(a cuda.Arch) (Plan, error) {
	best, err := p.choose(a)
	if err != nil {
		return Plan{}, err
	}
	return p.with(best)
}

// choose is the kernel of least estimated time, in its configuration.
func (p W8A16) choose(a cuda.Arch) (choice, error) {
	if err := p.Valid(); err != nil {
		return choice{}, err
	}
	g := gpuOf(a)
	best, found := choice{cost: math.Inf(1)}, false
	for _, c := range p.choices(g) {
		if c.cost < best.cost {
			best, found = c, true
		}
	}
	if !found {
		return choice{}, refuse("w8a16", "no configuration fits %s", a.Name)
	}
	return best, nil
}

// choice is a kernel, its configuration and the number of splits, with the estimated time in clocks.
type choice struct {
	template string
	params   []string
	blocks   int // of the grid, without splits
	splits   int
	cost     float64
}

// choices lists what can run the problem.
func (p W8A16) choices(g gpu) []choice {
	steps := ceil(p.K, 64)
	var all []choice
	for _, t := range tilesBF16 {
		blocks := ceil(p.M, t.bm) * ceil(p.N, t.bn)
		for _, s := range splitCounts(steps) {
			if p.BatchInvariant && s != invariantSplits(p.N, steps) {
				continue
			}
			work := work{bytes: float64(t.bm*128 + t.bn*66), macs: float64(t.bm * t.bn * 64),
				alu: 2.5 * float64(t.bn*64*t.wm), shared: t.stages * (t.bm*128 + t.bn*66), threads: 32 * t.wm * t.wn}
			all = append(all, choice{"w8a16", t.params(), blocks, s, g.cost(work, blocks, s, steps, p.M*p.N)})
		}
	}
	if p.BatchInvariant || p.M > thinRows {
		return all // batch-invariant: tiles all give the same sums, splits and thin kernels do not
	}
	for _, t := range thins {
		if p.Out == MXINT8 && p.Columns(t.cols()) < 32 {
			continue
		}
		blocks := ceil(p.N, t.cols())
		for _, s := range splitCounts(steps) {
			if ceil(steps, s)*64 > t.kr {
				continue
			}
			work := work{bytes: float64(p.M*128 + t.cols()*66), macs: float64(8 * t.cols() * 64),
				alu: 3.5 * float64(t.cols()*64), shared: 8 * (t.kr*2 + 16), threads: 32 * t.wn * t.wk, streams: true}
			all = append(all, choice{"w8a16_thin", t.params(), blocks, s, g.cost(work, blocks, s, steps, p.M*p.N)})
		}
	}
	return all
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

// with is the plan of a choice.
func (p W8A16) with(c choice) (Plan, error) {
	vec := bit(p.K%8 == 0)
	main := slices.Concat(c.params, []string{vec}, p.Epilogue.params())
	if c.splits > 1 {
		main = slices.Concat(c.params, []string{vec, "0", "0", string(word.F32)})
	}
	first, err := cuda.Named(c.template, main...)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Instances: []cuda.Instance{first}, Splits: c.splits,
		Why: fmt.Sprintf("%s, %d blocks, k in %d parts", first, c.blocks, c.splits)}
	if p.M == 0 || p.N == 0 {
		plan.Launches = func(Operands) []cuda.Launch { return nil }
		return plan, nil
	}
	dims := []cuda.Arg{cuda.I32(int32(p.M)), cuda.I32(int32(p.N)), cuda.I32(int32(p.K)), cuda.I32(int32(c.splits))}
	head, err := gridOf(first, c.blocks*c.splits)
	if err != nil {
		return Plan{}, err
	}
	if c.splits == 1 {
		plan.Launches = func(o Operands) []cuda.Launch {
			l := head
			l.Args = slices.Concat([]cuda.Arg{o.X, o.W, o.WScales}, p.sink(o, p.M, p.N), dims)
			return []cuda.Launch{l}
		}
		return plan, nil
	}
	return p.split(plan, head, dims)
}

// split adds the second kernel.
func (p W8A16) split(plan Plan, head cuda.Launch, dims []cuda.Arg) (Plan, error) {
	s := SplitSum{M: p.M, N: p.N, Splits: plan.Splits, Epilogue: p.Epilogue}
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
		l.Args = slices.Concat([]cuda.Arg{o.X, o.W, o.WScales, null, null, o.Workspace, null, cuda.I64(s.pitch()),
			cuda.I64(0), cuda.I64(0)}, dims)
		t.Args = s.args(o)
		return []cuda.Launch{l, t}
	}
	return plan, nil
}

// sink are the arguments of an epilogue: bias, residual, y, scales, ldy, scale_block, scale_row.
func (e Epilogue) sink(o Operands, m, n int) []cuda.Arg {
	return []cuda.Arg{o.Bias, o.Residual, o.Y, o.YScales, cuda.I64(int64(e.Columns(n))), cuda.I64(ScalePitch(m)),
		cuda.I64(1)}
}
