// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"lathe/cuda"
	"lathe/cuda/num"
	"lathe/ir/format"
)

// sampled is how many elements the check of a large case looks at, about.
const sampled = 1 << 16

// stride is the distance of the blocks of 32 that a check looks at: odd, so that all places in a row come up.
func stride(n int64) int64 { return max(n/sampled, 1) | 1 }

// word is the i-th word of the inputs of a case: any bit pattern of bfloat16, or with `tame` one of moderate size.
func word(i int64, tame bool) uint16 {
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
			binary.LittleEndian.PutUint16(b[2*i:], word(int64(i), tame))
		}
	}
}

// Case is the kernel on bfloat16 words of every size, NaN in one block of eight or so. Error as Instance.
func (p Quantize) Case(timed bool) (cuda.Case, error) {
	return caseOf(p, Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), YScales: cuda.Buffer(2)}, cuda.Case{
		Name:  fmt.Sprintf("quantize/bf16/%dx%d", p.Rows, p.Cols),
		Shape: fmt.Sprintf("%d x %d", p.Rows, p.Cols), Formats: "bf16 -> mxint8", Timed: timed,
		Buffers: []cuda.CaseBuffer{{Name: "x", Bytes: 2 * p.Rows * p.Cols, Fill: fillWords(false)},
			{Name: "q", Bytes: p.Rows * p.Cols, Output: true}, {Name: "X", Bytes: p.Rows * p.Blocks(), Output: true}},
		Check: func(out [][]byte) cuda.Verdict { return p.check(out[0], out[1]) },
	})
}

// check demands every byte of the blocks that it looks at.
func (p Quantize) check(q, scales []byte) cuda.Verdict {
	mx := format.NewMXInt(8, 32)
	for k := int64(0); k < p.Rows*p.Blocks(); k += stride(p.Rows * p.Cols) {
		row, from := k/p.Blocks(), k%p.Blocks()*32
		n := min(32, p.Cols-from)
		x, codes, want := make([]format.Exact, n), make([]int64, n), make([]byte, n)
		for j := range x {
			x[j] = format.FromFloat64(cuda.BF16(word(row*p.Cols+from+int64(j), false)))
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

// Case is the kernel from bfloat16 words of every size. Error as Instance.
func (p Cast) Case(to format.Format, timed bool) (cuda.Case, error) {
	size := int64(p.To.Codec.Bytes)
	o := Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), XScales: cuda.Null(), YScales: cuda.Null()}
	return caseOf(p, o, cuda.Case{
		Name:  fmt.Sprintf("cast/bf16/%s/n=%d", to, p.N),
		Shape: fmt.Sprintf("n=%d", p.N), Formats: "bf16 -> " + to.String(), Timed: timed,
		Buffers: []cuda.CaseBuffer{{Name: "x", Bytes: 2 * p.N, Fill: fillWords(false)},
			{Name: "y", Bytes: size * p.N, Output: true}},
		Check: func(out [][]byte) cuda.Verdict {
			for k := int64(0); k < p.N; k += stride(p.N) {
				code := uint64(to.Encode(format.FromFloat64(cuda.BF16(word(k, false)))))
				want := binary.LittleEndian.AppendUint64(nil, code)[:size]
				if got := out[0][k*size : (k+1)*size]; !bytes.Equal(got, want) {
					return cuda.Verdict{Wrong: fmt.Sprintf("element %d is %v, want %v", k, got, want)}
				}
			}
			return cuda.Verdict{BitEqual: true}
		},
	})
}

// Case is a chain of two whole inputs in bfloat16. Error as Instance.
func (p Chain) Case(name string, timed bool) (cuda.Case, error) {
	return caseOf(p, ChainOperands{X: []cuda.Arg{cuda.Buffer(0), cuda.Buffer(1)}, Y: cuda.Buffer(2)}, cuda.Case{
		Name:  fmt.Sprintf("chain/%s/n=%d", name, p.N),
		Shape: fmt.Sprintf("n=%d", p.N), Formats: "bf16, bf16 -> bf16", Timed: timed,
		Buffers: []cuda.CaseBuffer{{Name: "x0", Bytes: 2 * p.N, Fill: fillWords(true)},
			{Name: "x1", Bytes: 2 * p.N, Fill: fillWords(true)}, {Name: "y", Bytes: 2 * p.N, Output: true}},
		Check: func(out [][]byte) cuda.Verdict {
			v := cuda.Verdict{Tol: 1}
			for k := int64(0); k < p.N; k += stride(p.N) {
				x := cuda.BF16(word(k, true))
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

// Case is the kernel from bfloat16 words of every size. Error as Instance.
func (p Blocks) Case(timed bool) (cuda.Case, error) {
	n := p.Outer * p.Length * p.Inner
	scales := p.Outer * p.PerRow() * p.Inner
	return caseOf(p, Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), YScales: cuda.Buffer(2)}, cuda.Case{
		Name:  fmt.Sprintf("to_blocks/bf16/%s/%dx%dx%d", p.To, p.Outer, p.Length, p.Inner),
		Timed: timed, Shape: fmt.Sprintf("%d x %d x %d", p.Outer, p.Length, p.Inner),
		Formats: "bf16 -> " + p.To.String() + " along the middle axis",
		Buffers: []cuda.CaseBuffer{{Name: "x", Bytes: 2 * n, Fill: fillWords(false)},
			{Name: "q", Bytes: n, Output: true}, {Name: "X", Bytes: scales, Output: true}},
		Check: func(out [][]byte) cuda.Verdict { return p.check(out[0], out[1]) },
	})
}

// check demands every byte of the blocks that it looks at.
func (p Blocks) check(q, scales []byte) cuda.Verdict {
	for b := int64(0); b < int64(len(scales)); b += stride(int64(len(q))) {
		o, from, column := b/p.Inner/p.PerRow(), b/p.Inner%p.PerRow()*int64(p.To.BlockSize()), b%p.Inner
		var x []format.Exact
		var at []int64
		for k := from; k < min(from+int64(p.To.BlockSize()), p.Length); k++ {
			at = append(at, (o*p.Length+k)*p.Inner+column)
			x = append(x, format.FromFloat64(cuda.BF16(word(at[len(at)-1], false))))
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
	fixed := format.Fixed{W: 8, F: 4, Signed: true}
	to, err := SideOf(fixed)
	if err != nil {
		return nil, err
	}
	inner, err := Apply("gelu_erf", Arg(0))
	if err != nil {
		return nil, err
	}
	sum, err := Apply("add", inner, Arg(1))
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		rows, cols int64
		timed      bool
	}{{33, 100, false}, {4, 4096, false}, {4096, 4096, true}, {14336, 4096, true}} {
		n := s.rows * s.cols
		for _, err := range []error{
			add(Quantize{Rows: s.rows, Cols: s.cols, In: num.BF16}.Case(s.timed)),
			add(Cast{N: n, From: Side{Codec: num.BF16}, To: to}.Case(fixed, s.timed)),
			add(Blocks{Outer: 3, Length: s.rows, Inner: s.cols / 4, From: Side{Codec: num.BF16},
				To: format.NewMXInt(8, 32)}.Case(s.timed)),
			add(Chain{Expr: sum, N: n, Cols: s.cols, In: num.BF16, Out: num.BF16,
				Inputs: []Shape{Whole, Whole}}.Case("gelu_add", s.timed)),
		} {
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
