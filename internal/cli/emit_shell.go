// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"lathe/emit"
	"lathe/emit/shell"
	"lathe/emit/verilog"
	"lathe/internal/driver"
)

// check refuses flags of emit-verilog that cannot be followed, before the work.
func (e *emitFlags) check(c *cobra.Command) error {
	if err := required(c, "output"); err != nil {
		return err
	}
	if e.vectors < 0 || e.vectors > maxVectors {
		return usagef("--vectors %d is outside 0 to %d", e.vectors, maxVectors)
	}
	if e.shell != "" && e.shell != "axi" {
		return usagef("--shell %q: it is axi; for a board: lathe board build", e.shell)
	}
	if err := driver.Verilog.Check(e.out); err != nil {
		return err
	}
	return e.metric.check(e.labels, e.inputs+e.source.Calibrate, "--inputs or --calibrate")
}

// addShell adds the AXI shell to a design, below axi/. Errors are those of shell.Folder.
func addShell(d *emit.Design) error {
	core, err := shell.Of(d)
	if err != nil {
		return err
	}
	files, err := shell.Folder(core, shell.Options{Version: d.Version})
	if err != nil {
		return err
	}
	d.Extra = append(d.Extra, files...)
	return verilog.Describe(d)
}
