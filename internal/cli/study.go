// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lathe/emit/plot"
	"lathe/emit/report"
	"lathe/internal/choose"
	"lathe/internal/driver"
	"lathe/lower/plan"
)

// studyFlags are the flags of commands that measure plans on samples.
type studyFlags struct {
	sourceFlags
	data           driver.Data
	formats        string
	csv, svg, html string
	parts          []string
	metric         metricFlags
	x, y           string
	view           plot.View
	prices         []float64 // of digits
}

// addPrices declares --digit-prices.
func (f *studyFlags) addPrices(c *cobra.Command, about string) {
	c.Flags().Float64SliceVar(&f.prices, "digit-prices", nil,
		"also round weights by digits, at each of these prices of a digit, 0 to 1 (1e-5,1e-4,1e-3"+about+")")
}

// add declares them; formats is the default of --formats, choices are those of a plan that the command has, or all.
func (f *studyFlags) add(c *cobra.Command, formats string, choices ...string) {
	f.sourceFlags.add(c, true)
	c.Flags().Lookup("calibrate").Usage = "calibration inputs (.npz); without them: those of --inputs"
	f.choices.add(c, choices...)
	c.Flags().StringVar(&f.data.Inputs, "inputs", "",
		"samples (.npz), which also calibrate unless --calibrate names others")
	c.Flags().StringVar(&f.data.Labels, "labels", "",
		"class numbers of the samples (.npy), for accuracy; without them SQNR only")
	f.metric.add(c)
	c.Flags().StringVar(&f.formats, "formats", formats, "formats to try: fixed(4),mxint8; fixed(4..8) stands for five")
	c.Flags().StringSliceVar(&f.parts, "parts", []string{"weight", "data"}, "what gets the format: weight, data or both")
	c.Flags().IntVar(&f.data.Most, "samples", 0, "run only the first N samples; 0: all")
	c.Flags().StringVar(&f.csv, "csv", "", "write the table into this file")
	c.Flags().StringVar(&f.svg, "svg", "", "draw the plot into this file, as PDF where it ends in .pdf")
	c.Flags().StringVar(&f.x, "x", "", xUsage)
	c.Flags().StringVar(&f.y, "y", "", yUsage)
	c.Flags().StringVar(&f.html, "html", "", "write a page with plots into this file")
}

// check refuses wrong flags before the work, and reads formats and parts.
func (f *studyFlags) check(c *cobra.Command) (formats []string, parts choose.Parts, err error) {
	if err := checkStudy(c, f.data.Most, f.csv, f.svg, f.html); err != nil {
		return nil, parts, err
	}
	if parts, err = readParts(f.parts); err != nil {
		return nil, parts, err
	}
	for _, price := range f.prices {
		if !(price >= 0 && price <= 1) { // NaN too
			return nil, parts, usagef("--digit-prices %g: prices lie in 0 to 1, such as 1e-5,1e-4,1e-3", price)
		}
	}
	if f.view, err = readView(f.x, f.y); err != nil {
		return nil, parts, err
	}
	if err := f.metric.check(f.data.Labels, f.data.Inputs, "--inputs"); err != nil {
		return nil, parts, err
	}
	formats, err = plan.ParseFormats(f.formats)
	return formats, parts, err
}

// readParts reads --parts.
func readParts(list []string) (parts choose.Parts, err error) {
	for _, part := range list {
		if err := oneOf("--parts", part, "weight", "data"); err != nil {
			return parts, err
		}
		parts.Weight, parts.Data = parts.Weight || part == "weight", parts.Data || part == "data"
	}
	if parts == (choose.Parts{}) {
		return parts, usagef("--parts names nothing: weight, data or both")
	}
	return parts, nil
}

// study imports the model and evaluates it in float.
func (a *App) study(ctx context.Context, f *studyFlags, model string, p *progress) (*choose.Meter, error) {
	f.source.Arrays = f.data.Inputs
	source, err := f.of(a, model)
	if err != nil {
		return nil, err
	}
	p.Report("import", 0, 0)
	g, err := source.Import()
	if err != nil {
		return nil, err
	}
	if f.data.Metric, err = f.metric.of(a, f.data.Labels); err != nil {
		return nil, err
	}
	p.Report("float model", 0, 0)
	subject, err := source.Subject(ctx, g, f.data)
	if err != nil {
		return nil, err
	}
	return choose.NewMeter(ctx, subject)
}

// runStudy makes a study of the model and runs it, with progress until it ends.
func runStudy[R any](a *App, c *cobra.Command, f *studyFlags, model string,
	run func(*choose.Meter, driver.Progress) (R, error)) (study *choose.Meter, outcome R, err error) {
	p := progress{app: a}
	defer p.finish()
	if study, err = a.study(c.Context(), f, model, &p); err != nil {
		return nil, outcome, err
	}
	outcome, err = run(study, p.Report)
	return study, outcome, err
}

// measured is the outcome of a study.
type measured interface {
	Plots(plot.View) [][]byte
	Page(version string, facts []string, view plot.View) *report.Measurements
}

// printFacts says what figures were measured on.
func (a *App) printFacts(s *choose.Meter) {
	fmt.Fprintln(a.Out)
	for _, line := range s.Facts() {
		fmt.Fprintln(a.Out, line)
	}
}

// writeStudy writes an outcome and its table into the files that are named for it: table, plot, page and facts.
func (a *App) writeStudy(f *studyFlags, s *choose.Meter, r measured, table [][]string) error {
	for _, file := range []struct {
		path  string
		data  []byte
		write func(path string, data []byte) error
	}{{f.csv, choose.CSV(table), writeFile}, {f.svg, r.Plots(f.view)[0], writePicture}} {
		if file.path == "" {
			continue
		}
		if err := file.write(file.path, file.data); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "wrote %s\n", file.path)
	}
	if err := a.writePage(f.html, r.Page(Version, s.Facts(), f.view)); err != nil {
		return err
	}
	return a.writeJSON(r)
}
