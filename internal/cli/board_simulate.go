// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lathe/emit/shell"
	"lathe/internal/diag"
	"lathe/ir/target"
	"lathe/sim/board"
)

func (a *App) boardSimulate() *cobra.Command {
	var name, link string
	var clock float64
	var noise int
	var seed uint64
	c := a.verb("simulate DIR --board NAME",
		"serve as a board that holds an emitted design", nil, "DIR")
	c.Long = "Simulates a board that holds the design in DIR, cycle by cycle, behind a pseudo-terminal, until it is\n" +
		"interrupted. Prints the name of the terminal, which board run and other programs take as the port."
	c.Example = "  lathe board simulate out/ --board ulx3s-85f --link /tmp/board"
	f := c.Flags()
	f.StringVar(&name, "board", "", "the board, see lathe board list")
	f.StringVar(&link, "link", "", "also make a symbolic link of this name to the terminal")
	f.Float64Var(&clock, "clock", 0, "clock of the design in MHz; without it the usual one of the board")
	f.IntVar(&noise, "noise", 0, "of ten thousand bytes on the line so many are lost, doubled or changed, 0 to 1000")
	f.Uint64Var(&seed, "seed", 1, "seed of the noise, and of registers without an initial value")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := required(c, "board"); err != nil {
			return err
		}
		if noise < 0 || noise > 1000 {
			return usagef("--noise %d is outside 0 to 1000", noise)
		}
		b, err := target.FindBoard(name)
		if err != nil {
			return &usageError{err}
		}
		core, err := shell.Read(args[0])
		if err != nil {
			return err
		}
		p := progress{app: a}
		defer p.finish()
		p.Report("build simulation", 0, 0)
		s, err := board.Simulate(c.Context(), core, b, clock, a.Env.Cache, int(seed%1_000_000), board.Noise(noise, seed))
		p.finish()
		if err != nil {
			return err
		}
		defer s.Close()
		if link != "" {
			if err := os.Symlink(s.Path, link); err != nil {
				return diag.New(diag.FileWrite, link, "cannot make the link: %v", reason(err)).
					WithHint("remove the file, or name another one")
			}
			defer os.Remove(link)
		}
		fmt.Fprintf(a.Out, "%s: %s with design %s\n", s.Path, b.Name, core.Digest())
		if err := a.writeJSON(map[string]any{"port": s.Path, "board": b.Name, "design_id": core.Digest()}); err != nil {
			return err
		}
		return s.Wait(c.Context())
	}
	return c
}
