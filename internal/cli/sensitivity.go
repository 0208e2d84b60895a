// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"lathe/internal/choose"
	"lathe/internal/driver"
)

func (a *App) sensitivity() *cobra.Command {
	var f studyFlags
	c := &cobra.Command{Use: "sensitivity MODEL --inputs X.npz", Short: "measure what each layer loses in each format",
		Long: "Puts each layer alone into each format, runs the reference engine on the samples, and prints accuracy\n" +
			"(with --labels), SQNR of the outputs, the layer's share of the output error, and the size of the model.\n" +
			"The rest has 16 bits, which loses next to nothing, or with --plan or --bits the formats of that plan; then\n" +
			"the plan's own error is divided among the layers too. The plot of --svg shows the SQNR.",
		Example: "  lathe sensitivity model.onnx --inputs x.npz --labels y.npy --formats 'fixed(4),fixed(8),mxint8'",
		Args:    exactly("MODEL")}
	f.add(c, "fixed(4),fixed(6),fixed(8)")
	c.RunE = func(c *cobra.Command, args []string) error {
		formats, parts, err := f.check(c)
		if err != nil {
			return err
		}
		byPlan := f.source.Plan != "" || c.Flags().Changed("bits")
		study, r, err := runStudy(a, c, &f, args[0], func(s *choose.Meter, p driver.Progress) (*choose.Sensitivity, error) {
			return s.Sensitivity(c.Context(), formats, parts, byPlan, p)
		})
		if err != nil {
			return err
		}
		if err := a.table(r.Table()); err != nil {
			return err
		}
		if lost := r.Lost(); lost != nil {
			fmt.Fprintln(a.Out)
			if err := a.table(lost); err != nil {
				return err
			}
		}
		a.printFacts(study)
		return a.writeStudy(&f, study, r, r.Table())
	}
	return a.withJSON(c)
}
