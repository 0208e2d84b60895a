// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"slices"
	"strconv"

	"lathe/cuda"
	"lathe/cuda/ptx/tensor"
	"lathe/cuda/word"
)

// Hopper16 is W16A16 by the copy engine and the warpgroups of sm_90a. K is a multiple of 8, and not 0.
type Hopper16 struct{ W16A16 }

// Hopper8 is W8A16 by the copy engine and the warpgroups of sm_90a. K is a multiple of 8, and not 0.
type Hopper8 struct{ W8A16 }

// HopperInt8 is Int8 by the copy engine and the warpgroups of sm_90a. K is a multiple of 16, and not 0.
type HopperInt8 struct{ Int8 }

var (
	_ cuda.Batched[Operands] = Hopper16{}
	_ cuda.Batched[Operands] = Hopper8{}
	_ cuda.Batched[Operands] = HopperInt8{}
)

// hopper is such a product.
type hopper struct {
	parted
	kernel string
	// rows says that tiles have so many columns as the warpgroups have rows, and the other extent is that of rows.
	rows  bool
	fixed []string // template parameters between those of the configuration and of the epilogue
	// inputs are the first arguments in a configuration; each is the number of rows of x of a sample.
	inputs func(o Operands, t tile, each int) []cuda.Arg
}

// The rows of the two warpgroups that multiply, and the stages of all configurations.
const hopperRows, hopperStages = 128, 4

// hopperExtents are the other extents of tiles.
var hopperExtents = []int{256, 128}

// hopperMacs are the products of a multiprocessor and clock that wgmma is taken to reach, 85 % of its rate: an
// estimate.
const hopperMacs = 1740

func (p Hopper16) hopper() hopper {
	typ := map[word.Float]tensor.Type{word.BFloat16: tensor.BF16, word.Float16: tensor.F16}[p.Word]
	return hopper{parted: parted{p.M, p.N, p.K, p.Epilogue}, kernel: "w16a16_hopper",
		fixed: []string{strconv.Itoa(int(p.Word))},
		inputs: func(o Operands, t tile, each int) []cuda.Arg {
			return []cuda.Arg{
				matrix(o.X, typ, p.K, p.M, 64, t.bm, tensor.Swizzle128, each),
				matrix(o.W, typ, p.K, p.N, 64, t.bn, tensor.Swizzle128, 0),
			}
		}}
}

func (p Hopper8) hopper() hopper {
	steps, groups := ceil(p.K, 64), ceil(p.N, 16)
	return hopper{parted: parted{p.M, p.N, p.K, p.Epilogue}, kernel: "w8a16_hopper", rows: true,
		inputs: func(o Operands, t tile, each int) []cuda.Arg {
			return []cuda.Arg{
				matrix(o.X, tensor.BF16, p.K, p.M, 64, t.bm, tensor.Swizzle128, each),
				matrix(o.W, tensor.U32, steps*256, groups, 256, t.bn/16, tensor.None, 0),
				matrix(o.WScales, tensor.U8, steps*32, groups, 32, t.bn/16, tensor.None, 0),
			}
		}}
}

// matrix is a tensor of rows one behind the other, in boxes of so many columns by rows. There are `each` rows a sample;
// 0 where they do not depend on samples.
func matrix(at cuda.Arg, t tensor.Type, cols, rows, box, boxRows int, s tensor.Swizzle, each int) cuda.Arg {
	return cuda.Tensor(at, tensor.Map{Type: t, Dims: []int64{int64(cols), int64(rows)},
		Strides: []int64{int64(cols) * t.Bytes()}, Box: []int64{int64(box), int64(boxRows)}, Swizzle: s,
		Promotion: promoted}, int64(each))
}

// promoted has copies bring whole lines of 128 bytes to L2 (CU_TENSOR_MAP_L2_PROMOTION_L2_128B).
const promoted = 2

// Valid reports why the kernel cannot take the problem: error L0990.
func (p Hopper16) Valid() error {
	if err := p.W16A16.Valid(); err != nil {
		return err
	}
	return p.hopper().valid()
}

// Valid reports why the kernel cannot take the problem: error L0990.
func (p Hopper8) Valid() error {
	if err := p.W8A16.Valid(); err != nil {
		return err
	}
	return p.hopper().valid()
}

func (h hopper) valid() error {
	if h.k == 0 || h.k%8 != 0 {
		return refuse(h.kernel, "rows of %d words: the copy engine takes rows of 16 bytes times a whole number", h.k)
	}
	return nil
}

// Pack leaves weights as they are: N rows of K words.
func (p Hopper16) Pack(w []byte) []byte { return w }

// PackedBytes is the size of packed weights.
func (p Hopper16) PackedBytes() int64 { return int64(p.N) * int64(p.K) * 2 }

// on is the choice of an extent.
func (h hopper) on(extent int, g gpu) choice {
	t := tile{bm: hopperRows, bn: extent, stages: hopperStages}
	if h.rows {
		t.bm, t.bn = t.bn, t.bm
	}
	g.macs = hopperMacs
	blocks := ceil(h.m, t.bm) * ceil(h.n, t.bn)
	w := work{bytes: float64((t.bm + t.bn) * 128), macs: float64(t.bm * t.bn * 64),
		shared: t.stages*(t.bm+t.bn)*128 + 24<<10, threads: 384}
	return choice{h.kernel, texts(extent, hopperStages), t, blocks, 1, g.cost(w, blocks, 1, ceil(h.k, 64), h.m*h.n)}
}

// choose is the choice of least estimated time for m rows. Error L0990 for other architectures than sm_90a.
func (h hopper) choose(m int, a cuda.Arch) (choice, error) {
	if a.Name != cuda.HopperArch {
		return choice{}, refuse(h.kernel, "no kernel for %s", a.Name).WithHint("there is one for sm_90a")
	}
	h.m = m
	var all []choice
	for _, extent := range hopperExtents {
		all = append(all, h.on(extent, gpuOf(a)))
	}
	return least(h.kernel, all, a)
}

// Plan chooses the tile of least estimated time. Errors as Valid, and L0990 for other architectures than sm_90a.
func (p Hopper16) Plan(a cuda.Arch) (Plan, error) {
	if err := p.Valid(); err != nil {
		return Plan{}, err
	}
	return p.hopper().plan(a)
}

// Plan chooses the tile of least estimated time. Errors as Valid, and L0990 for other architectures than sm_90a.
func (p Hopper8) Plan(a cuda.Arch) (Plan, error) {
	if err := p.Valid(); err != nil {
		return Plan{}, err
	}
	return p.hopper().plan(a)
}

func (h hopper) plan(a cuda.Arch) (Plan, error) {
	c, err := h.choose(h.m, a)
	if err != nil {
		return Plan{}, err
	}
	return h.with(c)
}

// with is the plan of a choice.
func (h hopper) with(c choice) (Plan, error) {
	i, err := cuda.Named(c.template, slices.Concat(c.params, h.fixed, h.Epilogue.params())...)
	if err != nil {
		return Plan{}, err
	}
	return whole(i, c.blocks, func(o Operands) []cuda.Arg {
		return slices.Concat(h.inputs(o, c.tile, 0), h.sink(o, h.m, h.n), []cuda.Arg{cuda.I32(int32(h.m)),
			cuda.I32(int32(h.n)), cuda.I32(int32(h.k))})
	})
}

// Call is the product of the M rows of each of a number of samples, in a configuration for those of t. Scales of an
// MXINT8 result follow each other row by row: [M][ceil(columns/32)]. Errors as Plan.
func (p Hopper16) Call(o Operands, t cuda.Target) (cuda.Call, error) {
	if err := p.Valid(); err != nil {
		return cuda.Call{}, err
	}
	return p.hopper().called(o, t, p.Floor())
}

// Call is the product of the M rows of each of a number of samples, in a configuration for those of t. Results are no
// MXINT8. Errors as Plan.
func (p Hopper8) Call(o Operands, t cuda.Target) (cuda.Call, error) {
	if err := p.Valid(); err != nil {
		return cuda.Call{}, err
	}
	if p.Out == MXINT8 {
		return cuda.Call{}, refuse("w8a16_hopper", "results in MXINT8 for several samples")
	}
	return p.hopper().called(o, t, p.Floor())
}

func (h hopper) called(o Operands, t cuda.Target, f cuda.Floor) (cuda.Call, error) {
	c, err := h.choose(t.Rows(h.m, limit), t.Arch)
	if err != nil {
		return cuda.Call{}, err
	}
	call, err := h.call(c, h.fixed, h.inputs(o, c.tile, h.m), o, f)
	call.Args = call.Args[:max(len(call.Args)-1, 0)] // but for the number of parts of k
	return call, err
}

// Worthwhile says that the estimated time is no more than that of W16A16.
func (p Hopper16) Worthwhile(t cuda.Target) bool {
	all := p.W16A16
	all.M = t.Rows(p.M, limit)
	other, err := all.choose(t.Arch, []int{1})
	return p.Valid() == nil && err == nil && p.hopper().beats(other, all.M, t.Arch)
}

// Worthwhile says that the estimated time is no more than that of W8A16.
func (p Hopper8) Worthwhile(t cuda.Target) bool {
	all := p.W8A16
	all.M = t.Rows(p.M, limit)
	other, err := least("w8a16", all.tiled(gpuOf(t.Arch), []int{1}), t.Arch)
	return p.Valid() == nil && err == nil && p.hopper().beats(other, all.M, t.Arch)
}

// beats says that m rows take no more time than by another choice.
func (h hopper) beats(other choice, m int, a cuda.Arch) bool {
	c, err := h.choose(m, a)
	return err == nil && c.cost <= other.cost
}
