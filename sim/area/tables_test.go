// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/tables"
)

// TestTableCosts holds the LUTs of tables to what they are predicted to take, within a tenth and two.
func TestTableCosts(t *testing.T) {
	tools.Need(t, "yosys")
	all := []*tables.Table{{Lanes: 2, In: 8, Out: 8}, {Lanes: 2, In: 7, Out: 14}, {Lanes: 3, In: 6, Out: 5}}
	for x := range 256 {
		tanh := math.Tanh(float64(int8(x)) / 32)
		all[0].Codes = append(all[0].Codes, min(int64(math.RoundToEven(tanh*128)), 127))
	}
	for x := range int64(128) {
		all[1].Codes = append(all[1].Codes, x*x)
	}
	for x := range int64(64) {
		all[2].Codes = append(all[2].Codes, x*x*37>>5)
	}
	names, dir := []string{"top.sv"}, t.TempDir()
	files, err := rtl.Files("stream_skid")
	if err != nil {
		t.Fatal(err)
	}
	var ports, units strings.Builder
	predicted := map[string]int{}
	for i, c := range all {
		u, err := c.Unit()
		if err != nil {
			t.Fatal(err)
		}
		m := *u.Body.Module
		m.Name = fmt.Sprintf("table%d", i)
		files = append(files, rtl.File{Name: m.Name + ".sv", Data: m.Print()})
		fmt.Fprintf(&ports, ", input wire [%d:0] x%d, output wire [%d:0] y%[2]d, output wire v%[2]d, r%[2]d", c.Lanes*c.In-1,
			i, c.Lanes*c.Out-1)
		fmt.Fprintf(&units, "  %s u%d (.clk(clk), .rst(rst), .in_data(x%[2]d), .in_valid(go), .in_ready(r%[2]d),\n"+
			"    .out_data(y%[2]d), .out_valid(v%[2]d), .out_ready(take));\n", m.Name, i)
		predicted[fmt.Sprintf("tops/u%d", i)] = u.Body.Cost.LUT
	}
	for _, f := range files {
		write(t, dir, f.Name, string(f.Data))
		names = append(names, f.Name)
	}
	write(t, dir, "top.sv", fmt.Sprintf("module tops (input wire clk, rst, go, take%s);\n%sendmodule\n", &ports, &units))
	r := counted(t, dir, names, "tops", Options{})
	for _, in := range r.Instances {
		want, ok := predicted[in.Path]
		if delete(predicted, in.Path); ok && 10*max(in.Cells.LUT-want, want-in.Cells.LUT) > want+20 {
			t.Errorf("%s takes %d LUTs, %d are predicted", in.Path, in.Cells.LUT, want)
		}
	}
	if len(predicted) > 0 {
		t.Errorf("not counted: %v", predicted)
	}
}
