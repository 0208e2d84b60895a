// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"lathe/lower"
)

func (a *App) plan() *cobra.Command {
	var s sourceFlags
	c := &cobra.Command{Use: "plan MODEL", Short: "print a plan filled in with the nodes of a model",
		Long: "Prints a plan for a model: what the flags and --plan say, a rule for each format that calibration chose,\n" +
			"and as comments what else was decided, with the names of the nodes. emit-verilog with this plan makes the\n" +
			"same Verilog as with the flags.",
		Example: "  lathe plan model.onnx --calibrate x.npz --fps 1e5 > plan.toml", Args: exactly("MODEL")}
	s.add(c, true)
	s.choices.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		source, err := s.of(a, args[0])
		if err != nil {
			return err
		}
		p := progress{app: a}
		defer p.finish()
		q, err := a.quantized(c.Context(), source, &p)
		if err != nil {
			return err
		}
		p.Report("schedule", 0, 0)
		schedule, err := q.Schedule(c.Context())
		if err != nil {
			return err
		}
		p.finish()
		text := lower.PlanText(q.Plan, filepath.Base(args[0]), q.Graph, q.Report, schedule)
		fmt.Fprint(a.Out, text)
		facts := map[string]any{"model": args[0], "plan": text}
		if q.Report != nil {
			facts["chosen"], facts["needs_calibration"] = q.Report.Chosen, q.Report.Loose > 0
		}
		return a.writeJSON(facts)
	}
	return a.withJSON(c)
}
