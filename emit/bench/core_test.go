// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"strings"
	"testing"

	"lathe/emit"
	"lathe/rtl"
)

// TestAddCore: a core has each file once, sources in the order of compilation, and targets for what the folder holds.
func TestAddCore(t *testing.T) {
	d := &emit.Design{Top: "net", Core: "net_core", Version: "test", Files: []rtl.File{{Name: "op_add.sv"},
		{Name: "net_core.sv"}, {Name: "net.v"}, {Name: "w.mem"}, {Name: "weights.bin"}}}
	add := func(extra ...rtl.File) string {
		t.Helper()
		d.Extra = append(d.Extra, extra...)
		if err := AddCore(d); err != nil {
			t.Fatal(err)
		}
		last := d.Extra[len(d.Extra)-1]
		if last.Name != "net.core" || len(d.Extras("")) != 1 {
			t.Fatalf("the folder has %q", d.Extras(""))
		}
		return string(last.Data)
	}
	bare := add()
	order := 0
	for _, part := range []string{"CAPI=2:\n", `name: "user.org:lathe:net:1.0"`,
		"- op_add.sv: {file_type: systemVerilogSource}", "- net_core.sv: ",
		"- net.v: {file_type: verilogSource}", "- w.mem: {file_type: user, copyto: w.mem}",
		"filesets: [rtl, images]\n    toplevel: net\n"} {
		at := strings.Index(bare[order:], part)
		if at < 0 || strings.Count(bare, part) != 1 {
			t.Fatalf("%q is not there, not once or not in its place:\n%s", part, bare)
		}
		order += at
	}
	for _, absent := range []string{"  sim:", "  synth:", "  axi:", "weights.bin"} {
		if strings.Contains(bare, absent) {
			t.Errorf("a bare design has %q", absent)
		}
	}
	whole := add(rtl.File{Name: "tb/net_tb.sv"}, rtl.File{Name: "tb/net_core_lanes.sv"}, rtl.File{Name: "tb/s.mem"},
		rtl.File{Name: "axi/axi_gate.sv"}, rtl.File{Name: "axi/net_axi.v"}, rtl.File{Name: "axi/sources.f"},
		rtl.File{Name: "vivado/net.xdc"})
	for _, part := range []string{"  sim:", "toplevel: net_tb", "- tb/s.mem: {file_type: user, copyto: tb/s.mem}",
		"- weights.bin: {file_type: user, copyto: weights.bin}", "- axi/net_axi.v: ", "  axi:\n    <<: *default",
		"- vivado/net.xdc: {file_type: xdc}", `part: "xcku5p-ffvb676-2-e"`} {
		if !strings.Contains(whole, part) {
			t.Errorf("%q is missing:\n%s", part, whole)
		}
	}
	if strings.Contains(whole, "lanes") || strings.Contains(whole, "sources.f") {
		t.Errorf("what is no source of the core:\n%s", whole)
	}
}
