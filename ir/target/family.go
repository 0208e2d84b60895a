// SPDX-License-Identifier: Apache-2.0

package target

import "strings"

// Family is a technology: devices whose cells are the same.
type Family struct {
	// Name is short, such as "ecp5"; Vendor sells it.
	Name, Vendor string
	// Inputs are those of the LUT in front of a carry: 6, or 4. FFs are the flip-flops beside each LUT.
	Inputs, FFs int
	// ClockMHz is what designs of this compiler may hope for: of families that are placed and routed here, less than most
	// examples reach (docs/timing.md); of the others, what their vendor's tools commonly reach.
	ClockMHz float64
	DSP      DSP
	Memory   Memory
	Yosys    Yosys
	// Router places and routes; nil where no open tool does.
	Router *Router
}

// DSP is what the multipliers of a family can do.
type DSP struct {
	// A and B are the bits of the factors of one product, signs included, the wider first, 0 where Yosys infers none; P
	// those of its sum with others, 0 where it only multiplies.
	A, B, P int
	// Least is the bits of the smallest product that Yosys gives to a DSP.
	Least int
	// Chain says that num_dsp instantiates the primitive, whose sums cascade from one to the next.
	Chain bool
}

// Memory is what holds more than a flip-flop.
type Memory struct {
	// Kbit is the size of a block. Worth is the LUTs that 18 Kbit of blocks are worth: those whose tables hold so many
	// bits that mem_rom takes a block for them.
	Kbit, Worth int
	// Deep is the LUTs of each bit of a RAM of 1024 words in LUTs, with what picks a word; 0 where LUTs cannot be RAM.
	Deep int
	// Shift says that LUTs can be shift registers.
	Shift bool
}

// Yosys says how Yosys maps a design to a family.
type Yosys struct {
	// Synth is the command; Device.Synth may add to it.
	Synth string
	// Count are its flags for a count of cells, as a block inside a chip. Flat maps the design as one netlist and Apart
	// module by module: one of both is what the command does without a flag.
	Count, Flat, Apart string
	// NoDSP makes multipliers of LUTs; "" where nothing else is made.
	NoDSP string
}

// Line is the command for a count of cells below top. flat and lut ask for one netlist, and for multipliers in LUTs.
func (y Yosys) Line(d Device, top string, flat, lut bool) string {
	parts := []string{y.Synth, d.Synth, "-top", top, y.Count}
	if lut {
		parts = append(parts, y.NoDSP)
	}
	if flat {
		parts = append(parts, y.Flat)
	} else {
		parts = append(parts, y.Apart)
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// The families. Sizes of DSPs: UG579, UG479, FPGA-TN-02205, FPGA-TN-02007.
var (
	ultraScalePlus = &Family{Name: "xcup", Vendor: "AMD", Inputs: 6, FFs: 2, ClockMHz: 250,
		DSP:    DSP{A: 27, B: 18, P: 48, Least: 9, Chain: true},
		Memory: Memory{Kbit: 36, Worth: 129, Deep: 23, Shift: true},
		Yosys:  amd("xcup")}
	series7 = &Family{Name: "xc7", Vendor: "AMD", Inputs: 6, FFs: 2, ClockMHz: 250,
		DSP:    DSP{A: 25, B: 18, P: 48, Least: 9},
		Memory: Memory{Kbit: 36, Worth: 129, Deep: 23, Shift: true},
		Yosys:  amd("xc7")}
	ecp5 = &Family{Name: "ecp5", Vendor: "Lattice", Inputs: 4, FFs: 1, ClockMHz: 100,
		DSP:    DSP{A: 18, B: 18, Least: 4},
		Memory: Memory{Kbit: 18, Worth: 516, Deep: 107},
		Yosys:  Yosys{Synth: "synth_ecp5", Count: "-nowidelut", Apart: "-noflatten", NoDSP: "-nodsp"},
		Router: ecp5Router}
	ice40 = &Family{Name: "ice40", Vendor: "Lattice", Inputs: 4, FFs: 1, ClockMHz: 24,
		DSP:    DSP{A: 16, B: 16, P: 32, Least: 11},
		Memory: Memory{Kbit: 4, Worth: 516},
		Yosys:  Yosys{Synth: "synth_ice40", Apart: "-noflatten"},
		Router: ice40Router}
	ice40hx = &Family{Name: "ice40-hx", Vendor: "Lattice", Inputs: 4, FFs: 1, ClockMHz: 80, // which has no multipliers
		Memory: Memory{Kbit: 4, Worth: 516},
		Yosys:  Yosys{Synth: "synth_ice40", Apart: "-noflatten"},
		Router: ice40Router}
	gowin = &Family{Name: "gowin", Vendor: "Gowin", Inputs: 4, FFs: 1, ClockMHz: 80, // Yosys 0.23 infers no MULT18X18
		Memory: Memory{Kbit: 18, Worth: 516, Deep: 107},
		Yosys:  Yosys{Synth: "synth_gowin", Count: "-noiopads -nowidelut", Apart: "-noflatten"},
		Router: gowinRouter}
)

// amd counts without pads, since the design is a block, and without wide multiplexers: packing into them makes counts
// of LUTs jump for no gain.
func amd(family string) Yosys {
	return Yosys{Synth: "synth_xilinx -family " + family, Count: "-noiopad -noclkbuf -nowidelut", Flat: "-flatten",
		NoDSP: "-nodsp"}
}

// Names are what cost lines of modules ask of a family: LUT_IN is the inputs of a LUT; DSP_A and DSP_B are the bits of
// the factors of a DSP, the wider first, 0 where there is none; DSP_LEAST those of the least product that takes one;
// SRL is 1 where LUTs are shift registers. No module has a parameter of such a name.
func (f *Family) Names() map[string]int {
	shift := 0
	if f.Memory.Shift {
		shift = 1
	}
	return map[string]int{"LUT_IN": f.Inputs, "DSP_A": f.DSP.A, "DSP_B": f.DSP.B, "DSP_LEAST": f.DSP.Least,
		"SRL": shift}
}

// Vivado says that AMD's tools place and route the family.
func (f *Family) Vivado() bool { return f.Vendor == "AMD" }

// Families lists the technologies.
func Families() []*Family { return []*Family{series7, ultraScalePlus, ecp5, ice40, ice40hx, gowin} }
