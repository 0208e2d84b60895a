// SPDX-License-Identifier: Apache-2.0

// Package gemm holds the kernels that multiply matrices: rows of activations with packed weights, on tensor cores, with
// everything behind the sums fused. The weights of a layer are packed once, by Pack, into the order in which the lanes
// of a warp read them.
package gemm

import (
	"fmt"
	"math"
	"strconv"

	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// Activation is the function behind sum and bias. The numbers are those of epilogue.cuh.
type Activation int

// The activations. Relu keeps NaN. GeluTanh and Silu use approximate exponentials.
const (
	None Activation = iota
	Relu
	GeluErf  // x/2 * (1 + erf(x/sqrt 2))
	GeluTanh // x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
	Silu     // x / (1 + exp(-x))
	ReluLast // relu of the whole, behind the residual
)

var activationNames = [...]string{"none", "relu", "gelu_erf", "gelu_tanh", "silu", "relu_last"}

// String is the name of the activation.
func (a Activation) String() string {
	if a < 0 || int(a) >= len(activationNames) {
		return "unknown"
	}
	return activationNames[a]
}

// MXINT8 is the type of the elements of a result in blocks; their scales come on top.
const MXINT8 = word.I8

// Epilogue is what happens to the sums s of a product, in fp32, with one rounding at its end:
// y = act(s + bias) + residual, or with Gate act(s0 + bias0)*(s1 + bias1) + residual, where rows 2j of the weights make
// s0 and rows 2j+1 make s1 of column j; with ReluLast, y = relu(s + bias + residual).
type Epilogue struct {
	Act  Activation
	Gate bool
	// Out is word.F32, word.BF16 or MXINT8; of W16A16 also word.F16.
	Out word.Type
	// Bias and Residual say that there are such operands: fp32, one a row of the weights; and a matrix shaped as the
	// result, of its type, or bf16 where that is MXINT8.
	Bias, Residual bool
}

// Plain says that the result is the sum alone.
func (e Epilogue) Plain() bool { return e.Act == None && !e.Gate && !e.Bias && !e.Residual }

// params are the template parameters ACT, GATE and T.
func (e Epilogue) params() []string {
	out := string(e.Out)
	if e.Out == word.F16 {
		out = "half" // in the text of kernels f16 is the same type as bf16
	}
	return []string{strconv.Itoa(int(e.Act)), bit(e.Gate), out}
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// Operands are the arguments of a product. Those that it does not have are cuda.Null().
type Operands struct {
	// X has M rows of K elements; for MXINT8 XScales holds their scales, transposed: [ceil(K/32)][pitch of scales].
	X, XScales cuda.Arg
	// W and WScales are packed weights: Layout.Pack and Layout.PackScales.
	W, WScales cuda.Arg
	// Bias, Residual, Y and YScales are those of the epilogue. The scales of an MXINT8 result are transposed:
	// [ceil(columns/32)][pitch of scales].
	Bias, Residual, Y, YScales cuda.Arg
	// Exceeded is a word that the caller has set to 0; it becomes 1 where mx_wide took its longer accumulators.
	Exceeded cuda.Arg
	// Workspace has as many bytes as the plan says. Its content does not matter.
	Workspace cuda.Arg
}

// Plan is a product as it will run on an architecture.
type Plan = cuda.Plan[Operands]

// The products.
var (
	_ cuda.Batched[Operands] = W8A16{}
	_ cuda.Problem[Operands] = MX{}
	_ cuda.Batched[Operands] = Window{}
	_ cuda.Batched[Operands] = Int8{}
	_ cuda.Batched[Operands] = W16A16{}
)

// limit bounds M, N and K, so that indices of rows, columns and tiles fit 32 bits; products of them have 64.
const limit = 1 << 30

// refuse is error L0990.
func refuse(kernel, format string, args ...any) *diag.Error {
	return diag.New(diag.NoKernelTakes, kernel, format, args...).WithHint("docs/kernels.md says what each kernel takes")
}

// sizes refuses what is no size of a product.
func sizes(kernel string, m, n, k int) error {
	for _, v := range []int{m, n, k} {
		if v < 0 || v > limit {
			return refuse(kernel, "%d rows times %d columns over %d products: sizes lie between 0 and %d", m, n, k, limit)
		}
	}
	return nil
}

// Valid reports what the epilogue cannot do for n rows of weights: error L0990.
func (e Epilogue) Valid(kernel string, n int) error {
	switch {
	case e.Out != word.BF16 && e.Out != word.F32 && e.Out != MXINT8:
		return refuse(kernel, "no result in %q", e.Out).WithHint("there are bf16, f32 and i8 (MXINT8)")
	case e.Act < None || e.Act > ReluLast:
		return refuse(kernel, "no activation %d", e.Act)
	case e.Gate && n%2 != 0:
		return refuse(kernel, "%d rows of weights are not pairs of gate and value", n)
	}
	return nil
}

// Columns is the number of columns of the result for n rows of weights.
func (e Epilogue) Columns(n int) int {
	if e.Gate {
		return n / 2
	}
	return n
}

// ResidualBytes is the size of an element of the residual.
func (e Epilogue) ResidualBytes() int { return max(e.Out.Bytes(), 2) }

// ScalePitch is the distance between rows of transposed scales of m rows of a matrix, in bytes: a multiple of 16.
func ScalePitch(m int) int64 { return int64(m+15) / 16 * 16 }

// floor is the traffic of the epilogue in bytes.
func (e Epilogue) floor(m, n int) int64 {
	cols := int64(e.Columns(n))
	bytes := int64(m) * cols * int64(e.Out.Bytes())
	if e.Out == MXINT8 {
		bytes += int64(m) * ((cols + 31) / 32)
	}
	if e.Residual {
		bytes += int64(m) * cols * int64(e.ResidualBytes())
	}
	if e.Bias {
		bytes += int64(n) * 4
	}
	return bytes
}

func texts(values ...int) []string {
	var out []string
	for _, v := range values {
		out = append(out, strconv.Itoa(v))
	}
	return out
}

// whole is the plan of a product whose k range is not split: one launch of so many blocks, or none without blocks. args
// orders the operands for the kernel. Errors as gridOf.
func whole(i cuda.Instance, blocks int, args func(Operands) []cuda.Arg) (Plan, error) {
	plan := Plan{Instances: []cuda.Instance{i}, Splits: 1, Why: fmt.Sprintf("%s, %d blocks", i, blocks)}
	if blocks == 0 {
		plan.Launches = func(Operands) []cuda.Launch { return nil }
		return plan, nil
	}
	head, err := gridOf(i, blocks)
	if err != nil {
		return Plan{}, err
	}
	plan.Launches = func(o Operands) []cuda.Launch {
		l := head
		l.Args = args(o)
		return []cuda.Launch{l}
	}
	return plan, nil
}

// gridOf is a launch of so many blocks, without arguments: error L0990 where no grid is that large.
func gridOf(i cuda.Instance, blocks int) (cuda.Launch, error) {
	threads, err := i.Threads()
	if err != nil {
		return cuda.Launch{}, err
	}
	shared, err := i.Shared()
	if err != nil {
		return cuda.Launch{}, err
	}
	if blocks > math.MaxInt32 {
		return cuda.Launch{}, refuse(i.Kernel, "%d tiles are more than a grid has blocks", blocks)
	}
	return cuda.Launch{Kernel: i.Kernel, Grid: [3]uint32{uint32(blocks), 1, 1}, Block: [3]uint32{uint32(threads), 1, 1},
		Shared: uint32(shared)}, nil
}

func ceil(a, b int) int { return (a + b - 1) / b }
