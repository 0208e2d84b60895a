// SPDX-License-Identifier: Apache-2.0

// Package target describes the devices that designs are made for: one literal a device.
package target

import (
	"slices"
	"strings"

	"lathe/internal/diag"
)

// FPGA is a device and what it holds.
type FPGA struct {
	// Device is the silicon ("xcku5p"); Part adds package, speed and temperature grade as the vendor writes it.
	Device, Part string
	// Family is the vendor's name of the series, Yosys the value of its synth_xilinx -family option.
	Family, Yosys string
	// LUT and FF count 6-input tables and flip-flops; DSP multipliers; BRAM blocks of 36 Kbit; URAM blocks of 288 Kbit.
	LUT, FF, DSP, BRAM, URAM int
}

// Default is the part that a plan without [target] part means.
const Default = "xcku5p-ffvb676-2-e"

// All lists the devices, small ones first within a family. Source: the vendor's product selection guides.
func All() []FPGA {
	const (
		a7, z7, k7 = "Artix-7", "Zynq-7000", "Kintex-7"
		zu, ku, vu = "Zynq UltraScale+", "Kintex UltraScale+", "Virtex UltraScale+"
	)
	return []FPGA{
		{"xc7a35t", "xc7a35tcpg236-1", a7, "xc7", 20_800, 41_600, 90, 50, 0},
		{"xc7a100t", "xc7a100tcsg324-1", a7, "xc7", 63_400, 126_800, 240, 135, 0},
		{"xc7z020", "xc7z020clg400-1", z7, "xc7", 53_200, 106_400, 220, 140, 0},
		{"xc7k325t", "xc7k325tffg900-2", k7, "xc7", 203_800, 407_600, 840, 445, 0},
		{"xczu3eg", "xczu3eg-sbva484-1-e", zu, "xcup", 70_560, 141_120, 360, 216, 0},
		{"xck26", "xck26-sfvc784-2lv-c", zu, "xcup", 117_120, 234_240, 1_248, 144, 64},
		{"xczu7ev", "xczu7ev-ffvc1156-2-e", zu, "xcup", 230_400, 460_800, 1_728, 312, 96},
		{"xczu9eg", "xczu9eg-ffvb1156-2-e", zu, "xcup", 274_080, 548_160, 2_520, 912, 0},
		{"xcku5p", "xcku5p-ffvb676-2-e", ku, "xcup", 216_960, 433_920, 1_824, 480, 64},
		{"xcvu9p", "xcvu9p-flga2104-2-i", vu, "xcup", 1_182_240, 2_364_480, 6_840, 2_160, 960},
	}
}

// Find returns the device of a part: the part itself as listed, or any other package and grade of a listed device,
// such as "xcku5p-ffva676-1-i". Error L0413 names the nearest part.
func Find(part string) (*FPGA, error) {
	all := All()
	low := strings.ToLower(part)
	best := -1
	for i, f := range all {
		if strings.HasPrefix(low, f.Device) && (best < 0 || len(f.Device) > len(all[best].Device)) {
			best = i
		}
	}
	if best >= 0 {
		f := all[best]
		if low != f.Device {
			f.Part = low
		}
		return &f, nil
	}
	names := Parts()
	err := diag.New("L0413", "", "unknown part %q", part)
	if near := diag.Nearest(low, append(names, devices(all)...)); near != "" {
		return nil, err.WithHint("did you mean %q?", near)
	}
	return nil, err.WithHint("known devices: %s; any package and speed grade works", strings.Join(devices(all), ", "))
}

// Parts lists the part names in the order of All.
func Parts() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Part)
	}
	return names
}

func devices(all []FPGA) []string {
	var names []string
	for _, f := range all {
		names = append(names, f.Device)
	}
	slices.Sort(names)
	return names
}
