// SPDX-License-Identifier: Apache-2.0

package gemm

import "lathe/cuda"

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
	return least("w8a16", p.choices(gpuOf(a)), a)
}

// choices lists what can run the problem.
func (p W8A16) choices(g gpu) []choice {
	steps := ceil(p.K, 64)
	if p.BatchInvariant {
		return p.tiled(g, []int{invariantSplits(p.N, steps)}) // tiles all give the same sums, splits and thin kernels do not
	}
	all := p.tiled(g, splitCounts(steps))
	if p.M > thinRows {
		return all
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
				alu: thinSlots * float64(t.cols()*64), shared: 8 * (t.kr*2 + 16), threads: 32 * t.wn * t.wk, streams: true}
			all = append(all, choice{"w8a16_thin", t.params(), tile{}, blocks, s, g.cost(work, blocks, s, steps, p.M*p.N)})
		}
	}
	return all
}

// tiled lists the configurations of w8a16, the k range in each of the given numbers of parts.
func (p W8A16) tiled(g gpu, splits []int) []choice {
	var all []choice
	for _, t := range tilesBF16 {
		blocks := ceil(p.M, t.bm) * ceil(p.N, t.bn)
		work := work{bytes: float64(t.bm*128 + t.bn*66), macs: float64(t.bm * t.bn * 64),
			alu: t.slots(decoded), shared: t.stages * (t.bm*128 + t.bn*66), threads: 32 * t.wm * t.wn}
		for _, s := range splits {
			all = append(all, choice{"w8a16", t.params(), t, blocks, s, g.cost(work, blocks, s, ceil(p.K, 64), p.M*p.N)})
		}
	}
	return all
}

// fixed is the template parameter VEC.
func (p W8A16) fixed() []string { return []string{bit(p.K%8 == 0)} }

// with is the plan of a choice.
func (p W8A16) with(c choice) (Plan, error) {
	return parted{p.M, p.N, p.K, p.Epilogue}.plan(c, p.fixed(), func(o Operands) []cuda.Arg {
		return []cuda.Arg{o.X, o.W, o.WScales}
	})
}

// Call is the product of the M rows of each of a number of samples, on tiles, in a configuration for those of t; k is
// not split. Results are no MXINT8. Errors as Plan.
func (p W8A16) Call(o Operands, t cuda.Target) (cuda.Call, error) {
	if err := p.Valid(); err != nil {
		return cuda.Call{}, err
	}
	if p.Out == MXINT8 {
		return cuda.Call{}, refuse("w8a16", "results in MXINT8 for several samples")
	}
	all := p
	all.M = t.Rows(p.M, limit)
	best, err := least("w8a16", all.tiled(gpuOf(t.Arch), []int{1}), t.Arch)
	if err != nil {
		return cuda.Call{}, err
	}
	return parted{p.M, p.N, p.K, p.Epilogue}.call(best, p.fixed(), []cuda.Arg{o.X, o.W, o.WScales}, o, p.Floor())
}
