// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"math"

	"lathe/cuda/gemm"
)

// checkRow compares row `row` of m rows with values and allowed errors.
func checkRow(e gemm.Epilogue, v *verdict, row, m int, y, tol []float64, outputs [][]byte) {
	cols := len(y)
	for col := range cols {
		i := row*cols + col
		switch e.Out {
		case gemm.MXINT8:
			if col%32 == 0 {
				checkBlock(e, v, row, col, m, y[col:min(col+32, cols)], tol[col:min(col+32, cols)], outputs)
			}
		default:
			v.near(i, wordAt(outputs[0], i, e.Out), y[col], tol[col])
		}
	}
}

// checkBlock compares a block of MXINT8: its scale is that of a largest magnitude within the allowed error, and each
// element is the nearest, within that error, on its scale. A block with NaN or an infinity is NaN over zeros.
func checkBlock(e gemm.Epilogue, v *verdict, row, col, m int, y, tol []float64, outputs [][]byte) {
	scale := outputs[1][int64(col/32)*gemm.ScalePitch(m)+int64(row)]
	low, high := 0.0, 0.0
	for i := range y {
		if math.IsNaN(y[i]) || math.IsInf(y[i], 0) {
			low, high = math.Inf(1), math.Inf(1)
			break
		}
		low, high = max(low, math.Abs(y[i])-tol[i]), max(high, math.Abs(y[i])+tol[i])
	}
	at := row*(len(outputs[0])/m) + col
	if a, b := blockScale(low), blockScale(high); int(scale) < a || int(scale) > b {
		v.near(at, float64(scale), float64(b), 0)
		return
	}
	for i := range y {
		q := float64(int8(outputs[0][at+i]))
		if scale == 255 {
			v.near(at+i, q, 0, 0)
			continue
		}
		step := math.Ldexp(1, int(scale)-133)
		want := max(min(y[i]/step, 127), -127)
		v.near(at+i, q, want, 0.5+tol[i]/step)
	}
}

// blockScale is the scale byte of a block with that largest magnitude.
func blockScale(top float64) int {
	switch {
	case math.IsInf(top, 0):
		return 255
	case float32(top) == 0:
		return 0
	}
	_, e := math.Frexp(float64(float32(top)))
	if math.IsInf(float64(float32(top)), 0) {
		return 255
	}
	return max(e-1+127, 0)
}
