// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir/text"
	"lathe/lower"
	"lathe/lower/quantize"
	"lathe/lower/quantize/loss"
)

func (a *App) quantize() *cobra.Command {
	var s sourceFlags
	var f quantizeFiles
	var metric metricFlags
	var explain, tune bool
	var limit time.Duration
	c := &cobra.Command{Use: "quantize MODEL -o M.lathe", Short: "turn a model into integers and save it",
		Long: "Quantizes a model, saves it, and prints each node's error against the float model. The saved graph works\n" +
			"with every command in place of the model.",
		Example: "  lathe quantize model.onnx --calibrate x.npz -o m.lathe --explain", Args: exactly("MODEL")}
	s.add(c, true)
	s.page.add(c)
	s.choices.add(c, "bits", "round-weights", "digit-price", "correct-bias", "equalize", "smooth", "ranges", "wide")
	c.Flags().StringVarP(&f.graph, "output", "o", "", "file for the quantized graph (.lathe)")
	c.Flags().StringVar(&f.labels, "labels", "",
		"class numbers of the samples of --calibrate (.npy), for accuracy and as --calibrate-labels")
	metric.add(c)
	c.Flags().StringVar(&f.plan, "write-plan", "",
		"write the plan with all formats that were chosen into this file (TOML)")
	c.Flags().BoolVar(&explain, "explain", false, "print what decided each format, and the error of each node alone")
	addTune(c, &tune, &limit)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := required(c, "output"); err != nil {
			return err
		}
		if err := namesGraph(f.graph); err != nil {
			return err
		}
		if err := metric.check(f.labels, s.source.Calibrate, "--calibrate"); err != nil {
			return err
		}
		if err := cmp.Or(writable(f.graph, diag.GraphFile), writable(f.plan, diag.FileWrite)); err != nil {
			return err
		}
		on := judged{inputs: s.source.Calibrate, labels: f.labels, time: limit}
		var err error
		if on.metric, err = metric.of(a, f.labels); err != nil {
			return err
		}
		return a.quantizeModel(c.Context(), s, args[0], f, on, explain, tune)
	}
	return a.withJSON(c)
}

// namesGraph refuses a name for a saved graph that is that of a model in another format.
func namesGraph(out string) error {
	switch ext := strings.ToLower(filepath.Ext(out)); ext {
	case ".onnx", ".pt2", ".mlir", ".stablehlo":
		err := diag.New(diag.Usage, "", "-o %s: the saved graph is not a %s file", out, ext)
		return &usageError{err.WithHint("-o %s", strings.TrimSuffix(out, filepath.Ext(out))+".lathe")}
	}
	return nil
}

// quantizeFiles are the files of quantize beside the model: graph and plan that it writes, and labels that it reads.
type quantizeFiles struct{ graph, plan, labels string }

// write saves the graph, and the plan with all formats.
func (f *quantizeFiles) write(q *driver.Quantized, model string) error {
	if err := text.Save(f.graph, q.Graph); err != nil || f.plan == "" {
		return err
	}
	return writeFile(f.plan, []byte(lower.PlanText(q.Plan, filepath.Base(model), q.Graph, q.Report, nil)))
}

// quantizeModel quantizes a model, saves it and prints its errors.
func (a *App) quantizeModel(ctx context.Context, s sourceFlags, model string, f quantizeFiles, on judged,
	explain, tune bool) error {
	source, err := s.of(a, model)
	if err != nil {
		return err
	}
	if on.metric == nil { // of another metric they may be no classes
		source.Labels = cmp.Or(source.Labels, f.labels)
	}
	p := progress{app: a}
	defer p.finish()
	if on.tuned = tune; tune {
		if source, err = a.tuned(ctx, source, on, &p); err != nil {
			return err
		}
	}
	if explain {
		source.Errors = quantize.Alone
	}
	q, err := a.quantized(ctx, source, &p)
	if err != nil {
		return err
	}
	if q.Report == nil {
		return diag.New(diag.AlreadyQuantized, model, "the graph is quantized already")
	}
	if err := s.page.write(q, q.Graph); err != nil {
		return err
	}
	right, err := q.Right(ctx, on.inputs, on.labels, on.metric)
	if err != nil {
		return err
	}
	if err := f.write(q, model); err != nil {
		return err
	}
	if err := a.printErrors(q.Report, explain); err != nil {
		return err
	}
	if explain {
		if err := a.printSlots(q.Report); err != nil {
			return err
		}
	}
	facts := rightly(right, quantizeFacts(q.Report))
	a.printRightness(&right)
	if lost(outputRatios(q.Report), right) {
		if facts["remedies"], err = a.remedies(ctx, source, q, on, &p); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.Out, "\nsaved %s\n", f.graph)
	if f.plan != "" {
		fmt.Fprintf(a.Out, "wrote %s\n", f.plan)
		facts["plan"] = f.plan
	}
	facts["model"], facts["output"] = model, f.graph
	return a.writeJSON(facts)
}

// printErrors prints the error of each node against the float model, accumulated from the inputs on, and on request
// also what the node adds by itself.
func (a *App) printErrors(r *quantize.Report, alone bool) error {
	head := []string{"node", "op", "format", "SQNR dB", "max error"}
	if alone {
		head = append(head, "alone dB", "alone max")
	}
	rows := [][]string{append(head, "peak", "source")}
	for _, n := range r.Nodes {
		row := []string{n.Name, n.Op, n.Format, decibel(n.SQNR), diag.Number(n.MaxErr, 3)}
		switch {
		case alone && n.Alone == nil:
			row = append(row, "-", "-")
		case alone:
			row = append(row, decibel(n.Alone.SQNR), diag.Number(n.Alone.MaxErr, 3))
		}
		rows = append(rows, append(row, diag.Number(n.Peak, 3), n.Pos))
	}
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	for _, o := range r.Outputs {
		if o.Place {
			all := ""
			if o.MaxErr > 0 {
				all = "not all "
			}
			fmt.Fprintf(a.Out, "output %s: numbers of classes, %sthose of the float model over %d samples\n", o.Name, all,
				r.Samples)
			continue
		}
		fmt.Fprintf(a.Out, "output %s: %s, max error %s over %d samples\n", o.Name, ratio(o.SQNR),
			diag.Number(o.MaxErr, 3), r.Samples)
		if o.SQNR < driver.LowSQNR && len(r.Warnings) == 0 {
			fmt.Fprintf(a.Err, "warning: output %s keeps only %s dB; the table shows where it is lost\n", o.Name,
				decibel(o.SQNR))
		}
	}
	return nil
}

// printSlots prints which rule decided each format.
func (a *App) printSlots(r *quantize.Report) error {
	rows := [][]string{{"node", "slot", "format", "decided by"}}
	for _, s := range r.Slots {
		rows = append(rows, []string{s.Node, s.Slot, s.Format, s.From})
	}
	fmt.Fprintln(a.Out)
	return a.table(rows)
}

// decibel prints a ratio; no error at all is exact.
func decibel(v float64) string {
	if math.IsInf(v, 1) {
		return "exact"
	}
	return fmt.Sprintf("%.1f", v)
}

// ratio is decibel in a sentence.
func ratio(v float64) string {
	if math.IsInf(v, 1) {
		return "SQNR exact"
	}
	return "SQNR " + decibel(v) + " dB"
}

// errorFacts is an error for programs: JSON has no infinity, so an exact value has no sqnr_db.
type errorFacts struct {
	SQNR   *float64 `json:"sqnr_db,omitempty"`
	MaxErr float64  `json:"max_error"`
}

// valueFacts is the error of a value, accumulated, and alone where it was measured.
type valueFacts struct {
	Name   string `json:"name"`
	Op     string `json:"op,omitempty"`
	Format string `json:"format"`
	errorFacts
	Alone  *errorFacts `json:"alone,omitempty"`
	Peak   float64     `json:"peak"`
	Source string      `json:"source,omitempty"`
}

func newErrorFacts(sqnr, most float64) errorFacts {
	f := errorFacts{MaxErr: most}
	if !math.IsInf(sqnr, 0) && !math.IsNaN(sqnr) {
		f.SQNR = &sqnr
	}
	return f
}

func quantizeFacts(r *quantize.Report) map[string]any {
	list := func(values []loss.Value) []valueFacts {
		var out []valueFacts
		for _, v := range values {
			f := valueFacts{Name: v.Name, Op: v.Op, Format: v.Format, errorFacts: newErrorFacts(v.SQNR, v.MaxErr),
				Peak: v.Peak, Source: v.Pos}
			if v.Alone != nil {
				alone := newErrorFacts(v.Alone.SQNR, v.Alone.MaxErr)
				f.Alone = &alone
			}
			out = append(out, f)
		}
		return out
	}
	return map[string]any{"samples": r.Samples, "nodes": list(r.Nodes), "outputs": list(r.Outputs), "slots": r.Slots,
		"notes": r.Notes, "warnings": r.Warnings}
}
