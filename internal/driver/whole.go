// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"math"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/format"
)

// isWhole says that values of type t in g are whole numbers or truth values of the model itself, and not codes that a
// plan has chosen.
func isWhole(g *ir.Graph, t ir.Type) bool { return g.Stage == ir.StageFloat && ir.IsWhole(t.Format) }

// wholes are the elements of an array for an input of whole numbers: of any integer type or bool, or floats that all
// are whole. A value that the format does not have is refused.
func wholes(n *ir.Node, a *npz.Array, path string) ([]int64, error) {
	values, err := a.Int64s()
	if err != nil {
		return nil, diag.At(err, diag.ArrayNotInteger, path)
	}
	f, _ := ir.WholeOf(n.Type.Format)
	for i, v := range values {
		if v < f.Min() || v > f.Max() {
			return nil, diag.New(diag.NotInteger, path, "array %q holds %d at flat index %d, input %q takes %d to %d", a.Name,
				v, i,
				n.Name, f.Min(), f.Max())
		}
	}
	return values, nil
}

// names are the NumPy names of the types that whole numbers are stored in.
var names = []struct {
	stored ir.DType
	name   string
}{
	{ir.I8, "int8"}, {ir.I16, "int16"}, {ir.I32, "int32"}, {ir.I64, "int64"}, {ir.U8, "uint8"}, {ir.U16, "uint16"},
	{ir.U32, "uint32"}, {ir.B1, "bool"},
}

// wholeArray is an output of whole numbers in their own type; unsigned says that those of 64 bits have no sign.
func wholeArray(name string, t ir.Type, shape []int, codes []int64, unsigned bool) npz.Array {
	dtype := "int64"
	for _, d := range names {
		if d.stored == ir.StoredAs(t.Format) {
			dtype = d.name
		}
	}
	if unsigned && dtype == "int64" {
		dtype = "uint64"
	}
	return npz.WholeArray(name, dtype, shape, codes)
}

// manyPositions bounds random whole numbers that are positions of nothing.
const manyPositions = 128

// randomWhole draws a whole number for an input of the model: a position on the axis that the input is gathered from,
// 0 or 1 for truth values, else small ones.
func randomWhole(r *rand.Rand, f format.Fixed, positions int) int64 {
	if positions == 0 {
		positions = manyPositions
	}
	return r.Int64N(min(int64(positions)-1, f.Max()) + 1)
}

// finite are the values of an array for input n. Where that has codes, which cannot be NaN or infinite, such values
// saturate if the plan says so, and are error L0912 else.
func finite(n *ir.Node, values []float32, array, path string) ([]float32, error) {
	switch i := slices.IndexFunc(values, nonfinite); {
	case n.Type.IsFloat() || i < 0:
		return values, nil
	case n.Attrs.(*ir.Input).Saturates:
		return saturating(values, n.Type.InBlocks()), nil
	default:
		return nil, diag.New(diag.ArrayNotFinite, path, "array %q holds %g at flat index %d", array, values[i], i).
			WithHint("the codes of number formats are finite: take the sample out, write nonfinite = \"saturate\" into " +
				"[[input]] of the plan, or compute in float, without --plan")
	}
}

func nonfinite(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }

// saturating takes NaN as 0. Infinities become the greatest and the least code of a scalar format by themselves; in
// blocks they count as the greatest float32.
func saturating(values []float32, blocks bool) []float32 {
	out := slices.Clone(values)
	for i, v := range out {
		switch {
		case math.IsNaN(float64(v)):
			out[i] = 0
		case blocks && math.IsInf(float64(v), 0):
			out[i] = float32(math.Copysign(math.MaxFloat32, float64(v)))
		}
	}
	return out
}
