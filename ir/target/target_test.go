// SPDX-License-Identifier: Apache-2.0

package target

import (
	"strings"
	"testing"

	"lathe/internal/diag"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ part, device, name string }{
		{Default, "xcku5p", Default},
		{"xc7z020clg400-1", "xc7z020", "xc7z020clg400-1"},
		{"xcku5p-ffva676-1-i", "xcku5p", "xcku5p-ffva676-1-i"},
		{"xc7a35t", "xc7a35t", "xc7a35tcpg236-1"},
		{"XC7A100TCSG324-1", "xc7a100t", "xc7a100tcsg324-1"},
	} {
		f, err := Find(c.part)
		if err != nil {
			t.Errorf("%s: %v", c.part, err)
			continue
		}
		if f.Device != c.device || f.Part != c.name {
			t.Errorf("%s: got %s, %s", c.part, f.Device, f.Part)
		}
	}
}

func TestUnknownPart(t *testing.T) {
	_, err := Find("xcku6p-ffvb676-2-e")
	if diag.CodeOf(err) != "L0413" || !strings.Contains(err.Error(), Default) {
		t.Errorf("near miss: %v", err)
	}
	_, err = Find("zzz")
	if diag.CodeOf(err) != "L0413" || !strings.Contains(err.Error(), "xc7z020") {
		t.Errorf("far miss: %v", err)
	}
}

// TestTable holds the literals to what must be true of any device, so that a slip of a column shows.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if seen[f.Device] || !strings.HasPrefix(f.Part, f.Device) || f.Family == "" {
			t.Errorf("%+v: names", f)
		}
		seen[f.Device] = true
		if f.FF != 2*f.LUT || f.DSP < 1 || f.DSP > f.LUT/10 || f.BRAM < 1 || f.BRAM > f.DSP {
			t.Errorf("%+v: counts out of proportion", f)
		}
		if (f.Yosys == "xcup") != strings.Contains(f.Family, "UltraScale+") {
			t.Errorf("%+v: family", f)
		}
		if f.Yosys == "xc7" && f.URAM != 0 {
			t.Errorf("%+v: series 7 has no URAM", f)
		}
	}
}

// TestOpens is TestTable for the parts that open tools route.
func TestOpens(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Opens() {
		_, f, _, err := FindOpen(o.Name)
		if err != nil || seen[o.Name] || f.Series == "" || f.Kbit < 1 {
			t.Errorf("%+v: %v, family %+v", o, err, f)
		}
		seen[o.Name] = true
		if o.LUT < 5_000 || o.FF > o.LUT || o.FF < o.LUT/2 || o.DSP > o.LUT/100 || o.BRAM < 1 || o.BRAM > o.LUT/100 {
			t.Errorf("%+v: counts out of proportion", o)
		}
	}
}
