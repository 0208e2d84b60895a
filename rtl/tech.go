// SPDX-License-Identifier: Apache-2.0

package rtl

import "lathe/ir/target"

// tech is what cost lines ask of a family, by the names that they use.
type tech struct {
	name  string
	four  bool // LUTs have four inputs
	names map[string]int
}

// techOf is that of a family; nil is UltraScale+. LUT_IN is the inputs of a LUT; DSP_A and DSP_B are the bits of the
// factors of a DSP, the wider first, 0 where there is none; DSP_LEAST those of the least product that takes one; SRL is 1
// where LUTs are shift registers. No module has a parameter of such a name.
func techOf(f *target.Family) tech {
	if f == nil {
		f = target.Usual()
	}
	return tech{f.Name, f.Inputs == 4, map[string]int{"LUT_IN": f.Inputs, "DSP_A": f.DSP.A, "DSP_B": f.DSP.B,
		"DSP_LEAST": f.DSP.Least, "SRL": Flag(f.Memory.Shift)}}
}
