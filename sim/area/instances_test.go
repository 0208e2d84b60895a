// SPDX-License-Identifier: Apache-2.0

package area

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/rtl"
)

const (
	goodStat = `{"modules": {"\\top": {"num_cells_by_type": {"LUT6": 3, "sub": 2}},
		"\\sub": {"num_cells_by_type": {"FDRE": 1}}},
		"design": {"num_cells_by_type": {"LUT6": 3, "FDRE": 2}}}`
	laterStat = `{"modules": {"\\top": {"num_cells_by_type": {"LUT6": 3}, "num_submodules_by_type": {"sub": 2}},
		"\\sub": {"num_cells_by_type": {"FDRE": 1}}},
		"design": {"num_cells_by_type": {"LUT6": 3, "FDRE": 2}}}`
	goodHier = `{"modules": {"top": {"cells": {"u[10]": {"type": "sub"}, "u[9]": {"type": "sub"}}}}}`
)

func parse(t *testing.T, stat, hier string) (*statistics, *hierarchy) {
	t.Helper()
	var s statistics
	var h hierarchy
	if err := json.Unmarshal([]byte(stat), &s); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(hier), &h); err != nil {
		t.Fatal(err)
	}
	return &s, &h
}

func TestBuild(t *testing.T) {
	for _, stat := range []string{goodStat, laterStat} {
		s, h := parse(t, stat, goodHier)
		r, err := build("top", s, h)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, i := range r.Instances {
			paths = append(paths, i.Path)
		}
		if strings.Join(paths, " ") != "top top/u[9] top/u[10]" || r.Total != (Cells{LUT: 3, FF: 2}) {
			t.Errorf("%q %+v", paths, r.Total)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	cases := []struct{ name, stat, hier, top, want string }{
		{"instance not listed", goodStat, `{"modules": {"top": {"cells": {"u": {"type": "sub"}}}}}`, "top",
			"2 instances, of which 1 were listed"},
		{"no instances listed", goodStat, `{"modules": {}}`, "top", "of which 0"},
		{"sums differ", strings.Replace(goodStat, `"FDRE": 2`, `"FDRE": 3`, 1), goodHier, "top", "add up"},
		{"unknown cell", strings.ReplaceAll(goodStat, "LUT6", "LUT7"), goodHier, "top", "unknown type LUT7"},
		{"unmapped cell", strings.ReplaceAll(goodStat, "LUT6", "$add"), goodHier, "top", "$add were left without"},
		{"top", goodStat, goodHier, "tip", "tip is not in the result"},
	}
	for _, c := range cases {
		s, h := parse(t, c.stat, c.hier)
		if _, err := build(c.top, s, h); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestSourceName(t *testing.T) {
	for in, want := range map[string]string{
		"top":                              "top",
		`$paramod\inner\W=s32'0000`:        "inner",
		`$paramod$0123abc\stream_skid`:     "stream_skid",
		`$paramod\rom\F=t8'01\D=s32'00001`: "rom",
	} {
		if got := sourceName(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestNatural(t *testing.T) {
	names := []string{"g[10].u", "a", "g[2].u", "g[02].v", "g", "b1c", "b1"}
	slices.SortFunc(names, natural)
	if got := strings.Join(names, " "); got != "a b1 b1c g g[2].u g[02].v g[10].u" {
		t.Error(got)
	}
}

func TestSources(t *testing.T) {
	cases := []struct{ name, text, top, want string }{
		{"one", "module a; b #(.W(1)) u(); c v (); endmodule module b; endmodule module c; endmodule", "a", ""},
		{"recursion", "module tree; tree left(); endmodule", "tree", ""},
		{"comment", "// module x\n/* b u(); */ module a; initial $display(\"b u();\"); endmodule", "a", ""},
		{"escaped instance", "module a; b \\1.conv (); endmodule module b; endmodule", "a", ""},
		{"instance named after the top", "module a; b a_2 (); endmodule module b; endmodule", "a", ""},
		{"two", "module a; endmodule module b; endmodule", "", "candidates: a, b"},
		{"none", "", "", "0 modules"},
	}
	for _, c := range cases {
		dir := t.TempDir()
		write(t, dir, "in.v", c.text)
		_, top, err := Sources(dir)
		if top != c.top || (err == nil) != (c.want == "") {
			t.Errorf("%s: top %q, error %v", c.name, top, err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.want) || diag.CodeOf(err) != diag.AreaInput) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, _, err := Sources(t.TempDir()); diag.CodeOf(err) != diag.AreaInput {
		t.Errorf("empty folder: %v", err)
	}
}

func TestTable(t *testing.T) {
	s, h := parse(t, goodStat, goodHier)
	r, err := build("top", s, h)
	if err != nil {
		t.Fatal(err)
	}
	r.Tool, r.Flags = "Yosys 0.23", "synth_xilinx"
	var all, top strings.Builder
	if err := r.Table(&all, 9); err != nil {
		t.Fatal(err)
	}
	if err := r.Table(&top, 0); err != nil {
		t.Fatal(err)
	}
	const tool = "Yosys 0.23 after synthesis, not routed: synth_xilinx\n"
	for _, want := range []string{"  top (top)\n", "    u[9] (sub)\n", tool} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &all)
		}
	}
	if strings.Contains(top.String(), "u[9]") || strings.Contains(top.String(), "URAM") {
		t.Errorf("depth 0 prints\n%s", &top)
	}
	if strings.Contains(all.String(), "predicted") {
		t.Errorf("predictions that nobody made:\n%s", &all)
	}
	all.Reset()
	r.Predict("top", map[string]rtl.Cost{"u[9]": {LUT: 4321, FF: 8765}, "absent": {LUT: 1}})
	if err := r.Table(&all, 9); err != nil || !strings.Contains(all.String(), "predicted: LUT ") ||
		!regexp.MustCompile(` 4321 +8765 +u\[9\] \(sub\)`).MatchString(all.String()) {
		t.Errorf("predictions: %v in\n%s", err, &all)
	}
	top.Reset()
	r.Instances[0].Cells.URAM = 12345
	if err := r.Table(&top, 0); err != nil || !strings.Contains(top.String(), "URAM") ||
		!strings.Contains(top.String(), " 12345 ") {
		t.Errorf("UltraRAM: %v in\n%s", err, &top)
	}
}
