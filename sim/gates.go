// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
)

// netlistName is the file of a synthesized design.
const netlistName = "netlist.v"

// Gates has Yosys synthesize the design to gates and flip-flops, and returns the same Spec with the netlist in place of
// sources and memory images, whose contents have become logic. There are no taps. Modules are mapped
// once each, and flattened behind that: Verilator sees loops in vectors whose bits depend on each other. The netlist is
// cached. Errors: L0701 no yosys, L0730 Yosys fails, or the netlist still reads a file.
func Gates(ctx context.Context, spec Spec) (Spec, error) {
	spec.Taps = nil
	if err := spec.check(); err != nil {
		return Spec{}, err
	}
	if len(spec.Params) > 0 {
		return Spec{}, diag.New(diag.SimulationRequest, spec.Top, "only a top without parameters is synthesized by itself")
	}
	script := "read_verilog -sv " + strings.Join(sources(spec.Files), " ") + "; synth -top " + spec.Top +
		"; flatten; opt_clean; splitnets; write_verilog -noattr " + netlistName
	dir, err := read(ctx, spec.CacheDir, "gates", version("yosys", "-V")+script, spec.Files, func(dir string) error {
		return tool(ctx, dir, diag.NoNetlist, "yosys", "-q", "-p", script)
	})
	if err != nil {
		return Spec{}, err
	}
	netlist, err := os.ReadFile(filepath.Join(dir, netlistName))
	if err != nil {
		return Spec{}, diag.New(diag.NoNetlist, spec.Top, "Yosys left no netlist: %v", err)
	}
	if bytes.Contains(netlist, []byte("$readmem")) {
		return Spec{}, diag.New(diag.NoNetlist, spec.Top,
			"the netlist reads a memory image: the memory was not mapped to logic")
	}
	spec.Files, spec.Warnings = []File{{Name: netlistName, Data: netlist}}, false
	return spec, nil
}
