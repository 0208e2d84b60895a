// SPDX-License-Identifier: Apache-2.0

package move

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/walk"
)

// View is a value as elements of another one, which lies dense in memory: element i is at Offset plus the sum of
// i[a]*Strides[a].
type View struct {
	Base           *ir.Node
	Offset         int
	Shape, Strides []int
}

// dense is a value where it lies.
func dense(n *ir.Node) View {
	v := View{Base: n, Shape: n.Type.Shape}
	for i := range v.Shape {
		v.Strides = append(v.Strides, walk.Size(v.Shape[i+1:]))
	}
	return v
}

// Source is n as a view of an input of g, or of n itself where it is a constant; ok is false where n is computed within
// g, or no strides lead from one to the other.
func Source(g *ir.Group, n *ir.Node) (v View, ok bool) {
	if n.IsConst() || slices.Contains(g.Inputs, n) {
		return dense(n), true
	}
	if !Moves(n) {
		return View{}, false
	}
	if v, ok = Source(g, n.Args[0]); !ok {
		return v, false
	}
	switch a := n.Attrs.(type) {
	case *SliceAttrs:
		v.Strides = slices.Clone(v.Strides)
		v.Offset += a.Start * v.Strides[a.Axis]
		v.Strides[a.Axis] *= a.Step
	case *TransposeAttrs:
		strides := make([]int, len(v.Strides))
		for i, axis := range a.Perm {
			strides[i] = v.Strides[axis]
		}
		v.Strides = strides
	default:
		v.Strides, ok = restride(v.Shape, v.Strides, n.Type.Shape)
	}
	v.Shape = n.Type.Shape
	return v, ok
}

// Moves says that n does nothing but a slice, a transpose or a reshape.
func Moves(n *ir.Node) bool {
	switch n.Attrs.(type) {
	case *SliceAttrs, *TransposeAttrs:
		return true
	}
	return n.Op.Traits.KeepsCodes && n.Op.Traits.Wire
}

// Target is where the elements of n, a member of g, lie in an output of g to which transposes and reshapes lead; ok is
// false where others read them, or no strides lead there.
func Target(g *ir.Group, n *ir.Node) (v View, ok bool) {
	if slices.Contains(g.Outputs, n) {
		return dense(n), true
	}
	var reader *ir.Node
	for _, m := range g.Members {
		if slices.Contains(m.Args, n) {
			if reader != nil {
				return View{}, false
			}
			reader = m
		}
	}
	if reader == nil || !Moves(reader) {
		return View{}, false
	}
	if v, ok = Target(g, reader); !ok {
		return v, false
	}
	switch a := reader.Attrs.(type) {
	case *SliceAttrs:
		return v, false
	case *TransposeAttrs:
		strides := make([]int, len(v.Strides))
		for i, axis := range a.Perm {
			strides[axis] = v.Strides[i]
		}
		v.Strides = strides
	default:
		v.Strides, ok = restride(v.Shape, v.Strides, n.Type.Shape)
	}
	v.Shape = n.Type.Shape
	return v, ok
}

// restride are the strides of a reshape of elements that lie in strides; ok is false where there are none. Axes of one
// element have stride 0.
func restride(shape, strides, to []int) (out []int, ok bool) {
	var old, at []int
	for i, n := range shape {
		if n != 1 {
			old, at = append(old, n), append(at, strides[i])
		}
	}
	out = make([]int, len(to))
	for i := 0; i < len(to); {
		if to[i] == 1 {
			i++
			continue
		}
		// The least run of axes from here, on both sides, of one number of elements.
		k, j, have, want := 1, i+1, old[0], to[i]
		for have != want {
			if have < want {
				have *= old[k]
				k++
			} else {
				want *= to[j]
				j++
			}
		}
		for m := range k - 1 {
			if at[m] != at[m+1]*old[m+1] {
				return nil, false
			}
		}
		step := at[k-1]
		for m := j - 1; m >= i; m-- {
			if to[m] != 1 {
				out[m] = step
				step *= to[m]
			}
		}
		old, at, i = old[k:], at[k:], j
	}
	return out, true
}
