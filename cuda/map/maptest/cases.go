// SPDX-License-Identifier: Apache-2.0

// Package maptest holds the cases of the element-wise kernels, with their definition by ir/format.
package maptest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"lathe/cuda"
	pointwise "lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/cuda/word"
	"lathe/ir/format"
)

// Cases are the kernels of the family on the shapes that are checked and timed where a GPU is present. Error as
// cuda.Make.
func Cases() ([]cuda.Case, error) {
	var all []cuda.Case
	for _, c := range []struct {
		out   word.Type
		n     int64
		timed bool
	}{
		{"bf16", 65536, false}, {"f32", 65536, false}, {"bf16", 4113, false}, {"f32", 4113, false}, {"bf16", 16777216, true},
		{"bf16", 58720256, true}, {"bf16", 234881024, true}, {"f32", 58720256, true},
	} {
		one, err := Dequant(pointwise.Dequant{Out: c.out, N: c.n}, c.timed)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	rest, err := more()
	return append(all, rest...), err
}

// sampled is how many elements the check of a large case looks at, about.
const sampled = 1 << 16

// stride is the distance of the blocks of 32 that a check looks at: odd, so that all places in a row come up.
func stride(n int64) int64 { return max(n/sampled, 1) | 1 }

// inputWord is the i-th word of the inputs of a case: any bit pattern of bfloat16, or with `tame` one of moderate size.
func inputWord(i int64, tame bool) uint16 {
	w := uint16(format.Mix(uint32(i)) >> 8)
	if tame {
		w = w&0x83FF | 0x3C00 // exponents 120 to 127
	}
	return w
}

// fillWords fills an input with words, `tame` ones or any.
func fillWords(tame bool) func(b []byte) {
	return func(b []byte) {
		for i := range len(b) / 2 {
			binary.LittleEndian.PutUint16(b[2*i:], inputWord(int64(i), tame))
		}
	}
}

// Quantize is the kernel on bfloat16 words of every size, NaN in one block of eight or so. Errors as those of the plan.
func Quantize(p pointwise.Quantize, timed bool) (cuda.Case, error) {
	return caseOf(p, pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), YScales: cuda.Buffer(2)}, cuda.Case{
		Name:  fmt.Sprintf("quantize/bf16/%dx%d", p.Rows, p.Cols),
		Shape: fmt.Sprintf("%d x %d", p.Rows, p.Cols), Formats: "bf16 -> mxint8", Timed: timed,
		Buffers: []cuda.CaseBuffer{{Name: "x", Bytes: 2 * p.Rows * p.Cols, Fill: fillWords(false)},
			{Name: "q", Bytes: p.Rows * p.Cols, Output: true}, {Name: "X", Bytes: p.Rows * p.Blocks(), Output: true}},
		Check: func(out [][]byte) cuda.Verdict { return checkQuantize(p, out[0], out[1]) },
	})
}

// checkQuantize demands every byte of the blocks that it looks at.
func checkQuantize(p pointwise.Quantize, q, scales []byte) cuda.Verdict {
	mx := format.NewMXInt(8, 32)
	for k := int64(0); k < p.Rows*p.Blocks(); k += stride(p.Rows * p.Cols) {
		row, from := k/p.Blocks(), k%p.Blocks()*32
		n := min(32, p.Cols-from)
		x, codes, want := make([]format.Exact, n), make([]int64, n), make([]byte, n)
		for j := range x {
			x[j] = format.FromFloat64(cuda.BF16(inputWord(row*p.Cols+from+int64(j), false)))
		}
		scale := byte(mx.EncodeBlock(x, codes))
		for j, c := range codes {
			want[j] = byte(c)
		}
		at := row*p.Cols + from
		if got := q[at : at+n]; scales[k] != scale || !bytes.Equal(got, want) {
			return cuda.Verdict{Wrong: fmt.Sprintf("block %d of row %d has scale %d and %v, want %d and %v",
				from/32, row, scales[k], got, scale, want)}
		}
	}
	return cuda.Verdict{BitEqual: true}
}

// Cast is the kernel from bfloat16 words of every size. Errors as those of the plan.
func Cast(p pointwise.Cast, to format.Format, timed bool) (cuda.Case, error) {
	size := int64(p.To.Codec.Bytes)
	o := pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), XScales: cuda.Null(), YScales: cuda.Null()}
	return caseOf(p, o, cuda.Case{
		Name:  fmt.Sprintf("cast/bf16/%s/n=%d", to, p.N),
		Shape: fmt.Sprintf("n=%d", p.N), Formats: "bf16 -> " + to.String(), Timed: timed,
		Buffers: []cuda.CaseBuffer{{Name: "x", Bytes: 2 * p.N, Fill: fillWords(false)},
			{Name: "y", Bytes: size * p.N, Output: true}},
		Check: func(out [][]byte) cuda.Verdict {
			for k := int64(0); k < p.N; k += stride(p.N) {
				code := uint64(to.Encode(format.FromFloat64(cuda.BF16(inputWord(k, false)))))
				want := binary.LittleEndian.AppendUint64(nil, code)[:size]
				if got := out[0][k*size : (k+1)*size]; !bytes.Equal(got, want) {
					return cuda.Verdict{Wrong: fmt.Sprintf("element %d is %v, want %v", k, got, want)}
				}
			}
			return cuda.Verdict{BitEqual: true}
		},
	})
}

// Chain is a chain of two whole inputs in bfloat16. Errors as those of the plan.
func Chain(p pointwise.Chain, name string, timed bool) (cuda.Case, error) {
	return caseOf(p, pointwise.ChainOperands{X: []cuda.Arg{cuda.Buffer(0), cuda.Buffer(1)}, Y: cuda.Buffer(2)}, cuda.Case{
		Name:  fmt.Sprintf("chain/%s/n=%d", name, p.N),
		Shape: fmt.Sprintf("n=%d", p.N), Formats: "bf16, bf16 -> bf16", Timed: timed,
		Buffers: []cuda.CaseBuffer{{Name: "x0", Bytes: 2 * p.N, Fill: fillWords(true)},
			{Name: "x1", Bytes: 2 * p.N, Fill: fillWords(true)}, {Name: "y", Bytes: 2 * p.N, Output: true}},
		Check: func(out [][]byte) cuda.Verdict {
			v := cuda.Verdict{Tol: 1}
			for k := int64(0); k < p.N; k += stride(p.N) {
				x := cuda.BF16(inputWord(k, true))
				want := p.Expr.Eval([]float64{x, x}, nil)
				got := cuda.BF16At(out[0], k)
				// One rounding to bfloat16, and some ulps of fp32 of the larger operand.
				off := math.Abs(got-want) / (math.Abs(want)*0x1p-8 + math.Abs(x)*0x1p-20 + 0x1p-133)
				if v.MaxErr = max(v.MaxErr, off); !(off <= v.Tol) {
					v.Wrong = fmt.Sprintf("element %d is %v, want %v", k, got, want)
					return v
				}
			}
			return v
		},
	})
}

// Blocks is the kernel from bfloat16 words of every size. Errors as those of the plan.
func Blocks(p pointwise.Blocks, timed bool) (cuda.Case, error) {
	n := p.Outer * p.Length * p.Inner
	scales := p.Outer * p.PerRow() * p.Inner
	return caseOf(p, pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), YScales: cuda.Buffer(2)}, cuda.Case{
		Name:  fmt.Sprintf("to_blocks/bf16/%s/%dx%dx%d", p.To, p.Outer, p.Length, p.Inner),
		Timed: timed, Shape: fmt.Sprintf("%d x %d x %d", p.Outer, p.Length, p.Inner),
		Formats: "bf16 -> " + p.To.String() + " along the middle axis",
		Buffers: []cuda.CaseBuffer{{Name: "x", Bytes: 2 * n, Fill: fillWords(false)},
			{Name: "q", Bytes: n, Output: true}, {Name: "X", Bytes: scales, Output: true}},
		Check: func(out [][]byte) cuda.Verdict { return checkBlocks(p, out[0], out[1]) },
	})
}

// checkBlocks demands every byte of the blocks that it looks at.
func checkBlocks(p pointwise.Blocks, q, scales []byte) cuda.Verdict {
	for b := int64(0); b < int64(len(scales)); b += stride(int64(len(q))) {
		o, from, column := b/p.Inner/p.PerRow(), b/p.Inner%p.PerRow()*int64(p.To.BlockSize()), b%p.Inner
		var x []format.Exact
		var at []int64
		for k := from; k < min(from+int64(p.To.BlockSize()), p.Length); k++ {
			at = append(at, (o*p.Length+k)*p.Inner+column)
			x = append(x, format.FromFloat64(cuda.BF16(inputWord(at[len(at)-1], false))))
		}
		codes := make([]int64, len(x))
		scale := byte(p.To.EncodeBlock(x, codes))
		for j, c := range codes {
			if q[at[j]] != byte(c) || scales[b] != scale {
				return cuda.Verdict{Wrong: fmt.Sprintf("element %d of block %d is %d with scale %d, want %d with %d", j, b,
					int8(q[at[j]]), scales[b], c, scale)}
			}
		}
	}
	return cuda.Verdict{BitEqual: true}
}

// more are the cases of all kernels of the family but dequantize.
func more() ([]cuda.Case, error) {
	var all []cuda.Case
	add := func(c cuda.Case, err error) error {
		if err == nil {
			all = append(all, c)
		}
		return err
	}
	from, fixed := pointwise.Side{Codec: num.BF16}, format.Fixed{W: 8, F: 4, Signed: true}
	to, err := pointwise.SideOf(fixed)
	if err != nil {
		return nil, err
	}
	inner, err := pointwise.Apply("gelu_erf", pointwise.Arg(0))
	if err != nil {
		return nil, err
	}
	sum, err := pointwise.Apply("add", inner, pointwise.Arg(1))
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		rows, cols int64
		timed      bool
	}{{33, 100, false}, {4, 4096, false}, {4096, 4096, true}, {14336, 4096, true}} {
		n := s.rows * s.cols
		for _, err := range []error{
			add(Quantize(pointwise.Quantize{Rows: s.rows, Cols: s.cols, In: num.BF16}, s.timed)),
			add(Cast(pointwise.Cast{N: n, From: from, To: to}, fixed, s.timed)),
			add(Blocks(pointwise.Blocks{Outer: 3, Axis: pointwise.Axis{Length: s.rows, Inner: s.cols / 4},
				From: from, To: format.NewMXInt(8, 32)}, s.timed)),
			add(Chain(pointwise.Chain{Expr: sum, N: n, Cols: s.cols, In: num.BF16, Out: num.BF16,
				Inputs: []pointwise.Shape{pointwise.Whole, pointwise.Whole}}, "gelu_add", s.timed)),
		} {
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
