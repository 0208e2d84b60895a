// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
)

// halfBits are the widths of exponent and fraction of a float of 16 bits.
func halfBits(f word.Float) (exponent, fraction int) {
	if f == word.Float16 {
		return 5, 10
	}
	return 8, 7
}

// halfValues are the values of all words of a float of 16 bits.
func halfValues(f word.Float) []float64 {
	eBits, mBits := halfBits(f)
	bias, all := 1<<(eBits-1)-1, make([]float64, 1<<16)
	for w := range all {
		e, m := w>>mBits&(1<<eBits-1), w&(1<<mBits-1)
		v := math.Ldexp(float64(m), 1-bias-mBits)
		switch {
		case e == 1<<eBits-1 && m != 0:
			v = math.NaN()
		case e == 1<<eBits-1:
			v = math.Inf(1)
		case e > 0:
			v = math.Ldexp(float64(m+1<<mBits), e-bias-mBits)
		}
		if w>>15 != 0 {
			v = -v
		}
		all[w] = v
	}
	return all
}

// f16Values are those of f16.
var f16Values = sync.OnceValue(func() []float64 { return halfValues(word.Float16) })

// halves draws rows of k words with magnitudes from 1/16 to 2. Where corners are wanted the first eight rows of so many
// have some: infinities and NaN in the first and the last columns, so that what reads beyond the end of a row meets
// them, rows of -0 and of subnormal words.
func halves(f word.Float, seed uint64, operand string, rows, k int, corners every) []byte {
	r := Dice(seed, operand)
	eBits, mBits := halfBits(f)
	top := uint16(1<<(eBits-1) - 1)
	inf := uint16(1<<eBits-1) << mBits
	out := make([]byte, 0, 2*rows*k)
	for row := range rows {
		kind := -1
		if corners != never && row%int(corners) < 8 {
			kind = row % int(corners)
		}
		for col := range k {
			v := uint16(r.Uint32())
			sign, m := v&0x8000, v&(1<<mBits-1)
			v = sign | (top-uint16(r.IntN(5)))<<mBits | m
			switch first, last := col == 0, col == k-1; {
			case kind == 1:
				v = 0x8000
			case kind == 2 && first, kind == 4 && last:
				v = sign | inf
			case kind == 3 && last, kind == 5 && first:
				v = inf | 1
			case kind == 6:
				v = sign | m
			}
			out = binary.LittleEndian.AppendUint16(out, v)
		}
	}
	return out
}

// packer puts weights into the order of a kernel.
type packer interface {
	Pack(w []byte) []byte
	PackedBytes() int64
}

// W16A16 is the problem on random data with corner values, or without them for times. c is as that of the function
// W8A16. plan comes from p.Plan.
func W16A16(p gemm.W16A16, plan gemm.Plan, seed uint64, corners bool, c float64) cuda.Case {
	return halfCase(p, p, plan, seed, corners, c)
}

// Hopper16 is W16A16 for the kernel of sm_90a; plan comes from p.Plan.
func Hopper16(p gemm.Hopper16, plan gemm.Plan, seed uint64, corners bool, c float64) cuda.Case {
	return halfCase(p.W16A16, p, plan, seed, corners, c)
}

func halfCase(p gemm.W16A16, pack packer, plan gemm.Plan, seed uint64, corners bool, c float64) cuda.Case {
	var b operandsOf
	rows := cornersFor(p.Epilogue, corners)
	acts := func() []byte { return halves(p.Word, seed, "x", p.M, p.K, rows) }
	weights := func() []byte { return halves(p.Word, seed, "w", p.N, p.K, rows) }
	o := gemm.Operands{XScales: cuda.Null(), WScales: cuda.Null()}
	o.X = b.in("x", int64(p.M)*int64(p.K)*2, acts)
	o.W = b.in("w", pack.PackedBytes(), func() []byte { return pack.Pack(weights()) })
	b.epilogue(seed, p.Epilogue, p.M, p.N, &o)
	o.Workspace = b.out("workspace", plan.Workspace)
	one := cuda.CaseOf(p, plan, o)
	one.Name = fmt.Sprintf("%s/m=%d n=%d k=%d %s", plan.Instances[0].Kernel, p.M, p.N, p.K, Text(p.Epilogue))
	one.Shape = fmt.Sprintf("M=%d N=%d K=%d", p.M, p.N, p.K)
	one.Formats = fmt.Sprintf("%s x %s -> %s", p.Word, p.Word, elementText(p.Out))
	one.Buffers = b.buffers
	one.Check = func(outputs [][]byte) cuda.Verdict {
		s := halfSums(p, acts(), weights())
		return check(p.Epilogue, seed, p.M, p.N, p.N*p.K, linearBound(c, p.K), s, outputs)
	}
	return one
}

// halfSums are those of the product, by row of x and row of w.
func halfSums(p gemm.W16A16, x, w []byte) func(m, n int) sums {
	values := halfValues(p.Word)
	at := func(b []byte, i int) float64 { return values[binary.LittleEndian.Uint16(b[2*i:])] }
	return func(m, n int) sums {
		var s sums
		for k := range p.K {
			v := at(x, m*p.K+k) * at(w, n*p.K+k)
			s.value += v
			s.size += math.Abs(v)
		}
		return s
	}
}
