// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"lathe/emit/report"
	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/internal/npz"
)

func (a *App) profile() *cobra.Command {
	var s sourceFlags
	var inputs, html string
	var samples int
	var channels bool
	c := &cobra.Command{Use: "profile MODEL --inputs X.npz", Short: "show which values the tensors of a float model take",
		Long: "Runs the float model on samples and prints range, mean, percentiles and outliers of each value and of each\n" +
			"constant: where formats will lose, and which channels are apart. The page adds histograms and channels.",
		Example: "  lathe profile model.onnx --inputs x.npz --html profile.html", Args: exactly("MODEL")}
	s.add(c, false)
	c.Flags().StringVar(&inputs, "inputs", "", "samples (.npz)")
	c.Flags().IntVar(&samples, "samples", 0, "run only the first N samples; 0: all")
	c.Flags().BoolVar(&channels, "channels", false, "print a row for each channel too")
	c.Flags().StringVar(&html, "html", "", "write a page with plots into this file")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkStudy(c, samples, html); err != nil {
			return err
		}
		s.source.Arrays = inputs
		source, err := s.of(a, args[0])
		if err != nil {
			return err
		}
		p := progress{app: a}
		defer p.finish()
		p.Report("import", 0, 0)
		g, err := source.Import()
		if err != nil {
			return err
		}
		file, err := npz.Read(inputs)
		if err != nil {
			return err
		}
		p.Report("run", 0, 0)
		r, err := choose.NewProfile(c.Context(), source.Model, g, file, samples, source.Passes)
		p.finish()
		if err != nil {
			return err
		}
		if err := a.table(r.Table(channels)); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "\n%s\n", counted(r.Samples, "sample"))
		if err := a.writePage(html, r.Page(Version)); err != nil {
			return err
		}
		return a.writeJSON(r)
	}
	return a.withJSON(c)
}

// checkStudy refuses wrong flags of commands that measure on samples, before the work; files may be empty.
func checkStudy(c *cobra.Command, samples int, files ...string) error {
	if err := required(c, "inputs"); err != nil {
		return err
	}
	if samples < 0 {
		return usagef("--samples %d: 0 for all, or the number of samples to run", samples)
	}
	for _, f := range files {
		if err := writable(f, diag.FileWrite); err != nil {
			return err
		}
	}
	return nil
}

// writePage writes a page of measurements, if path names a file.
func (a *App) writePage(path string, s *report.Measurements) error {
	if path == "" {
		return nil
	}
	page, err := s.HTML()
	if err != nil {
		return diag.New(diag.UnitFault, path, "cannot print the page: %v", err)
	}
	if err := writeFile(path, page); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "wrote %s\n", path)
	return nil
}
