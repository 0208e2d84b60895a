// SPDX-License-Identifier: Apache-2.0

package target

import (
	"strings"

	"lathe/internal/diag"
)

// Open is a device that open tools place and route: Yosys synthesizes for it, nextpnr fits it.
type Open struct {
	// Name is what users write, such as "ecp5-85k"; Device what its vendor sells.
	Name, Device string
	// Family is one of those of Families.
	Family string
	// Pins are those of the package that a design can use. Source: what nextpnr reports.
	Pins int
	// Args choose the device for nextpnr, the slowest speed grade where there are several; Synth for Yosys.
	Args, Synth []string
}

// Family is a series of devices with the same cells.
type Family struct {
	// Name is also that of nextpnr's Python package, behind yowasp_nextpnr_.
	Name string
	// Synth is the command of Yosys that writes a flat netlist.
	Synth string
	// Before is a command of Yosys for the design as it is read.
	Before string
	// Clocks is a command of Yosys for the flip-flops, before they become those of the family.
	Clocks string
	// Bare says that nextpnr places a design without its pins; others get a ring of registers with few pins.
	Bare bool
	// Speeds are the speed grades, slowest first; none where the device says it.
	Speeds []string
	// LUT, FF, DSP and BRAM name the cells of each kind in the reports of nextpnr.
	LUT, FF, DSP, BRAM string
	// Clocked is the parameter of a LUT that says that the flip-flop behind it is used; "" where those are cells, too.
	Clocked string
	// Config is the flag by which nextpnr writes a configuration as text, Pack the function of the package that makes a
	// bitstream of it.
	Config, Pack string
	// Constraints are the flags of nextpnr before the name of a file that fixes pins.
	Constraints []string
}

// Families lists the series.
func Families() []Family {
	return []Family{
		// A reset that counts only with the enable, which Yosys makes of data, would cost a gate for each such reset.
		{"ecp5", "synth_ecp5 -abc9", "", "dffunmap -srst-only t:$_SDFFCE_*", true, []string{"6", "7", "8"},
			"TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D", "DP16KD", "", "--textcfg", "ecppack",
			[]string{"--lpf"}},
		{"ice40", "synth_ice40 -abc9", "setattr -unset ram_style a:ram_style=distributed", "", false, nil, // it has none
			"ICESTORM_LC", "", "ICESTORM_DSP", "ICESTORM_RAM", "DFF_ENABLE", "--asc", "icepack",
			[]string{"--pcf-allow-unconstrained", "--pcf"}},
	}
}

// Opens lists the devices, small ones first within a family.
func Opens() []Open {
	ecp5 := func(size, device string, pins int) Open {
		return Open{"ecp5-" + size, device, "ecp5", pins,
			[]string{"--" + size, "--package", "CABGA381", "--lpf-allow-unconstrained"}, nil}
	}
	return []Open{
		ecp5("12k", "LFE5U-12F", 197),
		ecp5("25k", "LFE5U-25F", 197),
		ecp5("45k", "LFE5U-45F", 203),
		ecp5("85k", "LFE5U-85F", 205),
		{"ice40-up5k", "iCE40UP5K", "ice40", 39, []string{"--up5k", "--package", "sg48"},
			[]string{"-device", "u", "-dsp"}},
		{"ice40-hx8k", "iCE40HX8K", "ice40", 206, []string{"--hx8k", "--package", "ct256"},
			[]string{"-device", "hx"}},
	}
}

// FindOpen returns the device of a name, its family, and the speed grade, which may follow the name: "ecp5-85k-8".
// Error L0770 names the nearest.
func FindOpen(name string) (Open, Family, string, error) {
	var names []string
	for _, o := range Opens() {
		names = append(names, o.Name)
		for _, f := range Families() {
			if f.Name != o.Family {
				continue
			}
			speed, known := "", name == o.Name
			if known && len(f.Speeds) > 0 {
				speed = f.Speeds[0]
			}
			for _, s := range f.Speeds {
				if name == o.Name+"-"+s {
					speed, known = s, true
				}
			}
			if known {
				return o, f, speed, nil
			}
		}
	}
	err := diag.New("L0770", "", "unknown part %q", name)
	if near := diag.Nearest(strings.ToLower(name), names); near != "" {
		return Open{}, Family{}, "", err.WithHint("did you mean %q? Parts: %s", near, strings.Join(names, ", "))
	}
	return Open{}, Family{}, "", err.WithHint("parts: %s", strings.Join(names, ", "))
}
