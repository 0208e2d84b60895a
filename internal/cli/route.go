// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/sim/route"
)

func (a *App) route() *cobra.Command {
	o := route.Options{Tools: a.Env.routeTools()}
	var clock float64
	var bitstream string
	c := &cobra.Command{Use: "route DIR", Short: "place and route a design, and measure its clock",
		Long: "Maps the design in DIR, which emit-verilog wrote, with Yosys, and places and routes it with nextpnr, once\n" +
			"for each seed. Prints the clock that the best of them reaches, the cells, and the slowest path\n" +
			"with the layer of each hop. The design is routed without pins, on iCE40 in a ring of registers, unless\n" +
			"--pins fixes some or --bitstream asks for a file that configures the device. DIR then holds the\n" +
			"result, route.json, and the floor plan, route.svg. With --clock, exit status 1 where it is not reached.",
		Example: "  lathe route out/ --part ecp5-85k --seeds 4 --json routed.json", Args: exactly("DIR")}
	f := c.Flags()
	f.StringVar(&o.Part, "part", "", "the device, see lathe list targets; ecp5-85k-8 is ecp5-85k in its fastest grade; "+
		"without it that for which the design was made")
	f.IntVar(&o.Seeds, "seeds", 2, "placements to try")
	f.Float64Var(&clock, "clock", 0, "demanded clock in MHz; without it placement aims at 200")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Minute, "for Yosys, and for each seed")
	f.StringVar(&bitstream, "bitstream", "", "file for a bitstream of the best placement; the design then gets pins")
	f.StringVar(&o.PinFile, "pins", "", "file that fixes pins: LPF for ECP5, PCF for iCE40")
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.Seeds < 1 || clock != 0 && !(clock >= 1 && clock <= 2000) || o.Timeout <= 0 {
			return usagef("--seeds and --timeout must be positive, and --clock lie within 1..2000")
		}
		if o.Bitstream = bitstream != ""; o.Bitstream {
			if err := writable(bitstream, diag.FileWrite); err != nil {
				return err
			}
		}
		p := progress{app: a}
		defer p.finish()
		o.ClockMHz, o.Progress = clock, func(step string) { p.Report(step, 0, 0) }
		r, err := route.Route(c.Context(), args[0], o)
		p.finish()
		if c.Flags().Changed("part") && diag.CodeOf(err) == diag.UnknownPart {
			return &usageError{err}
		}
		if err != nil {
			return err
		}
		if err := a.keepRouted(args[0], r); err != nil {
			return err
		}
		if err := r.Table(a.Out); err != nil {
			return err
		}
		if err := a.writeJSON(r); err != nil {
			return err
		}
		if err := r.Missed(clock); err != nil || bitstream == "" {
			return err
		}
		return writeFile(bitstream, r.Bitstream)
	}
	return a.withJSON(c)
}

// keepRouted writes the result and its picture into the folder of the design.
func (a *App) keepRouted(dir string, r *route.Report) error {
	if err := writeFile(filepath.Join(dir, route.Picture), r.FloorPlan); err != nil {
		return err
	}
	if err := saveJSON(filepath.Join(dir, route.File), r); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "wrote %s and %s in %s\n", route.File, route.Picture, dir)
	return nil
}
