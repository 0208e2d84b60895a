// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/sim/board"
	"lathe/sim/route"
)

// board is the group of commands for FPGA boards.
func (a *App) board() *cobra.Command {
	c := &cobra.Command{Use: "board", Short: "put a design on an FPGA board and run it there, or on a simulated board",
		Long: "Makes a bitstream of an emitted design for a board, with open tools, and has it compute samples over the\n" +
			"serial line of the board. A board can be simulated: board simulate serves as one behind a pseudo-terminal.",
		Example: "  lathe board list\n  lathe board build out/ --board ulx3s-85f -o design.bit"}
	c.AddCommand(a.boardList(), a.boardBuild(), a.boardRun(), a.boardSimulate())
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return c.Help()
	}
	return c
}

func (a *App) boardList() *cobra.Command {
	c := a.verb("list",
		"list the boards for which bitstreams are made", nil)
	c.Example = "  lathe board list --json boards.json"
	c.RunE = func(*cobra.Command, []string) error {
		rows := [][]string{{"board", "device", "clock MHz", "baud", "what it is"}}
		facts := []map[string]any{}
		for _, b := range target.Boards() {
			rows = append(rows, []string{b.Name, b.Part, diag.Number(b.Clock, -1), fmt.Sprint(b.Baud), b.Title})
			facts = append(facts, map[string]any{"board": b.Name, "device": b.Part, "clock_mhz": b.Clock, "baud": b.Baud,
				"title": b.Title, "oscillator_mhz": b.Oscillator, "load": fmt.Sprintf(b.Load, "FILE")})
		}
		if err := a.table(rows); err != nil {
			return err
		}
		return a.writeJSON(facts)
	}
	return c
}

func (a *App) boardBuild() *cobra.Command {
	o := route.Options{Tools: a.Env.routeTools()}
	var name, out string
	var clock float64
	c := a.verb("build DIR --board NAME -o FILE",
		"make a bitstream of an emitted design for a board", nil, "DIR")
	c.Long = "Puts the design in DIR, which emit-verilog wrote, behind the serial line of a board, maps it with Yosys,\n" +
		"places and routes it with nextpnr, and packs a bitstream. Prints the clock, how much faster it might be,\n" +
		"cells and the slowest path. Exit status 1 where the clock is not reached; there is then no bitstream."
	c.Example = "  lathe board build out/ --board ulx3s-85f -o design.bit"
	f := c.Flags()
	f.StringVar(&name, "board", "", "the board, see lathe board list")
	f.StringVarP(&out, "output", "o", "", "file for the bitstream")
	f.Float64Var(&clock, "clock", 0, "clock of the design in MHz; without it the usual one of the board")
	f.IntVar(&o.Seeds, "seeds", 2, "placements to try")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Minute, "for Yosys, and for each seed")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := required(c, "board", "output"); err != nil {
			return err
		}
		if o.Seeds < 1 || o.Timeout <= 0 || clock != 0 && !(clock >= 1 && clock <= 2000) {
			return usagef("--seeds and --timeout must be positive, and --clock lie within 1..2000")
		}
		b, err := target.FindBoard(name)
		if err != nil {
			return &usageError{err}
		}
		if err := writable(out, diag.FileWrite); err != nil {
			return err
		}
		p := progress{app: a}
		defer p.finish()
		o.Progress = func(step string) { p.Report(step, 0, 0) }
		bits, err := board.Build(c.Context(), args[0], b, clock, o)
		p.finish()
		if bits == nil {
			return err
		}
		if err := a.printBitstream(bits, out); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		return writeFile(out, bits.Fit.Bitstream)
	}
	return c
}

// printBitstream prints what was routed, and how to load it.
func (a *App) printBitstream(bits *board.Bitstream, out string) error {
	if err := bits.Fit.Table(a.Out); err != nil {
		return err
	}
	if bits.Margin >= 0 {
		fmt.Fprintf(a.Out, "\n%s at %s MHz, which the routed design keeps with %.1f %% to spare; design %s\n%d bytes a "+
			"sample and %d bytes of results at %d baud\n", bits.Board, diag.Number(bits.Clock, 6), bits.Margin, bits.ID,
			bits.InBytes, bits.OutBytes, bits.Baud)
		fmt.Fprintf(a.Out, "load it: "+bits.Load+"\n", out)
	}
	return a.writeJSON(bits)
}
