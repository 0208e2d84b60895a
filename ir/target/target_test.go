// SPDX-License-Identifier: Apache-2.0

package target

import (
	"strings"
	"testing"

	"lathe/internal/diag"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ part, device, name, speed string }{
		{Default, "xcku5p", Default, ""},
		{"xc7z020clg400-1", "xc7z020", "xc7z020clg400-1", ""},
		{"xcku5p-ffva676-1-i", "xcku5p", "xcku5p-ffva676-1-i", ""},
		{"xc7a35t", "xc7a35t", "xc7a35tcpg236-1", ""},
		{"XC7A100TCSG324-1", "xc7a100t", "xc7a100tcsg324-1", ""},
		{"ecp5-85k", "ecp5-85k", "ecp5-85k", "6"},
		{"ECP5-85k-8", "ecp5-85k", "ecp5-85k-8", "8"},
		{"gowin-gw1nr-9", "gowin-gw1nr-9", "gowin-gw1nr-9", ""},
	} {
		d, err := Find(c.part)
		if err != nil {
			t.Errorf("%s: %v", c.part, err)
			continue
		}
		if d.Name != c.device || d.Part != c.name || d.Speed != c.speed {
			t.Errorf("%s: got %s, %s, speed %q", c.part, d.Name, d.Part, d.Speed)
		}
	}
}

func TestUnknownPart(t *testing.T) {
	for part, hint := range map[string]string{"xcku6p-ffvb676-2-e": Default, "ecp5-84k": "ecp5-85k",
		"ecp5-85k-9": "ecp5-85k", "zzz": "xc7z020", "ice40": "gowin-gw2a-18"} {
		if _, err := Find(part); diag.CodeOf(err) != diag.UnknownPart || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", part, err)
		}
	}
}

// TestTable holds the literals to what must be true of any device, so that a slip of a column shows.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range All() {
		if found, err := Find(d.Part); err != nil || found.Name != d.Name || seen[d.Name] || d.Series == "" {
			t.Errorf("%+v: names: %v", d, err)
		}
		seen[d.Name] = true
		least := 100
		if d.Family.Vivado() {
			least = 10
		}
		if d.LUT < 5_000 || d.FF < d.LUT/2 || d.FF > 2*d.LUT || d.DSP > d.LUT/least || d.BRAM < 1 || d.BRAM > d.LUT/100 {
			t.Errorf("%+v: counts out of proportion", d)
		}
		if d.Family.Vivado() && (d.FF != 2*d.LUT || d.DSP < 1 || d.BRAM > d.DSP) {
			t.Errorf("%+v: counts out of proportion", d)
		}
		if (d.Family == ultraScalePlus) != strings.Contains(d.Series, "UltraScale+") {
			t.Errorf("%+v: family", d)
		}
		if d.URAM > 0 && d.Family != ultraScalePlus {
			t.Errorf("%+v: its family has no UltraRAM", d)
		}
		if d.Routed() != (d.Place != "") || d.Routed() && d.Sold == "" {
			t.Errorf("%+v: place and route", d)
		}
	}
}

// TestFamilies: every family has a device, and every device one of the families.
func TestFamilies(t *testing.T) {
	devices := map[*Family]int{}
	for _, d := range All() {
		devices[d.Family]++
	}
	for _, f := range Families() {
		if devices[f] == 0 {
			t.Errorf("%s has no device", f.Name)
		}
		delete(devices, f)
		if (f.DSP.A == 0) != (f.DSP.Least == 0) || f.DSP.A < f.DSP.B || f.Inputs != 4 && f.Inputs != 6 {
			t.Errorf("%+v", f)
		}
	}
	if len(devices) > 0 {
		t.Errorf("%d families are not listed", len(devices))
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		part      string
		flat, lut bool
		want      string
	}{
		{Default, false, false, "synth_xilinx -family xcup -top t -noiopad -noclkbuf -nowidelut"},
		{"xc7a35t", true, true, "synth_xilinx -family xc7 -top t -noiopad -noclkbuf -nowidelut -nodsp -flatten"},
		{"ecp5-85k", false, true, "synth_ecp5 -top t -nowidelut -nodsp -noflatten"},
		{"ice40-up5k", true, false, "synth_ice40 -device u -dsp -top t"},
	} {
		d, err := Find(c.part)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Family.Yosys.Line(*d, "t", c.flat, c.lut); got != c.want {
			t.Errorf("%s: %s, want %s", c.part, got, c.want)
		}
	}
}
