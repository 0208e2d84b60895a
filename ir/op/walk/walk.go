// SPDX-License-Identifier: Apache-2.0

// Package walk visits the elements of arrays: strides, broadcasting, lines along an axis.
package walk

import (
	"lathe/internal/workers"
)

// Walk is a way over all elements of a result, in row-major order, that says where each argument is read: at an offset
// plus a stride for each axis. Axes that all arguments step over alike are one.
type Walk struct {
	size    int // elements of the result
	Dims    []int
	strides [][]int // of each argument, for each of dims
	Offset  []int   // of each argument
}

// New makes the walk over shape for arguments with a stride for each of its axes.
func New(shape []int, strides ...[]int) *Walk {
	w := &Walk{size: Size(shape), strides: make([][]int, len(strides)), Offset: make([]int, len(strides))}
	for axis, d := range shape {
		if d == 1 {
			continue
		}
		last, joins := len(w.Dims)-1, len(w.Dims) > 0
		for i := range strides {
			joins = joins && w.strides[i][last] == strides[i][axis]*d
		}
		if joins {
			w.Dims[last] *= d
		} else {
			w.Dims = append(w.Dims, d)
		}
		for i := range strides {
			if joins {
				w.strides[i][last] = strides[i][axis]
			} else {
				w.strides[i] = append(w.strides[i], strides[i][axis])
			}
		}
	}
	if len(w.Dims) == 0 {
		w.Dims = []int{1}
		for i := range w.strides {
			w.strides[i] = []int{0}
		}
	}
	return w
}

// Broadcasting is the walk over shape for arguments of shapes that broadcast to it.
func Broadcasting(shape []int, args ...[]int) *Walk {
	strides := make([][]int, len(args))
	for i, in := range args {
		strides[i] = make([]int, len(shape))
		step := 1
		for k := 1; k <= len(in); k++ {
			if d := in[len(in)-k]; d != 1 {
				strides[i][len(shape)-k], step = step, step*d
			}
		}
	}
	return New(shape, strides...)
}

// walkGrain is the least number of elements worth a goroutine.
const walkGrain = 1 << 14

// Each calls f for runs of n elements of the result from place at on, several at once: argument i is read at from[i],
// from[i]+step[i], ... f does not keep from and step.
func (w *Walk) Each(f func(at, n int, from, step []int)) {
	last := len(w.Dims) - 1
	step := make([]int, len(w.strides))
	for i, s := range w.strides {
		step[i] = s[last]
	}
	workers.Ranges(w.size, walkGrain, func(at, to int) {
		from, index := make([]int, len(w.strides)), make([]int, len(w.Dims))
		rest := at
		for axis := last; axis >= 0; axis-- {
			index[axis] = rest % w.Dims[axis]
			rest /= w.Dims[axis]
		}
		for at < to {
			for i, s := range w.strides {
				from[i] = w.Offset[i]
				for axis, k := range index {
					from[i] += k * s[axis]
				}
			}
			n := min(to-at, w.Dims[last]-index[last])
			f(at, n, from, step)
			at += n
			index[last] += n
			for axis := last; axis > 0 && index[axis] == w.Dims[axis]; axis-- {
				index[axis] = 0
				index[axis-1]++
			}
		}
	})
}

// Binary computes out element by element from two arguments.
func Binary[T float32 | int64](w *Walk, out, x, y []T, f func(a, b T) T) {
	w.Each(func(at, n int, from, step []int) {
		to := out[at : at+n]
		switch {
		case step[0] == 1 && step[1] == 1:
			a, b := x[from[0]:][:n], y[from[1]:][:n]
			for i := range to {
				to[i] = f(a[i], b[i])
			}
		case step[0] == 1 && step[1] == 0:
			b := y[from[1]]
			for i, a := range x[from[0]:][:n] {
				to[i] = f(a, b)
			}
		default:
			for i := range to {
				to[i] = f(x[from[0]+i*step[0]], y[from[1]+i*step[1]])
			}
		}
	})
}

// Move copies out element by element from one argument.
func Move[T float32 | int64](w *Walk, out, x []T) {
	w.Each(func(at, n int, from, step []int) {
		to := out[at : at+n]
		if step[0] == 1 {
			copy(to, x[from[0]:])
			return
		}
		for i := range to {
			to[i] = x[from[0]+i*step[0]]
		}
	})
}
