// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"strconv"

	"lathe/cuda"
	"lathe/cuda/word"
)

// W16A16 is y = epilogue(x*transpose(w)): x [M][K] and w [N][K] both bf16 or both f16, w packed by Pack; sums are fp32.
type W16A16 struct {
	M, N, K int
	// Word is word.BFloat16 or word.Float16.
	Word word.Float
	Epilogue
	// BatchInvariant gives a row of x the same bits whatever M is.
	BatchInvariant bool
}

// tiles16 are the configurations of w16a16, those of few rows first.
var tiles16 = []tile{
	{16, 64, 1, 4, 6}, {16, 128, 1, 4, 4}, {32, 128, 1, 4, 4}, {64, 64, 2, 2, 3}, {64, 128, 2, 4, 3}, {128, 128, 2, 4, 3},
}

// Valid reports why no kernel can take the problem: error L0990.
func (p W16A16) Valid() error {
	if err := sizes("w16a16", p.M, p.N, p.K); err != nil {
		return err
	}
	if p.Word != word.BFloat16 && p.Word != word.Float16 {
		return refuse("w16a16", "operands in %s", p.Word).WithHint("there are bf16 and f16")
	}
	e := p.Epilogue
	if e.Out == word.F16 {
		e.Out = word.BF16 // what every product has
	}
	return e.Valid("w16a16", p.N)
}

// Floor is the least that must be moved and computed.
func (p W16A16) Floor() cuda.Floor {
	m, n, k := int64(p.M), int64(p.N), int64(p.K)
	return cuda.Floor{Bytes: (m+n)*k*2 + p.Epilogue.floor(p.M, p.N), Flops: 2 * m * n * k}
}

// Pack puts weights, N rows of K words, into the order of the kernel: a pair of words is what lies in four bytes of
// LayoutInt8, whose tiles of 32 bytes along k are one mma here. What is missing becomes 0.
func (p W16A16) Pack(w []byte) []byte { return LayoutInt8.Pack(w, p.N, 2*p.K) }

// PackedBytes is the size of packed weights.
func (p W16A16) PackedBytes() int64 { return LayoutInt8.Bytes(p.N, 2*p.K) }

// Plan chooses the configuration of least estimated time.
func (p W16A16) Plan(a cuda.Arch) (Plan, error) {
	best, err := p.choose(a, p.splits())
	if err != nil {
		return Plan{}, err
	}
	return p.with(best)
}

// splits are the numbers of parts of k that a plan may have.
func (p W16A16) splits() []int {
	steps := ceil(p.K, 64)
	if p.BatchInvariant {
		return []int{invariantSplits(p.N, steps)}
	}
	return splitCounts(steps)
}

// choose is the choice of least estimated time with one of those numbers of parts of k.
func (p W16A16) choose(a cuda.Arch, splits []int) (choice, error) {
	if err := p.Valid(); err != nil {
		return choice{}, err
	}
	var all []choice
	for _, t := range tiles16 {
		for _, s := range splits {
			all = append(all, p.on(t, s, gpuOf(a)))
		}
	}
	return least("w16a16", all, a)
}

// on is the choice of a tile, the k range in so many parts.
func (p W16A16) on(t tile, splits int, g gpu) choice {
	blocks, stage := ceil(p.M, t.bm)*ceil(p.N, t.bn), (t.bm+t.bn)*128
	w := work{bytes: float64(stage), macs: float64(t.bm * t.bn * 64), shared: t.stages * stage,
		alu: t.slots(0), threads: 32 * t.wm * t.wn}
	return choice{"w16a16", t.params(), t, blocks, splits, g.cost(w, blocks, splits, ceil(p.K, 64), p.M*p.N)}
}

// fixed are the template parameters VEC and F.
func (p W16A16) fixed() []string { return []string{bit(p.K%8 == 0), strconv.Itoa(int(p.Word))} }

// with is the plan of a choice.
func (p W16A16) with(c choice) (Plan, error) {
	return parted{p.M, p.N, p.K, p.Epilogue}.plan(c, p.fixed(), func(o Operands) []cuda.Arg {
		return []cuda.Arg{o.X, o.W}
	})
}

// Call is the product of the M rows of each of a number of samples, in a configuration for those of t; k is not split.
// Scales of an MXINT8 result follow each other row by row: [M][ceil(columns/32)]. Errors as Plan.
func (p W16A16) Call(o Operands, t cuda.Target) (cuda.Call, error) {
	all := p
	all.M = t.Rows(p.M, limit)
	best, err := all.choose(t.Arch, []int{1})
	if err != nil {
		return cuda.Call{}, err
	}
	return parted{p.M, p.N, p.K, p.Epilogue}.call(best, p.fixed(), []cuda.Arg{o.X, o.W}, o, p.Floor())
}
