// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe/emit/report"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/lower/quantize"
	"lathe/sim/area"
	"lathe/sim/route"
)

func (a *App) report() *cobra.Command {
	var v verifyFlags
	var out, title, routed string
	var top int
	c := &cobra.Command{Use: "report MODEL -o report.html", Short: "measure a design and write one page about it",
		Long: "Does what verify and area do, and writes one self-contained HTML page: speed, cells, accuracy, formats,\n" +
			"ranges, errors and cycles of each layer, and what was compared. The page names what could not be measured\n" +
			"for lack of a tool. Exit status 1 on a mismatch; the page is still written.",
		Example: "  lathe report model.onnx --calibrate c.npz --inputs x.npz --labels y.npy -o report.html",
		Args:    exactly("MODEL")}
	v.add(c, true)
	v.choices.add(c)
	v.addSamples(c)
	c.Flags().StringVarP(&out, "output", "o", "", "file for the page (HTML)")
	c.Flags().StringVar(&title, "title", "", "headline; default: the name of the graph")
	c.Flags().StringVar(&routed, "routed", "",
		"folder of the design, routed by lathe route: the page then shows rates at its clock")
	c.Flags().IntVar(&top, "top", 0, "print the N costliest layers, with all that the page says of them")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := required(c, "output"); err != nil {
			return err
		}
		if top < 0 {
			return usagef("--top %d: a number of layers is 0 or more", top)
		}
		if err := writable(out, diag.FileWrite); err != nil {
			return err
		}
		return a.reportModel(c, &v, args[0], reported{out, title, routed, top})
	}
	return a.withJSON(c)
}

// reported says what becomes of a report: the file of the page, its title, a routed folder, and how many layers of the
// page are printed too.
type reported struct {
	out, title, routed string
	top                int
}

func (a *App) reportModel(c *cobra.Command, v *verifyFlags, model string, r reported) error {
	if err := v.check(); err != nil {
		return err
	}
	v.source.Errors, v.source.Arrays = quantize.Alone, v.inputs
	p := progress{app: a}
	defer p.finish()
	job, _, err := a.job(c, v, model, &p)
	if err != nil {
		return err
	}
	var clock *route.Report
	if r.routed != "" {
		if clock, err = job.HW.Routed(r.routed); err != nil {
			return err
		}
	}
	m, err := a.measure(c.Context(), job, &p)
	if err != nil {
		return err
	}
	m.Routed, m.Metric = clock, job.Metric
	m.Precision, m.Widths, err = v.source.Precision(c.Context(), job.HW.Float, job.Labels, job.Metric, p.Report)
	p.finish()
	if err != nil {
		return err
	}
	facts, err := job.HW.Report(c.Context(), model, *m)
	if err != nil {
		return err
	}
	facts.Title = r.title
	page, err := report.HTML(facts)
	if err != nil {
		return diag.New(diag.UnitFault, model, "cannot print the report: %v", err)
	}
	if err := writeFile(r.out, page); err != nil {
		return err
	}
	if err := a.printMeasured(job.HW, m, facts); err != nil {
		return err
	}
	if r.top > 0 {
		fmt.Fprintln(a.Out)
		if err := a.table(facts.Costliest(r.top)); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.Out, "wrote %s\n", r.out)
	for _, line := range m.Missing {
		fmt.Fprintf(a.Err, "note: not measured: %s\n", line)
	}
	if err := a.writeJSON(facts); err != nil {
		return err
	}
	return a.passed(m.Check)
}

// passed says what a check has found to be wrong; nil is no check.
func (a *App) passed(c *driver.Check) error {
	switch {
	case c == nil:
		return nil
	case c.Missed != "":
		fmt.Fprintf(a.Err, "rate missed: %s\n", c.Missed)
	case c.Mismatches > 0:
		fmt.Fprintf(a.Err, "%d mismatches: lathe verify names them\n", c.Mismatches)
	default:
		return nil
	}
	return errNo
}

// printMeasured says on the terminal what matters most of the page.
func (a *App) printMeasured(hw *driver.Hardware, m *driver.Measured, r *report.Report) error {
	if m.Check != nil {
		if err := a.printCheck(m.Check); err != nil {
			return err
		}
	}
	ii := r.Speed.Interval
	if r.Speed.MeasuredII != nil {
		ii = *r.Speed.MeasuredII
	}
	clock, at := hw.Plan.Target.ClockMHz, "the wished clock of %s MHz (not measured)"
	if r.Routed != nil {
		clock, at = r.Routed.MHz, "%s MHz, routed: "+r.Routed.Device+", by timing analysis, which "+r.Routed.Verdict
	}
	rows := [][]string{{"rate", fmt.Sprintf("%s cycles a %s, set by %s; %s %ss/s at "+at, diag.Number(ii, 10), r.Frame(),
		r.Speed.Bottleneck, diag.Number(clock*1e6/ii, 6), r.Frame(), diag.Number(clock, 6))}}
	if r.Area != nil {
		c := r.Area.Total
		rows = append(rows, []string{"cells", fmt.Sprintf("%d LUT, %d FF, %d DSP, %g block RAM (%s)", c.LUT, c.FF, c.DSP,
			c.BRAM, r.Area.Tool)})
	}
	for _, p := range m.Precision {
		var has []string
		if p.Accuracy != nil {
			has = append(has, fmt.Sprintf("accuracy %.4f", *p.Accuracy))
		}
		if p.Score != nil {
			has = append(has, fmt.Sprintf("%s %.4g", r.Metric, *p.Score))
		}
		if p.SQNR != nil {
			has = append(has, fmt.Sprintf("%.1f dB", *p.SQNR))
		}
		rows = append(rows, []string{counted(p.Bits, "bit"), strings.Join(has, ", ")})
	}
	fmt.Fprintln(a.Out)
	if err := a.table(rows); err != nil || len(m.Precision) == 0 {
		return err
	}
	_, err := fmt.Fprintf(a.Out, "bits: of data and weights, on %s\n", m.Widths)
	return err
}

// measure verifies and counts, as far as the tools are there.
func (a *App) measure(ctx context.Context, job *driver.Job, p *progress) (*driver.Measured, error) {
	var m driver.Measured
	engines := driver.Engines{Cache: a.Env.Cache, PJRT: a.Env.pjrtConfig(), Now: time.Now}
	check, err := engines.Verify(ctx, *job)
	if diag.CodeOf(err) == diag.PJRTPlugin {
		m.Missing = append(m.Missing, "Equality with XLA: "+firstLine(err.Error()))
		engines.NoPJRT = true
		check, err = engines.Verify(ctx, *job)
	}
	switch {
	case err == nil:
		m.Check = check
	case absent(err):
		m.Missing = append(m.Missing, "Speed, accuracy and equality of the engines: "+firstLine(err.Error()))
	default:
		return nil, err
	}
	if m.Area, err = countCells(ctx, job.HW, p); err != nil {
		if !absent(err) && diag.CodeOf(err) != diag.YosysTimeout {
			return nil, err
		}
		m.Missing = append(m.Missing, "Area: "+firstLine(err.Error()))
	}
	return &m, nil
}

// absent says that an error is that of a tool which is not on this machine.
func absent(err error) bool {
	return diag.CodeOf(err) == diag.NoSimulator || diag.CodeOf(err) == diag.NoYosys
}

// countCells counts the cells of a design with Yosys.
func countCells(ctx context.Context, hw *driver.Hardware, p *progress) (r *area.Report, err error) {
	dir, err := atomicfile.Folder("", "lathe-report-*")
	if err != nil {
		return nil, diag.New(diag.DesignWrite, "", "cannot write the design: %v", reason(err))
	}
	defer func() { err = errors.Join(err, atomicfile.Remove(dir)) }()
	folder := filepath.Join(dir, "design")
	if err := driver.Write(hw.Design, folder); err != nil {
		return nil, err
	}
	return area.Count(ctx, folder, hw.Design.Sources(), hw.Design.Top, area.Options{
		Device: &hw.Plan.Target.FPGA, Progress: p.yosys()})
}
