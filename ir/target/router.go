// SPDX-License-Identifier: Apache-2.0

package target

import (
	"cmp"
	"regexp"
)

// Router is how nextpnr is called for a family, and what it calls the cells.
type Router struct {
	// Package is nextpnr's Python package, behind yowasp_nextpnr_.
	Package string
	// Synth is the command of Yosys that writes a flat netlist for it.
	Synth string
	// Before is a command of Yosys for the design as it is read.
	Before string
	// Clocks is a command of Yosys for the flip-flops, before they become those of the family.
	Clocks string
	// Bare says that nextpnr places a design without its pins; others get a ring of registers with few pins.
	Bare bool
	// Speeds are the speed grades, slowest first; none where the device says it.
	Speeds []string
	// LUT, FF, DSP and BRAM name the cells of each kind in the reports of nextpnr, and As those that are counted as one
	// of them.
	LUT, FF, DSP, BRAM string
	As                 map[string]string
	// Clocked is the parameter of a LUT that says that the flip-flop behind it is used; "" where those are cells, too.
	Clocked string
	// Config is the flag by which nextpnr writes a configuration as text, Pack the function of the package that makes a
	// bitstream of it; "" where nothing does.
	Config, Pack string
	// Constraints are the flags of nextpnr for a file that fixes pins, its name at %s; Locate is a line of it, by port
	// and pin. Standard, if any, is one that says that a port is at 3.3 V, and pulled UP, DOWN or NONE, Frequency one of
	// the clock at a port, in MHz.
	Constraints                 []string
	Locate, Standard, Frequency string
	// Port is how a line of such a file names a port, as its first group.
	Port *regexp.Regexp
}

// Kind is the cell as which a cell is counted: itself, unless As has it.
func (r *Router) Kind(cell string) string { return cmp.Or(r.As[cell], cell) }

var (
	ecp5Router = &Router{Package: "ecp5", Synth: "synth_ecp5 -abc9",
		// A reset that counts only with the enable, which Yosys makes of data, would cost a gate for each such reset.
		Clocks: "dffunmap -srst-only t:$_SDFFCE_*",
		Bare:   true, Speeds: []string{"6", "7", "8"},
		LUT: "TRELLIS_COMB", FF: "TRELLIS_FF", DSP: "MULT18X18D", BRAM: "DP16KD",
		Config: "--textcfg", Pack: "ecppack", Constraints: []string{"--lpf", "%s"},
		Locate: `LOCATE COMP "%s" SITE "%s";`, Standard: `IOBUF PORT "%s" IO_TYPE=LVCMOS33 PULLMODE=%s;`,
		Frequency: `FREQUENCY PORT "%s" %s MHZ;`,
		Port:      regexp.MustCompile(`(?i)\b(?:COMP|PORT)\s+"([^"]+)"`)}
	ice40Router = &Router{Package: "ice40", Synth: "synth_ice40 -abc9",
		Before: "setattr -unset ram_style a:ram_style=distributed", // it has none
		LUT:    "ICESTORM_LC", DSP: "ICESTORM_DSP", BRAM: "ICESTORM_RAM", Clocked: "DFF_ENABLE",
		Config: "--asc", Pack: "icepack", Constraints: []string{"--pcf-allow-unconstrained", "--pcf", "%s"},
		Locate: "set_io %s %s", Frequency: "set_frequency %s %s",
		// set_io [options] port pin, set_frequency port MHz
		Port: regexp.MustCompile(`^\s*(?:set_io|set_frequency)\s(?:.*\s)?(\S+)\s+\S+\s*$`)}
	gowinRouter = &Router{Package: "himbaechel_gowin", Synth: "synth_gowin",
		LUT: "LUT4", FF: "DFF", DSP: "MULT18X18", BRAM: "BSRAM", As: gowinCells(),
		Constraints: []string{"--vopt", "cst=%s"}, Locate: `IO_LOC "%s" %s;`}
)

// gowinCells are the cells of Gowin that others stand for: an adder takes the place of a LUT.
func gowinCells() map[string]string {
	as := map[string]string{"LUT1": "LUT4", "LUT2": "LUT4", "LUT3": "LUT4", "ALU": "LUT4"}
	for _, memory := range []string{"SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B", "pROM", "pROMX9"} {
		as[memory] = "BSRAM"
	}
	for _, control := range []string{"E", "S", "SE", "R", "RE", "P", "PE", "C", "CE"} {
		as["DFF"+control] = "DFF"
	}
	return as
}
