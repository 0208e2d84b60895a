// SPDX-License-Identifier: Apache-2.0

package rtl_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
)

// begun are registers that a reset must set although they hold data: sums and maxima, which begin anew with a row, what
// a processor sets, and bytes that zeros must follow.
var begun = []string{"axi_control.limit", "axi_pack.hold", "axi_pack.out_data", "axi_unpack.hold",
	"axi_unpack.out_data", "mem_checked.sign", "op_norm_sums.acc", "op_norm_sums.sum", "op_softmax_powers.most"}

// unreset is a register of data with a reset, which TestResets must find, and one of control, which it must not.
const unreset = `module unreset (input wire clk, rst, input wire [7:0] in_data, input wire in_valid,
    output reg [7:0] held, output reg [8:0] count);
  reg [7:0] first;
  always @(posedge clk) begin
    if (in_valid) {held, first} <= {first + 8'd1, in_data};
    if (in_data[0]) count <= count + 9'd1;
    if (rst) {held, count} <= 17'd0;
  end
endmodule
`

// TestResets: a reset sets what controls, and no register of data. Those of eight bits or more take no value, in the
// sizes that the modules have by default, from the payload of a stream, from arithmetic or from a memory.
func TestResets(t *testing.T) {
	tools.Need(t, "yosys")
	dir := t.TempDir()
	files, err := rtl.Files(rtl.Modules()...)
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, rtl.File{Name: "unreset.sv", Data: []byte(unreset)})
	script := "read_verilog -sv"
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		script += " " + f.Name
	}
	cmd := exec.CommandContext(t.Context(), "yosys", "-q", "-p",
		script+"; proc; opt_expr; opt_dff; opt_clean; write_json netlist.json")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "netlist.json"))
	var all struct{ Modules map[string]*wired }
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all.Modules) < len(files) {
		t.Fatalf("%d modules of %d: %v", len(all.Modules), len(files), err)
	}
	var found []string
	for name, m := range all.Modules {
		for _, register := range m.resets(all.Modules) {
			found = append(found, name+"."+register)
		}
	}
	slices.Sort(found)
	if want := append(slices.Clone(begun), "unreset.held"); !slices.Equal(found, want) {
		t.Errorf("registers of data with a reset: %q, and allowed are %q", found, want)
	}
}

// wired is a module as Yosys writes it. A bit is a number, or a constant in quotes.
type wired struct {
	Ports map[string]struct {
		Direction string
		Bits      []any
	}
	Cells    map[string]*wiredCell
	Netnames map[string]struct {
		Hide int `json:"hide_name"`
		Bits []any
	}
}

type wiredCell struct {
	Type        string
	Parameters  map[string]string
	Connections map[string][]any
}

// resets names the registers of data that rst sets.
func (m *wired) resets(all map[string]*wired) (names []string) {
	drivers := map[any]*wiredCell{}
	for _, c := range m.Cells {
		for port, bits := range c.Connections {
			if c.drives(port, all) {
				for _, b := range bits {
					drivers[b] = c
				}
			}
		}
	}
	payload, rst := map[any]bool{}, map[any]bool{}
	for name, p := range m.Ports {
		for _, b := range p.Bits {
			rst[b] = name == "rst"
			payload[b] = p.Direction == "input" && strings.Contains(name, "data")
		}
	}
	for _, c := range m.Cells {
		width, _ := strconv.ParseInt(c.Parameters["WIDTH"], 2, 32)
		if !strings.HasPrefix(c.Type, "$sdff") || width < 8 ||
			!reaches(c.Connections["SRST"], drivers, func(b any, from *wiredCell) (bool, []string) {
				return rst[b], either(from)
			}) || !reaches(c.Connections["D"], drivers, func(b any, from *wiredCell) (bool, []string) {
			return payload[b] || from.computes(b), values(from)
		}) {
			continue
		}
		for name, n := range m.Netnames {
			if n.Hide == 0 && slices.Contains(n.Bits, c.Connections["Q"][0]) {
				names = append(names, name)
			}
		}
	}
	return names
}

// drives says that a port of a cell is an output.
func (c *wiredCell) drives(port string, all map[string]*wired) bool {
	if m := all[c.Type]; m != nil {
		return m.Ports[port].Direction == "output"
	}
	return slices.Contains([]string{"Y", "Q", "RD_DATA"}, port)
}

// computes says that a bit leaves a memory, arithmetic of the library, or the payload of a stream in a part.
func (c *wiredCell) computes(b any) bool {
	if c == nil || strings.HasPrefix(c.Type, "$") {
		return c != nil && strings.HasPrefix(c.Type, "$mem")
	}
	if strings.HasPrefix(c.Type, "num_") {
		return c.Type != "num_delay"
	}
	for port, bits := range c.Connections {
		if strings.Contains(port, "data") && slices.Contains(bits, b) {
			return true
		}
	}
	return false
}

// either are the inputs of a cell that passes on a reset which others join.
func either(c *wiredCell) []string {
	if c != nil && slices.Contains([]string{"$or", "$logic_or", "$reduce_or", "$reduce_bool"}, c.Type) {
		return []string{"A", "B"}
	}
	return nil
}

// values are the inputs of a cell whose value its output has or is computed of, not those that select or enable.
func values(c *wiredCell) []string {
	switch {
	case c == nil:
		return nil
	case c.Type == "num_delay":
		return []string{"in"}
	case !strings.HasPrefix(c.Type, "$"):
		return nil
	}
	return []string{"A", "B", "D"}
}

// reaches says that one of the bits comes from one for which ask is true; ask also names the inputs to go through.
func reaches(bits []any, drivers map[any]*wiredCell, ask func(any, *wiredCell) (bool, []string)) bool {
	seen := map[any]bool{}
	for bits = slices.Clone(bits); len(bits) > 0; {
		b := bits[len(bits)-1]
		bits = bits[:len(bits)-1]
		if _, constant := b.(string); constant || seen[b] {
			continue
		}
		seen[b] = true
		from := drivers[b]
		end, inputs := ask(b, from)
		if end {
			return true
		}
		for _, port := range inputs {
			bits = append(bits, from.Connections[port]...)
		}
	}
	return false
}
