// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Lint has Verilator read the files with all warnings, each of which is an error: L0710, or L0701 without Verilator.
func Lint(ctx context.Context, cache, top string, files []File) error {
	args := append([]string{"--lint-only", "-Wall", "--top-module", top}, sources(files)...)
	_, err := read(ctx, cache, "lint", version("verilator", "--version")+top, files, func(dir string) error {
		return tool(ctx, dir, diag.LintFailed, "verilator", args...)
	})
	return err
}

// Elaborate has Icarus read and elaborate the files: L0709 if it refuses them.
func Elaborate(ctx context.Context, cache, top string, files []File) error {
	args := append([]string{"-g2012", "-t", "null", "-s", top}, sources(files)...)
	_, err := read(ctx, cache, "elaborate", version("iverilog", "-V")+top, files, func(dir string) error {
		return tool(ctx, dir, diag.SecondToolFailed, "iverilog", args...)
	})
	return err
}

// yosysFaults are messages of Yosys that it treats as warnings and that mean a wrong circuit.
var yosysFaults = []string{
	"implicitly declared", // a hierarchical name or a typing error has become an undriven wire
	"Latch inferred",
	"conflicting drivers",
	"logic loop",
}

// Yosys has the synthesizer read the design, with its parameters, up to the coarse netlist: L0709 if it refuses it or
// makes latches, loops or undriven wires of it (checked before memories are folded: Yosys 0.23 leaves a half-dead
// register behind where it drops constant bits of a ROM). The outcome is cached.
func Yosys(ctx context.Context, spec Spec) error {
	return yosys(ctx, spec, "; synth -run coarse:fine")
}

// YosysReads does all that Yosys does but the coarse netlist, which takes half of its time and only finds defects of
// the synthesizer itself.
func YosysReads(ctx context.Context, spec Spec) error { return yosys(ctx, spec, "") }

// yosys reads and checks the design; then comes the rest of the script.
func yosys(ctx context.Context, spec Spec, rest string) error {
	spec.Taps = nil
	if err := spec.check(); err != nil {
		return err
	}
	files := append(append([]File(nil), spec.Files...), File{Name: wrapperName + ".sv", Data: []byte(spec.wrapper())})
	script := "read_verilog -sv " + strings.Join(sources(files), " ") + "; "
	if slices.ContainsFunc(files, func(f File) bool { return bytes.Contains(f.Data, []byte("DSP48E2 #")) }) {
		script = "read_verilog -lib +/xilinx/cells_xtra.v; " + script // a primitive that designs instantiate
	}
	script += "hierarchy -check -top " + wrapperName + "; proc; opt_expr; opt_clean; check -assert" + rest
	_, err := read(ctx, spec.CacheDir, "yosys", version("yosys", "-V")+script, files, func(dir string) error {
		if err := tool(ctx, dir, diag.SecondToolFailed, "yosys", "-p", script); err != nil {
			return err
		}
		log, err := os.ReadFile(filepath.Join(dir, "tool.log"))
		if err != nil {
			return err
		}
		for _, line := range bytes.Split(log, []byte("\n")) {
			for _, fault := range yosysFaults {
				if bytes.Contains(line, []byte(fault)) {
					return &toolError{code: diag.SecondToolFailed, name: "yosys", dir: dir, output: line}
				}
			}
		}
		return nil
	})
	return err
}

// read writes the files into a cache folder and runs the job there, once for the same files and key.
func read(ctx context.Context, cache, kind, key string, files []File, job func(dir string) error) (string, error) {
	parts := []string{key}
	for _, f := range files {
		parts = append(parts, f.Name, string(f.Bytes()))
	}
	return cached(ctx, cache, kind+"-"+digest(parts...), func(dir string) error {
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Bytes(), 0o644); err != nil {
				return err
			}
		}
		return job(dir)
	})
}
