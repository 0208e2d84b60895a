// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lathe/cuda/catalogue"
	"lathe/emit/cuda"
	"lathe/internal/diag"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/target"
	"lathe/lower/float"
	"lathe/lower/kernels"
	"lathe/lower/pass"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
	"lathe/rtl"
)

// listing is one thing that can be listed: rows of cells, the first row being the heading.
type listing struct {
	name string
	rows func() ([][]string, error)
}

var listings = []listing{
	{"ops", listOps}, {"formats", listFormats}, {"passes", listPasses}, {"targets", listTargets}, {"rtl", listRTL},
	{"cuda", listKernels},
}

func (a *App) list() *cobra.Command {
	c := &cobra.Command{Use: "list ops|formats|passes|targets|rtl|cuda", Short: "list what this version knows",
		Long: "Lists the operations, number formats, passes, FPGAs, Verilog modules or CUDA kernels of this version.\n" +
			"Plans and --part take each of the FPGAs; the column route says whether open tools place and route designs.\n" +
			"Long cells are cut in the table; --json has them whole.",
		Example: "  lathe list ops", Args: exactly("ops, formats, passes, targets, rtl or cuda")}
	c.RunE = func(_ *cobra.Command, args []string) error {
		var names []string
		for _, l := range listings {
			names = append(names, l.name)
			if l.name != args[0] {
				continue
			}
			rows, err := l.rows()
			if err != nil {
				return err
			}
			if err := a.table(shortened(rows)); err != nil {
				return err
			}
			if l.name == "cuda" {
				fmt.Fprintln(a.Out, "docs/kernels.md has registers on each architecture, floors and times")
			}
			return a.writeJSON(objects(rows))
		}
		err := diag.New(diag.Usage, "", "nothing called %q to list", args[0])
		if near := diag.Nearest(args[0], names); near != "" {
			err = err.WithHint("did you mean %s?", near)
		}
		return &usageError{err}
	}
	return a.withJSON(c)
}

// objects turns a table into one object a row, keyed by the heading; whole numbers become numbers, marks booleans.
func objects(rows [][]string) []map[string]any {
	out := make([]map[string]any, 0, len(rows))
	for _, r := range rows[1:] {
		o := make(map[string]any, len(r))
		for i, cell := range r {
			o[rows[0][i]] = cell
			if n, err := strconv.Atoi(cell); err == nil {
				o[rows[0][i]] = n
			}
			if cell == mark(true) || cell == mark(false) {
				o[rows[0][i]] = cell == mark(true)
			}
		}
		out = append(out, o)
	}
	return out
}

// longest and longestLast bound the characters of a listed cell, and of one in the last column.
const (
	longest     = 48
	longestLast = 120
)

// shortened is a table without the ends of long cells.
func shortened(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = slices.Clone(r)
		for k, cell := range r {
			most := longest
			if k == len(r)-1 {
				most = longestLast
			}
			if text := []rune(cell); len(text) > most {
				out[i][k] = string(text[:most-3]) + "..."
			}
		}
	}
	return out
}

// table prints rows in aligned columns.
func (a *App) table(rows [][]string) error {
	w := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		for i, cell := range r {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, diag.OneLine(cell))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return "-"
}

func listOps() ([][]string, error) {
	rows := [][]string{{"op", "float", "exact", "pjrt", "rtl", "cuda", "meaning"}}
	for _, s := range op.Matrix(cuda.HasKernels) {
		rows = append(rows, []string{s.Name, mark(s.Float), mark(s.Exact), mark(s.HLO), mark(s.RTL), mark(s.CUDA), s.Doc})
	}
	return rows, nil
}

func listFormats() ([][]string, error) {
	rows := [][]string{{"format", "syntax", "bits", "range", "step", "example", "meaning", "values"}}
	for _, f := range format.All() {
		example, err := format.Parse(f.Example)
		if err != nil {
			return nil, err
		}
		facts := format.Describe(example)
		rows = append(rows, []string{f.Name, f.Syntax, facts.Bits, facts.Range, facts.Step, f.Example, f.Doc, facts.Values})
	}
	return rows, nil
}

// pipeline is a list of passes with its name.
type pipeline struct {
	name  string
	steps []pass.Promise
}

func pipelines() []pipeline {
	return []pipeline{{"recognize", float.Recognizing.Promises()}, {"end", float.Ending.Promises()},
		{"lengths", float.Lengths.Promises()}, {"admit", float.Admission.Promises()},
		{"float", float.Pipeline.Promises()},
		{"quantize", quantize.Pipeline.Promises()},
		{"prepare", schedule.Preparation.Promises()}, {"schedule", schedule.Pipeline.Promises()},
		{"complete", schedule.Completion.Promises()},
		{"kernels", kernels.Pipeline.Promises()}}
}

func listPasses() ([][]string, error) {
	rows := [][]string{{"pipeline", "pass", "effect", "meaning"}}
	for _, l := range pipelines() {
		for _, p := range l.steps {
			rows = append(rows, []string{l.name, p.Name, p.Effect.String(), p.Doc})
		}
	}
	return rows, nil
}

func listTargets() ([][]string, error) {
	rows := [][]string{{"part", "family", "route", "lut", "lut_inputs", "ff", "dsp", "bram", "bram_kbit", "uram"}}
	for _, d := range target.All() {
		route := "no"
		if d.Routed() {
			route = "nextpnr"
		}
		row := []string{d.Part, d.Series, route}
		for _, n := range []int{d.LUT, d.Family.Inputs, d.FF, d.DSP, d.BRAM, d.Family.Memory.Kbit, d.URAM} {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func listRTL() ([][]string, error) {
	rows := [][]string{{"module", "family", "latency", "ii", "purpose"}}
	for _, name := range rtl.Modules() {
		h, err := rtl.Lookup(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, []string{h.Name, h.Family, h.Latency.String(), h.II.String(), firstLine(h.Purpose)})
	}
	return rows, nil
}

// listKernels has a row for each kernel of the library that a case runs, and one for each template without.
func listKernels() ([][]string, error) {
	all, err := catalogue.Rows()
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"kernel", "family", "architectures", "registers", "cases", "status", "meaning"}}
	for _, r := range all {
		t := r.Template
		archs := "all"
		if len(t.Archs) > 0 {
			archs = strings.Join(t.Archs, " ")
		}
		for _, k := range r.Kernels {
			rows = append(rows, []string{k.Instance, t.Family, archs, registers(k), strconv.Itoa(k.Cases),
				k.Status(), t.Purpose})
		}
		if len(r.Kernels) == 0 {
			rows = append(rows, []string{t.Name, t.Family, archs, "-", "0", "no case", t.Purpose})
		}
	}
	return rows, nil
}

// registers is the range over the architectures.
func registers(r catalogue.Record) string {
	if len(r.Registers) == 0 {
		return "-"
	}
	least, most := r.Registers[0].Registers, 0
	for _, u := range r.Registers {
		least, most = min(least, u.Registers), max(most, u.Registers)
	}
	if least == most {
		return strconv.Itoa(most)
	}
	return fmt.Sprintf("%d-%d", least, most)
}
