// SPDX-License-Identifier: Apache-2.0

// Package target describes the FPGAs that designs are made for: one literal a family, one a device.
package target

import (
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Device is an FPGA and what it holds.
type Device struct {
	// Name is what users write: the silicon of AMD ("xcku5p"), or a short name ("ecp5-85k"). Part adds package, speed and
	// temperature grade as the user or the vendor writes them. Sold is what the vendor calls it, where that is neither.
	Name, Part, Sold string
	// Series is the vendor's name of the series, Family its technology.
	Series string
	Family *Family
	// LUT and FF count tables and flip-flops; DSP multipliers; BRAM blocks of Family.Memory.Kbit; URAM blocks of
	// 288 Kbit (UltraRAM). Source: the vendor's product selection guides; of those with a router, what nextpnr reports.
	LUT, FF, DSP, BRAM, URAM int
	// Pins are those of the package that a design can use; Place are the flags that choose the device for nextpnr, Sites
	// pins for the ring around a design, the first that of a clock. Only devices with a router have them.
	Pins         int
	Place, Sites string
	// Synth are flags for Yosys; Speed is the grade for nextpnr, the slowest unless the part says one.
	Synth, Speed string
}

// RAM36 is the block RAM in units of 36 Kbit.
func (d *Device) RAM36() float64 { return float64(d.BRAM*d.Family.Memory.Kbit) / 36 }

// LUTsPerDSP is what a DSP is worth in LUTs, by how many of both the device has; that of a ZU9EG, 108, for a nil one,
// and where there are no DSPs.
func (d *Device) LUTsPerDSP() int {
	if d == nil || d.DSP == 0 {
		return 108
	}
	return d.LUT / d.DSP
}

// Technology is the family of the device; that of Default for a nil one.
func (d *Device) Technology() *Family {
	if d == nil {
		return Usual()
	}
	return d.Family
}

// Routed says that open tools place and route the device.
func (d *Device) Routed() bool { return d.Family.Router != nil }

// Default is the part that a plan without [target] part means.
const Default = "xcku5p-ffvb676-2-e"

// Usual is the family of Default.
func Usual() *Family { return ultraScalePlus }

// All lists the devices, small ones first within a family.
func All() []Device {
	const zu, ku, vu = "Zynq UltraScale+", "Kintex UltraScale+", "Virtex UltraScale+"
	x := func(name, pack, series string, f *Family, lut, dsp, bram, uram int) Device {
		return Device{Name: name, Part: name + pack, Series: series, Family: f, LUT: lut, FF: 2 * lut, DSP: dsp, BRAM: bram,
			URAM: uram}
	}
	e := func(size, sold string, cells, dsp, bram, pins int) Device {
		return Device{Name: "ecp5-" + size, Sold: sold, Series: "ECP5", Family: ecp5, LUT: cells, FF: cells, DSP: dsp,
			BRAM: bram, Pins: pins, Place: "--" + size + " --package CABGA381 --lpf-allow-unconstrained"}
	}
	all := []Device{
		x("xc7a35t", "cpg236-1", "Artix-7", series7, 20_800, 90, 50, 0),
		x("xc7a100t", "csg324-1", "Artix-7", series7, 63_400, 240, 135, 0),
		x("xc7z020", "clg400-1", "Zynq-7000", series7, 53_200, 220, 140, 0),
		x("xc7k325t", "ffg900-2", "Kintex-7", series7, 203_800, 840, 445, 0),
		x("xczu3eg", "-sbva484-1-e", zu, ultraScalePlus, 70_560, 360, 216, 0),
		x("xck26", "-sfvc784-2lv-c", zu, ultraScalePlus, 117_120, 1_248, 144, 64),
		x("xczu7ev", "-ffvc1156-2-e", zu, ultraScalePlus, 230_400, 1_728, 312, 96),
		x("xczu9eg", "-ffvb1156-2-e", zu, ultraScalePlus, 274_080, 2_520, 912, 0),
		x("xcku5p", "-ffvb676-2-e", ku, ultraScalePlus, 216_960, 1_824, 480, 64),
		x("xcvu9p", "-flga2104-2-i", vu, ultraScalePlus, 1_182_240, 6_840, 2_160, 960),
		e("12k", "LFE5U-12F", 24_288, 28, 56, 197),
		e("25k", "LFE5U-25F", 24_288, 28, 56, 197),
		e("45k", "LFE5U-45F", 43_848, 72, 108, 203),
		e("85k", "LFE5U-85F", 83_640, 156, 208, 205),
		{Name: "ice40-up5k", Sold: "iCE40UP5K", Series: "iCE40", Family: ice40, LUT: 5_280, FF: 5_280, DSP: 8, BRAM: 30,
			Pins: 39, Place: "--up5k --package sg48", Synth: "-device u -dsp"},
		{Name: "ice40-hx8k", Sold: "iCE40HX8K", Series: "iCE40", Family: ice40hx, LUT: 7_680, FF: 7_680, BRAM: 32, Pins: 206,
			Place: "--hx8k --package ct256", Synth: "-device hx"},
		{Name: "gowin-gw1nr-9", Sold: "GW1NR-LV9QN88PC6/I5", Series: "Gowin", Family: gowin, LUT: 8_640, FF: 6_480, DSP: 20,
			BRAM: 26, Place: "--device GW1NR-LV9QN88PC6/I5 --vopt family=GW1N-9C", Sites: "52 10 11 13"},
		{Name: "gowin-gw2a-18", Sold: "GW2A-LV18PG256C8/I7", Series: "Gowin", Family: gowin, LUT: 20_736, FF: 15_552,
			DSP: 48, BRAM: 46, Place: "--device GW2A-LV18PG256C8/I7 --vopt family=GW2A-18", Sites: "H11 T10 T11 T12"},
	}
	for i := range all {
		if d := &all[i]; d.Part == "" {
			d.Part = d.Name
		}
	}
	return all
}

// Find returns the device of a part: its name alone; one of AMD's also with any package and grade, such as
// "xcku5p-ffva676-1-i"; others also with one of the speed grades of the family, such as "ecp5-85k-8". Error L0413 names
// the nearest, or lists all.
func Find(part string) (*Device, error) {
	all := All()
	low := strings.ToLower(part)
	var found *Device
	for i := range all {
		d := &all[i]
		rest, ok := strings.CutPrefix(low, d.Name)
		if ok && d.takes(rest) && (found == nil || len(d.Name) > len(found.Name)) {
			found = d
		}
	}
	if found != nil {
		if low != found.Name {
			found.Part = low
		}
		if found.Routed() {
			found.Speed = strings.TrimPrefix(low[len(found.Name):], "-")
			if speeds := found.Family.Router.Speeds; found.Speed == "" && len(speeds) > 0 {
				found.Speed = speeds[0]
			}
		}
		return found, nil
	}
	names, full := Names(), []string{}
	for _, d := range all {
		full = append(full, d.Part)
	}
	err := diag.New(diag.UnknownPart, "", "unknown part %q", part)
	if device := board(part); device != "" {
		return nil, err.WithNote("that is a board").WithHint("use %s, the device on it", device)
	}
	if near := diag.Nearest(low, append(full, names...)); near != "" {
		return nil, err.WithHint("did you mean %q?", near)
	}
	return nil, err.WithHint("known parts: %s; those of AMD with any package and speed grade", strings.Join(names, ", "))
}

// takes says that what follows the name is a package or grade of the device.
func (d *Device) takes(rest string) bool {
	if rest == "" || !d.Routed() {
		return true
	}
	return rest[0] == '-' && slices.Contains(d.Family.Router.Speeds, rest[1:])
}

// Names lists the names of the devices, in the order of All.
func Names() []string { return names(func(*Device) bool { return true }) }

// RoutedNames lists the names of the devices that open tools place and route.
func RoutedNames() []string { return names((*Device).Routed) }

func names(ok func(*Device) bool) (list []string) {
	for _, d := range All() {
		if ok(&d) {
			list = append(list, d.Name)
		}
	}
	return list
}
