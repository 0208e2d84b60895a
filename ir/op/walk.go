// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/internal/workers"
)

// walk is a way over all elements of a result, in row-major order, that says where each argument is read: at an offset
// plus a stride for each axis. Axes that all arguments step over alike are one.
type walk struct {
	size    int // elements of the result
	dims    []int
	strides [][]int // of each argument, for each of dims
	offset  []int   // of each argument
}

// newWalk makes the walk over shape for arguments with a stride for each of its axes.
func newWalk(shape []int, strides ...[]int) *walk {
	w := &walk{size: product(shape), strides: make([][]int, len(strides)), offset: make([]int, len(strides))}
	for axis, d := range shape {
		if d == 1 {
			continue
		}
		last, joins := len(w.dims)-1, len(w.dims) > 0
		for i := range strides {
			joins = joins && w.strides[i][last] == strides[i][axis]*d
		}
		if joins {
			w.dims[last] *= d
		} else {
			w.dims = append(w.dims, d)
		}
		for i := range strides {
			if joins {
				w.strides[i][last] = strides[i][axis]
			} else {
				w.strides[i] = append(w.strides[i], strides[i][axis])
			}
		}
	}
	if len(w.dims) == 0 {
		w.dims = []int{1}
		for i := range w.strides {
			w.strides[i] = []int{0}
		}
	}
	return w
}

// broadcastWalk is the walk over shape for arguments of shapes that broadcast to it.
func broadcastWalk(shape []int, args ...[]int) *walk {
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
	return newWalk(shape, strides...)
}

// walkGrain is the least number of elements worth a goroutine.
const walkGrain = 1 << 14

// each calls f for runs of n elements of the result from place at on, several at once: argument i is read at from[i],
// from[i]+step[i], ... f does not keep from and step.
func (w *walk) each(f func(at, n int, from, step []int)) {
	last := len(w.dims) - 1
	step := make([]int, len(w.strides))
	for i, s := range w.strides {
		step[i] = s[last]
	}
	workers.Ranges(w.size, walkGrain, func(at, to int) {
		from, index := make([]int, len(w.strides)), make([]int, len(w.dims))
		rest := at
		for axis := last; axis >= 0; axis-- {
			index[axis] = rest % w.dims[axis]
			rest /= w.dims[axis]
		}
		for at < to {
			for i, s := range w.strides {
				from[i] = w.offset[i]
				for axis, k := range index {
					from[i] += k * s[axis]
				}
			}
			n := min(to-at, w.dims[last]-index[last])
			f(at, n, from, step)
			at += n
			index[last] += n
			for axis := last; axis > 0 && index[axis] == w.dims[axis]; axis-- {
				index[axis] = 0
				index[axis-1]++
			}
		}
	})
}

// pairs computes out element by element from two arguments.
func pairs[T float32 | int64](w *walk, out, x, y []T, f func(a, b T) T) {
	w.each(func(at, n int, from, step []int) {
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

// moved copies out element by element from one argument.
func moved[T float32 | int64](w *walk, out, x []T) {
	w.each(func(at, n int, from, step []int) {
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
