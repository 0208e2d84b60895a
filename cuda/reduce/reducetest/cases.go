// SPDX-License-Identifier: Apache-2.0

// Package reducetest holds the cases of the kernels along rows, with their definition in float64.
package reducetest

import (
	"encoding/binary"
	"fmt"
	"math"

	"lathe/cuda"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
)

// Cases are the kernels of the family on the shapes that are checked and timed where a GPU is present: rows that every
// team of warps takes, in bf16, and the rows of the speed goals. Errors as those of the plans.
func Cases() ([]cuda.Case, error) {
	var all []cuda.Case
	add := func(c cuda.Case, err error) error {
		all = append(all, c)
		return err
	}
	for _, m := range []reduce.Matrix{{Rows: 5, Cols: 33}, {Rows: 6, Cols: 1000}, {Rows: 3, Cols: 4096}, {Rows: 2,
		Cols: 12345},
		{Rows: 2, Cols: 4104}, {Rows: 2, Cols: 8200}, // the teams of 8192 columns and more, with ragged ends
		{Rows: 1, Cols: 49160}, // more than stays in shared memory
		{Rows: 32768, Cols: 1024}, {Rows: 32768, Cols: 4096}, {Rows: 32768, Cols: 8192}, {Rows: 8192, Cols: 65536}} {
		timed := m.Rows > 1000
		if err := add(Softmax(reduce.Softmax{Matrix: m, In: word.BFloat16, Out: word.BFloat16}, timed)); err != nil {
			return nil, err
		}
		for _, n := range []reduce.Norm{{}, {RMS: true}, {Add: true}, {RMS: true, Add: true}} {
			n.Matrix, n.In, n.Out, n.Gain, n.Eps = m, word.BFloat16, word.BFloat16, word.BFloat16, 1e-5
			if err := add(Norm(n, timed)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// sampleRows is how many rows of a large matrix are checked.
const sampleRows = 64

// element is value i of the operand of that number: between -4 and 4, as a word of bf16. It depends on nothing else, so
// that a row is known without those before it.
func element(operand, i uint64) float64 {
	z := (i+1)*0x9E3779B97F4A7C15 + operand*0xD1B54A32D192ED03
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	f := float32(int32(z>>32)) / (1 << 29)
	return float64(math.Float32frombits(math.Float32bits(f) &^ 0xFFFF))
}

// fill writes elements of an operand in bf16.
func fill(operand uint64) func([]byte) {
	return func(b []byte) {
		for i := range len(b) / 2 {
			binary.LittleEndian.PutUint16(b[2*i:], uint16(math.Float32bits(float32(element(operand, uint64(i))))>>16))
		}
	}
}

// Softmax is softmax of rows of bf16 without a mask. Errors as those of the plan.
func Softmax(p reduce.Softmax, timed bool) (cuda.Case, error) {
	plan, err := p.Plan(cuda.Arch{})
	if err != nil {
		return cuda.Case{}, err
	}
	one := cuda.CaseOf(p, plan, reduce.SoftmaxArgs{X: cuda.Buffer(0), Mask: cuda.Null(), Y: cuda.Buffer(1)})
	one.Name, one.Timed = fmt.Sprintf("softmax/rows=%d cols=%d", p.Rows, p.Cols), timed
	one.Shape, one.Formats = shape(p.Matrix), "bf16 -> bf16"
	size := 2 * p.Rows * p.Cols
	one.Buffers = []cuda.CaseBuffer{{Name: "x", Bytes: size, Fill: fill(0)}, {Name: "y", Bytes: size, Output: true}}
	one.Check = func(out [][]byte) cuda.Verdict {
		return check(p.Matrix, out[0], func(row int64) (y, tol []float64) {
			sum := 0.0
			for c := range p.Cols { // no maximum is needed: float64 holds e^4 times any number of columns
				y = append(y, math.Exp(element(0, uint64(row*p.Cols+c))))
				sum += y[c]
			}
			for c := range y {
				y[c] /= sum
				tol = append(tol, 0x1p-8*y[c]+min(4e-7, 0x1p-18*y[c]))
			}
			return y, tol
		})
	}
	return one, nil
}

// Norm is the norm of rows of bf16 with gain and bias, and with the sum before it if there is one. Errors as those of
// the plan.
func Norm(p reduce.Norm, timed bool) (cuda.Case, error) {
	name := "layer_norm"
	if p.RMS {
		name = "rms_norm"
	}
	if p.Add {
		name = "add+" + name
	}
	a := reduce.NormArgs{X: cuda.Buffer(0), Y: cuda.Buffer(1), Gain: cuda.Buffer(2), Bias: cuda.Buffer(3),
		Addend: cuda.Null(),
		Sum:    cuda.Null(), Scales: cuda.Null()}
	size := 2 * p.Rows * p.Cols
	buffers := []cuda.CaseBuffer{
		{Name: "x", Bytes: size, Fill: fill(0)}, {Name: "y", Bytes: size, Output: true},
		{Name: "gain", Bytes: 2 * p.Cols, Fill: fill(1)}, {Name: "bias", Bytes: 2 * p.Cols, Fill: fill(2)},
	}
	if p.Add {
		a.Addend, a.Sum = cuda.Buffer(4), cuda.Buffer(5)
		buffers = append(buffers, cuda.CaseBuffer{Name: "addend", Bytes: size, Fill: fill(3)},
			cuda.CaseBuffer{Name: "sum", Bytes: size, Output: true})
	}
	plan, err := p.Plan(cuda.Arch{})
	if err != nil {
		return cuda.Case{}, err
	}
	one := cuda.CaseOf(p, plan, a)
	one.Name, one.Timed = fmt.Sprintf("%s/rows=%d cols=%d", name, p.Rows, p.Cols), timed
	one.Shape, one.Formats, one.Buffers = shape(p.Matrix), "bf16 -> bf16", buffers
	one.Check = func(out [][]byte) cuda.Verdict {
		v := check(p.Matrix, out[0], func(row int64) (y, tol []float64) { return norm(p, row) })
		if v.Wrong == "" && p.Add {
			v.Wrong = checkSum(p, out[1])
		}
		return v
	}
	return one, nil
}

// input is what the norm reads at a place: x, or the sum rounded to bf16.
func input(p reduce.Norm, at uint64) float64 {
	x := element(0, at)
	if p.Add {
		x = cuda.BF16(cuda.BF16Word(x + element(3, at)))
	}
	return x
}

// checkSum compares the stored sum of sampled rows bit by bit; "" if all is right.
func checkSum(p reduce.Norm, sum []byte) string {
	for row := int64(0); row < p.Rows; row += step(p.Matrix) {
		for c := range p.Cols {
			at := row*p.Cols + c
			if got, want := cuda.BF16At(sum, at), input(p, uint64(at)); got != want {
				return fmt.Sprintf("sum, row %d, column %d is %v, want %v", row, c, got, want)
			}
		}
	}
	return ""
}

// norm is the definition in float64 with the kernel's gate: half a unit of bf16, and 2^-20 of what was added up.
func norm(p reduce.Norm, row int64) (y, tol []float64) {
	n, mean, square := float64(p.Cols), 0.0, 0.0
	var x []float64
	for c := range p.Cols {
		x = append(x, input(p, uint64(row*p.Cols+c)))
		mean += x[c] / n
	}
	if p.RMS {
		mean = 0
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / n
	}
	scale := 1 / math.Sqrt(square+float64(p.Eps))
	for c, v := range x {
		g, b := element(1, uint64(c)), element(2, uint64(c))
		off := 0x1p-20 * (1 + math.Abs(mean)*scale) * math.Abs(g)
		if p.RMS {
			b, off = 0, 0x1p-20*math.Abs((v-mean)*scale*g)
		}
		y = append(y, (v-mean)*scale*g+b)
		tol = append(tol, 0x1p-8*(math.Abs(y[c])+off)+off)
	}
	return y, tol
}

func shape(m reduce.Matrix) string { return fmt.Sprintf("%d rows of %d", m.Rows, m.Cols) }

// step is the distance between rows that are checked.
func step(m reduce.Matrix) int64 { return max(m.Rows/sampleRows, 1) }

// check compares sampled rows with a reference.
func check(m reduce.Matrix, out []byte, reference func(row int64) (y, tol []float64)) cuda.Verdict {
	v := cuda.Verdict{Tol: 1}
	for row := int64(0); row < m.Rows; row += step(m) {
		y, tol := reference(row)
		for c, want := range y {
			off := math.Abs(cuda.BF16At(out, row*m.Cols+int64(c)) - want)
			if !(off <= tol[c]) {
				v.Wrong = fmt.Sprintf("row %d, column %d is %v, want %v within %v", row, c,
					cuda.BF16At(out, row*m.Cols+int64(c)), want, tol[c])
				return v
			}
			if tol[c] > 0 {
				v.MaxErr = max(v.MaxErr, off/tol[c])
			}
		}
	}
	return v
}
