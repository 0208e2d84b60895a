// SPDX-License-Identifier: Apache-2.0

package slow

import (
	"slices"

	"lathe/ir/hlo"
)

// strides are the steps of the axes of a tensor, row-major.
func strides(dims []int) []int {
	out := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		out[i] = n
		n *= dims[i]
	}
	return out
}

// runs calls f for lines of elements of a tensor of dims: n of them lie together from at on, and stand for those at
// from, from+step and so on, where a step along each axis is given, and the first lies at offset.
func runs(dims, steps []int, offset int, f func(at, from, n, step int)) {
	var d, s []int // without axes of 1, and with those joined that lie together
	for i, n := range dims {
		if n == 0 {
			return
		}
		if n == 1 {
			continue
		}
		if k := len(d) - 1; k >= 0 && s[k] == steps[i]*n {
			d[k], s[k] = d[k]*n, steps[i]
			continue
		}
		d, s = append(d, n), append(s, steps[i])
	}
	last := len(d) - 1
	if last < 0 {
		f(0, offset, 1, 1)
		return
	}
	index := make([]int, last)
	for at, from := 0, offset; ; at += d[last] {
		f(at, from, d[last], s[last])
		k := last - 1
		for ; k >= 0; k-- {
			index[k]++
			if from += s[k]; index[k] < d[k] {
				break
			}
			from -= s[k] * d[k]
			index[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// read copies elements of x.
func read(x []uint64, dims, steps []int, offset int) []uint64 {
	out := make([]uint64, hlo.Type{Dims: dims}.Len())
	runs(dims, steps, offset, func(at, from, n, step int) {
		if step == 1 {
			copy(out[at:at+n], x[from:])
			return
		}
		to := out[at : at+n]
		for i := range to {
			to[i] = x[from+i*step]
		}
	})
	return out
}

// write copies x to elements of out.
func write(out, x []uint64, dims, steps []int, offset int) {
	runs(dims, steps, offset, func(at, to, n, step int) {
		if step == 1 {
			copy(out[to:to+n], x[at:at+n])
			return
		}
		for i, v := range x[at : at+n] {
			out[to+i*step] = v
		}
	})
}

// moved computes what only moves elements.
func moved(o *hlo.Operation, args []value) (value, bool) {
	a := &o.Attrs
	v := value{t: o.Type}
	switch o.Kind {
	case hlo.KindReshape:
		v.x = args[0].x
	case hlo.KindTranspose:
		v.x = transpose(args[0], a.Axes).x
	case hlo.KindBroadcast:
		steps := make([]int, o.Type.Rank())
		for i, s := range strides(args[0].t.Dims) {
			if args[0].t.Dims[i] > 1 {
				steps[a.Axes[i]] = s
			}
		}
		v.x = read(args[0].x, o.Type.Dims, steps, 0)
	case hlo.KindSlice:
		steps, offset := strides(args[0].t.Dims), 0
		for i := range steps {
			offset += a.Start[i] * steps[i]
			steps[i] *= a.Stride[i]
		}
		v.x = read(args[0].x, o.Type.Dims, steps, offset)
	case hlo.KindReverse:
		steps, offset := strides(args[0].t.Dims), 0
		for _, i := range a.Axes {
			offset += (o.Type.Dims[i] - 1) * steps[i]
			steps[i] = -steps[i]
		}
		v.x = read(args[0].x, o.Type.Dims, steps, offset)
	case hlo.KindConcatenate:
		v = blank(o.Type)
		steps, offset := strides(o.Type.Dims), 0
		for _, part := range args {
			write(v.x, part.x, part.t.Dims, steps, offset)
			offset += part.t.Dims[a.Axes[0]] * steps[a.Axes[0]]
		}
	case hlo.KindPad:
		return pad(args[0], args[1].x[0], a.Low, a.High, a.Inner), true
	case hlo.KindDynamicSlice:
		v.x = read(args[0].x, o.Type.Dims, strides(args[0].t.Dims), place(args[0].t, o.Type, args[1:]))
	case hlo.KindDynamicUpdate:
		v.x = slices.Clone(args[0].x)
		write(v.x, args[1].x, args[1].t.Dims, strides(o.Type.Dims), place(o.Type, args[1].t, args[2:]))
	default:
		return v, false
	}
	return v, true
}

func transpose(x value, perm []int) value {
	from := strides(x.t.Dims)
	t := hlo.Type{DType: x.t.DType, Dims: make([]int, len(perm))}
	steps := make([]int, len(perm))
	for i, p := range perm {
		t.Dims[i], steps[i] = x.t.Dims[p], from[p]
	}
	return value{t, read(x.x, t.Dims, steps, 0)}
}

// place is where a part of a tensor begins; it is moved into the tensor.
func place(t, part hlo.Type, at []value) int {
	offset := 0
	for i, s := range strides(t.Dims) {
		offset += s * at[i].index(0, t.Dims[i]-part.Dims[i]+1)
	}
	return offset
}

// pad puts elements around x and between its elements.
func pad(x value, with uint64, low, high, inner []int) value {
	rank := x.t.Rank()
	t := hlo.Type{DType: x.t.DType, Dims: make([]int, rank)}
	for i, d := range x.t.Dims {
		t.Dims[i] = max(d+max(d-1, 0)*inner[i]+low[i]+high[i], 0)
	}
	v := blank(t)
	if with != 0 {
		for i := range v.x {
			v.x[i] = with
		}
	}
	from, to := strides(x.t.Dims), strides(t.Dims)
	kept, start, offset := make([]int, rank), 0, 0
	for i, d := range x.t.Dims {
		each := inner[i] + 1
		first := max(0, (-low[i]+each-1)/each) // elements before it are cut off
		end := min(d, (t.Dims[i]-1-low[i]+each)/each)
		kept[i] = max(end-first, 0)
		start += first * from[i]
		offset += (low[i] + first*each) * to[i]
		to[i] *= each
	}
	write(v.x, read(x.x, kept, from, start), kept, to, offset)
	return v
}

// gather reads rows of a table; indices outside are moved to the nearest row.
func gather(o *hlo.Operation, table, idx value) value {
	v := blank(o.Type)
	rows := table.t.Dims[0]
	n := len(table.x) / rows
	for i := range idx.x {
		k := idx.index(i, rows)
		copy(v.x[i*n:(i+1)*n], table.x[k*n:])
	}
	return v
}

// scatter combines rows with those of a table; rows outside are left out.
func scatter(o *hlo.Operation, table, idx, updates value) value {
	v := value{o.Type, slices.Clone(table.x)}
	rows := table.t.Dims[0]
	n := len(table.x) / max(rows, 1)
	f := combine(o.Attrs.Reducer, o.Type.DType)
	for i, at := range idx.x {
		if at >= uint64(rows) {
			continue
		}
		for k := range n {
			to := &v.x[int(at)*n+k]
			*to = f(*to, updates.x[i*n+k])
		}
	}
	return v
}

// sorted sorts lines of x along an axis, and index with them; NaN is larger than all numbers.
func sorted(o *hlo.Operation, x, index value) []value {
	axis := o.Attrs.Axes[0]
	values, places := blank(x.t), blank(index.t)
	dims := slices.Clone(x.t.Dims)
	steps := strides(dims)
	n := dims[axis]
	dims[axis] = 1
	order := make([]int, n)
	sign := 1
	if o.Attrs.Dir == hlo.GT {
		sign = -1
	}
	runs(dims, steps, 0, func(_, from, lines, step int) {
		for i := range lines {
			first := from + i*step
			for k := range order {
				order[k] = first + k*steps[axis]
			}
			slices.SortStableFunc(order, func(a, b int) int { return sign * before(x, a, b) })
			for k, at := range order {
				values.x[first+k*steps[axis]], places.x[first+k*steps[axis]] = x.x[at], index.x[at]
			}
		}
	})
	return []value{values, places}
}

// before compares elements a and b of x.
func before(x value, a, b int) int {
	if !x.t.DType.IsFloat() {
		return order(x.t.DType, x.x[a], x.x[b])
	}
	p, q := x.float(a), x.float(b)
	switch {
	case p < q || p == p && q != q:
		return -1
	case p > q || p != p && q == q:
		return 1
	}
	return 0
}
