// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
)

// genTranspose draws any permutation, sometimes with axes of size 1.
func genTranspose(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 5), Format: genFormat(r)})
	for i := range x.Type.Shape {
		if chance(r, 20) {
			x.Type.Shape[i] = 1
		}
	}
	return oneOp(o, &TransposeAttrs{r.Perm(len(x.Type.Shape))}, keeps(x.Type), x)
}

// genConcat draws one to four arguments, rarely a constant among them.
func genConcat(r *rand.Rand, o *ir.Op) *ir.Graph {
	t := ir.Type{Shape: genShape(r, 1, 4), Format: genFormat(r)}
	a := &ConcatAttrs{Axis: r.IntN(len(t.Shape))}
	var args []*ir.Node
	for i, name := range []string{"a", "b", "c", "d"}[:between(r, 1, 4)] {
		s := append([]int(nil), t.Shape...)
		s[a.Axis] = between(r, 1, 4)
		x := genInput(name, t.WithShape(s))
		if i > 0 && chance(r, 8) {
			x = genConst(name, x.Type, genCodes(r, t.Format, x.Type.Elems()))
		}
		args = append(args, x)
	}
	return oneOp(o, a, keeps(t), args...)
}

func genSlice(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 4), Format: genFormat(r)})
	a := &SliceAttrs{Axis: r.IntN(len(x.Type.Shape)), Step: 1}
	size := x.Type.Shape[a.Axis]
	if a.Start = r.IntN(size); chance(r, 40) {
		a.Step = between(r, 1, 3)
	}
	a.Count = between(r, 1, (size-1-a.Start)/a.Step+1)
	return oneOp(o, a, keeps(x.Type), x)
}

// genPad draws a constant that the format has.
func genPad(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Type{Shape: genShape(r, 1, 4), Format: genFormat(r)})
	a := &PadAttrs{Axis: r.IntN(len(x.Type.Shape)), Before: r.IntN(4), After: r.IntN(4)}
	value := x.Type.Format.Decode(genCodes(r, x.Type.Format, 1)[0])
	if v := float32(value.Float64()); format.FromFloat32(v).Cmp(value) == 0 {
		a.Value = v
	} else { // a code of many bits
		x.Type.Format = RandomFixed(r, 16)
	}
	return oneOp(o, a, keeps(x.Type), x)
}

func genRepeat(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape := genShape(r, 0, 4)
	have := append([]int(nil), shape...)
	for i := range have {
		if chance(r, 50) {
			have[i] = 1
		}
	}
	cut := 0
	for cut < len(have) && have[cut] == 1 && chance(r, 50) {
		cut++
	}
	x := genInput("x", ir.Type{Shape: have[cut:], Format: genFormat(r)})
	return oneOp(o, &RepeatAttrs{shape}, keeps(x.Type), x)
}
