// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"lathe/internal/choose"
	"lathe/internal/driver"
)

// sizing are the choices of a plan that decide hardware and no formats.
var sizing = []string{"fps", "part", "dsp", "clock", "lengths"}

func (a *App) sweep() *cobra.Command {
	var f studyFlags
	var noCost bool
	c := &cobra.Command{Use: "sweep MODEL --inputs X.npz", Short: "measure the whole model in one format after the other",
		Long: "Puts weights and data of the whole model into each format, runs the reference engine on the samples, and\n" +
			"prints accuracy (with --labels), SQNR, bits, and the predicted LUT, FF, DSP, block RAM and cycles of the\n" +
			"hardware under the plan's folding. A star marks points that no other one beats. The plot of --svg shows\n" +
			"accuracy, or SQNR, against bits.",
		Example: "  lathe sweep model.onnx --inputs x.npz --labels y.npy --formats 'fixed(3..8),mxint8'",
		Args:    exactly("MODEL")}
	f.add(c, "fixed(3..10),fixed(12),fixed(16)", sizing...)
	f.addPrices(c, "")
	c.Flags().BoolVar(&noCost, "no-cost", false, "predict no hardware: saves time on large models")
	c.RunE = func(c *cobra.Command, args []string) error {
		formats, parts, err := f.check(c)
		if err != nil {
			return err
		}
		study, r, err := runStudy(a, c, &f, args[0], func(s *choose.Meter, p driver.Progress) (*choose.Sweep, error) {
			s.Prices = f.prices
			return s.Sweep(c.Context(), formats, parts, !noCost, p)
		})
		if err != nil {
			return err
		}
		if err := a.table(r.Table()); err != nil {
			return err
		}
		a.printFacts(study)
		return a.writeStudy(&f, study, r, r.Table())
	}
	c.AddCommand(a.trainingSweeps()...)
	return a.withJSON(c)
}
