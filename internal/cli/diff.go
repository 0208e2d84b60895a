// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/survey/diff"
	"lathe/lower/float"
	"lathe/lower/pass"
)

func (a *App) diff() *cobra.Command {
	var s sourceFlags
	var o diff.Options
	var whole bool
	c := &cobra.Command{Use: "diff A B", Short: "compare two models: nodes, attributes, weights",
		Long: "Compares two models of any form. Nodes match by name where the operation is the same, else by their\n" +
			"place in the graph. Exit status 0: same, 1: different. Different names alone count only with --names.",
		Example: "  lathe diff model.onnx model.pt2", Args: exactly("A", "B")}
	s.add(c, false)
	c.Flags().Float64Var(&o.Tolerance, "atol", 0, "tolerance when comparing weights")
	c.Flags().BoolVar(&o.Names, "names", false, "count different names of nodes, inputs and outputs too")
	c.Flags().BoolVar(&whole, "recognize", false,
		"first merge operations that an exporter has decomposed")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !(o.Tolerance >= 0) {
			return usagef("--atol %g: a tolerance is 0 or more", o.Tolerance)
		}
		var g [2]*ir.Graph
		p := progress{app: a}
		defer p.finish()
		for i, path := range args {
			p.Report("import "+path, 0, 0)
			source, err := s.of(a, path)
			if err != nil {
				return err
			}
			if !isFolder(path) && isFolder(args[1-i]) { // they are for the other one
				source.Transformer = driver.Source{}.Transformer
			}
			if g[i], err = source.Import(); err != nil {
				return err
			}
			if whole && g[i].Stage == ir.StageFloat {
				if g[i], _, err = float.Recognize(c.Context(), g[i], pass.Options{}); err != nil {
					return err
				}
			}
		}
		p.Report("compare", 0, 0)
		r, err := diff.Of(g[0], g[1], o)
		p.finish()
		if err != nil {
			return err
		}
		if err := a.printDiff(r, o.Names); err != nil {
			return err
		}
		if err := a.writeJSON(r); err != nil || r.Same {
			return err
		}
		what := fmt.Sprintf("%d removed, %d added, %d changed, %d with other values", len(r.Removed), len(r.Added),
			len(r.Changed), len(r.Weights))
		if o.Names {
			what += fmt.Sprintf(", %d with other names", len(r.Renamed)+len(r.Outputs))
		}
		return diag.New(diag.ModelsDiffer, args[1], "differs from %s: %s", args[0], what)
	}
	return a.withJSON(c)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// printDiff prints a line for each thing that differs: - only A has it, + only B, ~ both.
func (a *App) printDiff(r *diff.Result, names bool) error {
	var rows [][]string
	for _, list := range []struct {
		mark  string
		items []diff.Item
	}{{"-", r.Removed}, {"+", r.Added}} {
		for _, n := range list.items {
			rows = append(rows, []string{list.mark, n.Name, n.Op, n.Type})
		}
	}
	for _, c := range r.Changed {
		var parts []string
		for _, d := range c.Aspects {
			parts = append(parts, fmt.Sprintf("%s %s -> %s", d.What, d.A, d.B))
		}
		rows = append(rows, []string{"~", both(c.Names), c.Op, strings.Join(parts, "; ")})
	}
	for _, w := range r.Weights {
		rows = append(rows, []string{"~", both(w.Names), "const", weightText(w)})
	}
	if names {
		for _, n := range r.Renamed {
			rows = append(rows, []string{"~", both(n), "name"})
		}
		for _, n := range r.Outputs {
			rows = append(rows, []string{"~", both(n), "name of the output"})
		}
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if len(rows) > 0 {
		fmt.Fprintln(a.Out)
	}
	fmt.Fprintf(a.Out, "in common: %s", counted(r.Matched, "node"))
	if len(r.Renamed) > 0 {
		fmt.Fprintf(a.Out, ", %d under other names", len(r.Renamed))
	}
	_, err := fmt.Fprintf(a.Out, "; %s with the same values, %d of them byte for byte\n", counted(r.Equal, "constant"),
		r.Bytes)
	return err
}

func both(n diff.Names) string {
	if n.A == n.B {
		return n.A
	}
	return n.A + " = " + n.B
}

func weightText(w diff.Weight) string {
	if w.Elements == 0 {
		return w.TypeA + " -> " + w.TypeB
	}
	most := fmt.Sprintf("by up to %s, the greatest magnitude is %s", diag.Number(w.MaxDiff, 3), diag.Number(w.Peak, 3))
	if w.MaxDiff < 0 {
		most = "by up to infinity or NaN"
	}
	percent := 100 * float64(w.Count) / float64(w.Elements)
	return fmt.Sprintf("%d of %d elements differ (%.3g%%), %s", w.Count, w.Elements, math.Max(percent, 0), most)
}
