// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"lathe/internal/ptx/lane"
)

// specialRow is the value of a special register at the start of a warp. The clocks stand still; there is one
// multiprocessor, and a cluster is one block.
func (w *warp) specialRow(name string) lane.Row {
	c := w.cta
	axis := func(v [3]uint32) lane.Row { return splat(uint64(v[name[len(name)-1]-'x'])) }
	each := func(f func(i int) uint64) (r lane.Row) {
		for i := range r {
			r[i] = f(i)
		}
		return r
	}
	switch name {
	case "%tid.x", "%tid.y", "%tid.z":
		return each(func(i int) uint64 { return uint64(c.threadOf(w.id, i)[name[5]-'x']) })
	case "%ntid.x", "%ntid.y", "%ntid.z":
		return axis(c.block)
	case "%ctaid.x", "%ctaid.y", "%ctaid.z", "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z":
		if len(name) > 8 {
			return splat(0)
		}
		return axis(c.id)
	case "%nctaid.x", "%nctaid.y", "%nctaid.z":
		return axis(c.grid)
	case "%laneid":
		return each(func(i int) uint64 { return uint64(i) })
	case "%warpid":
		return splat(uint64(w.id))
	case "%nwarpid":
		return splat(uint64(len(c.warps)))
	case "%nsmid", "%cluster_nctarank", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z":
		return splat(1)
	case "%lanemask_eq":
		return each(func(i int) uint64 { return 1 << i })
	case "%lanemask_lt":
		return each(func(i int) uint64 { return 1<<i - 1 })
	case "%lanemask_le":
		return each(func(i int) uint64 { return 2<<i - 1 })
	case "%lanemask_gt":
		return each(func(i int) uint64 { return full &^ (2<<i - 1) })
	case "%lanemask_ge":
		return each(func(i int) uint64 { return full &^ (1<<i - 1) })
	case "%dynamic_smem_size":
		return splat(uint64(c.dynamic))
	case "%total_smem_size":
		return splat(uint64(len(c.shared)))
	}
	return splat(0)
}
