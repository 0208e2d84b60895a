// SPDX-License-Identifier: Apache-2.0

package vivado

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/emit/shell"
	"lathe/internal/tools"
)

// blocks runs a script that makes a block design in which texts are replaced, and returns what it connects.
func blocks(t *testing.T, name, bitstream string, replace ...string) (string, error) {
	t.Helper()
	tools.Need(t, "tclsh")
	d, c := design(), &shell.Core{Streams: []shell.Stream{{Prefix: "s_axis_0", Input: true, Bytes: 1},
		{Prefix: "s_axis_1", Input: true, Bytes: 9}, {Prefix: "m_axis", Bytes: 5}}}
	dir := write(t, d)
	files, err := Systems(d, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text := strings.NewReplacer(replace...).Replace(string(f.Data))
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stub, err := filepath.Abs("testdata/blocks.tcl")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "tclsh", stub, "ap_clk ap_rst_n irq s_axi* s_axis_0* s_axis_1* m_axis*",
		filepath.Join(dir, "vivado", name), bitstream)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestSystems: block designs use commands with options that Vivado has, and connect every pin of the design, of the
// DMA engines and of the interconnects once.
func TestSystems(t *testing.T) {
	for _, name := range []string{"zynq7020.tcl", "zynqmp.tcl"} {
		out, err := blocks(t, name, "bitstream")
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		for _, want := range []string{"connect axi_dma_0/M_AXIS_MM2S net/s_axis_0\n",
			"connect axi_dma_1/M_AXIS_MM2S net/s_axis_1\n", "connect net/m_axis axi_dma_0/S_AXIS_S2MM\n",
			"connect control/M00_AXI net/s_axi\n", "connect control/M02_AXI axi_dma_1/S_AXI_LITE\n",
			"launch_runs impl_1 -to_step write_bitstream", "write_hw_platform -fixed -include_bit"} {
			if strings.Count(out, want) != 1 {
				t.Errorf("%s: %d times %q in\n%s", name, strings.Count(out, want), want, out)
			}
		}
	}
	for want, replace := range map[string][2]string{
		"create_bd_cell has no option -kind":    {"create_bd_cell -type", "create_bd_cell -kind"},
		"no pin net/interrupt":                  {"net/irq", "net/interrupt"},
		"axi_dma_0/axi_resetn is not connected": {"lappend released axi_dma_0", "lappend absent axi_dma_0"},
		"net/s_axi is connected twice":          {"net/s_axis_0]", "net/s_axi]"},
		"no command make_block_wrapper":         {"[make_wrapper", "[make_block_wrapper"},
	} {
		if out, err := blocks(t, "zynqmp.tcl", "", replace[0], replace[1]); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q in place of %q: %v\n%s", replace[1], replace[0], err, out)
		}
	}
}
