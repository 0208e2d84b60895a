// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"strings"

	"lathe/ir/hlo"
)

// reducer is the body of a reduction: what it does with two scalars.
func reducer(f hlo.Reducer, d hlo.DType) string {
	t := hlo.TypeOf(d).String()
	if f == hlo.ReduceLast {
		return fmt.Sprintf("    ^bb0(%%x: %s, %%y: %s):\n      \"stablehlo.return\"(%%y) : (%s) -> ()\n", t, t, t)
	}
	return fmt.Sprintf("    ^bb0(%%x: %s, %%y: %s):\n"+
		"      %%z = \"stablehlo.%s\"(%%x, %%y) : (%s, %s) -> %s\n"+
		"      \"stablehlo.return\"(%%z) : (%s) -> ()\n", t, t, f, t, t, t, t)
}

// sort prints a sort of values with their places.
func (w *printer) sort(name string, o *hlo.Operation) {
	types := typeList(w.types(o.Operands))
	fmt.Fprintf(w, "    %s:2 = \"stablehlo.sort\"(%s) <{dimension = %d : i64, is_stable = true}> ({\n%s    })"+
		" : (%s) -> (%s)\n", name, w.nameList(o.Operands), o.Attrs.Axes[0], before(o.Type.DType, o.Attrs.Dir == hlo.GT),
		types, types)
}

// before is the body of a sort: whether an element stands before another.
func before(d hlo.DType, largest bool) string {
	t, i, truth := hlo.TypeOf(d).String(), hlo.TypeOf(hlo.I64).String(), hlo.TypeOf(hlo.I1).String()
	var s strings.Builder
	fmt.Fprintf(&s, "    ^bb0(%%x: %s, %%y: %s, %%i: %s, %%j: %s):\n", t, t, i, i)
	compare := func(name, x, y string, dir hlo.Dir) {
		fmt.Fprintf(&s, "      %s = \"stablehlo.compare\"(%s, %s) <{"+
			"comparison_direction = #stablehlo<comparison_direction %s>, compare_type = #stablehlo<comparison_type %s>}> : "+
			"(%s, %s) -> %s\n", name, x, y, dir, compareType(d), t, t, truth)
	}
	x, y := "%x", "%y"
	if !largest {
		x, y = y, x
	}
	compare("%more", x, y, hlo.GT)
	result := "%more"
	if d.IsFloat() { // or x is NaN and y is not
		compare("%a", x, x, hlo.NE)
		compare("%b", y, y, hlo.EQ)
		fmt.Fprintf(&s, "      %%c = \"stablehlo.and\"(%%a, %%b) : (%s, %s) -> %s\n", truth, truth, truth)
		fmt.Fprintf(&s, "      %%d = \"stablehlo.or\"(%%more, %%c) : (%s, %s) -> %s\n", truth, truth, truth)
		result = "%d"
	}
	fmt.Fprintf(&s, "      \"stablehlo.return\"(%s) : (%s) -> ()\n", result, truth)
	return s.String()
}
