// SPDX-License-Identifier: Apache-2.0

package target

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
)

// Open is a device that open tools place and route: Yosys synthesizes for it, nextpnr fits it.
type Open struct {
	// Name is what users write, such as "ecp5-85k"; Device what its vendor sells.
	Name, Device string
	// Family is one of those of Families.
	Family string
	// LUT, FF, DSP and BRAM count the cells that Family names, Pins what of the package a design can use. Source: what
	// nextpnr reports.
	LUT, FF, DSP, BRAM, Pins int
	// Args choose the device for nextpnr, the slowest speed grade where there are several; Synth for Yosys.
	Args, Synth []string
	// Sites are pins for the ring around a design, the first that of a clock; none where nextpnr chooses them.
	Sites []string
}

// Family is a series of devices with the same cells.
type Family struct {
	// Name is also that of nextpnr's Python package, behind yowasp_nextpnr_; Series what its vendor calls it.
	Name, Series string
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
	// LUT, FF, DSP and BRAM name the cells of each kind in the reports of nextpnr, and As those that are counted as one
	// of them.
	LUT, FF, DSP, BRAM string
	As                 map[string]string
	// Kbit is the size of a memory block.
	Kbit int
	// Clocked is the parameter of a LUT that says that the flip-flop behind it is used; "" where those are cells, too.
	Clocked string
	// Config is the flag by which nextpnr writes a configuration as text, Pack the function of the package that makes a
	// bitstream of it; "" where nothing does.
	Config, Pack string
	// Constraints are the flags of nextpnr for a file that fixes pins, its name at %s; Locate is a line of it, by port
	// and pin.
	Constraints []string
	Locate      string
}

// Kind is the cell as which a cell is counted: itself, unless As has it.
func (f Family) Kind(cell string) string { return cmp.Or(f.As[cell], cell) }

// Installed finds nextpnr for the family below the folder in which scripts/setup --route puts it: its package, and its
// version, "" where the description of the package is lost. The error is that of a package that is not there.
func (f Family) Installed(tools string) (folder, version string, err error) {
	folder = filepath.Join(tools, "yowasp_nextpnr_"+f.Name)
	if _, err := os.Stat(folder); err != nil {
		return folder, "", err
	}
	if found, err := filepath.Glob(folder + "-*.dist-info"); err == nil && len(found) > 0 {
		version = strings.TrimSuffix(strings.TrimPrefix(found[0], folder+"-"), ".dist-info")
	}
	return folder, version, nil
}

// Families lists the series.
func Families() []Family {
	return []Family{
		{Name: "ecp5", Series: "ECP5", Kbit: 18, Synth: "synth_ecp5 -abc9",
			// A reset that counts only with the enable, which Yosys makes of data, would cost a gate for each such reset.
			Clocks: "dffunmap -srst-only t:$_SDFFCE_*",
			Bare:   true, Speeds: []string{"6", "7", "8"},
			LUT: "TRELLIS_COMB", FF: "TRELLIS_FF", DSP: "MULT18X18D", BRAM: "DP16KD",
			Config: "--textcfg", Pack: "ecppack", Constraints: []string{"--lpf", "%s"}},
		{Name: "ice40", Series: "iCE40", Kbit: 4, Synth: "synth_ice40 -abc9",
			Before: "setattr -unset ram_style a:ram_style=distributed", // it has none
			LUT:    "ICESTORM_LC", DSP: "ICESTORM_DSP", BRAM: "ICESTORM_RAM", Clocked: "DFF_ENABLE",
			Config: "--asc", Pack: "icepack", Constraints: []string{"--pcf-allow-unconstrained", "--pcf", "%s"}},
		{Name: "himbaechel_gowin", Series: "Gowin", Kbit: 18, Synth: "synth_gowin",
			LUT: "LUT4", FF: "DFF", DSP: "MULT18X18", BRAM: "BSRAM", As: gowinCells(),
			Constraints: []string{"--vopt", "cst=%s"}, Locate: `IO_LOC "%s" %s;`},
	}
}

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

// Opens lists the devices, small ones first within a family.
func Opens() []Open {
	ecp5 := func(size, device string, cells, dsp, bram, pins int) Open {
		return Open{Name: "ecp5-" + size, Device: device, Family: "ecp5", LUT: cells, FF: cells, DSP: dsp, BRAM: bram,
			Pins: pins, Args: []string{"--" + size, "--package", "CABGA381", "--lpf-allow-unconstrained"}}
	}
	return []Open{
		ecp5("12k", "LFE5U-12F", 24_288, 28, 56, 197),
		ecp5("25k", "LFE5U-25F", 24_288, 28, 56, 197),
		ecp5("45k", "LFE5U-45F", 43_848, 72, 108, 203),
		ecp5("85k", "LFE5U-85F", 83_640, 156, 208, 205),
		{Name: "ice40-up5k", Device: "iCE40UP5K", Family: "ice40", LUT: 5_280, FF: 5_280, DSP: 8, BRAM: 30, Pins: 39,
			Args: []string{"--up5k", "--package", "sg48"}, Synth: []string{"-device", "u", "-dsp"}},
		{Name: "ice40-hx8k", Device: "iCE40HX8K", Family: "ice40", LUT: 7_680, FF: 7_680, BRAM: 32, Pins: 206,
			Args: []string{"--hx8k", "--package", "ct256"}, Synth: []string{"-device", "hx"}},
		{Name: "gowin-gw1nr-9", Device: "GW1NR-LV9QN88PC6/I5", Family: "himbaechel_gowin",
			LUT: 8_640, FF: 6_480, DSP: 20, BRAM: 26,
			Args:  []string{"--device", "GW1NR-LV9QN88PC6/I5", "--vopt", "family=GW1N-9C"},
			Sites: []string{"52", "10", "11", "13"}},
		{Name: "gowin-gw2a-18", Device: "GW2A-LV18PG256C8/I7", Family: "himbaechel_gowin",
			LUT: 20_736, FF: 15_552, DSP: 48, BRAM: 46,
			Args:  []string{"--device", "GW2A-LV18PG256C8/I7", "--vopt", "family=GW2A-18"},
			Sites: []string{"H11", "T10", "T11", "T12"}},
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
