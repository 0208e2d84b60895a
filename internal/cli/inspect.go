// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/survey"
	"lathe/ir/text"
	"lathe/lower/float"
	"lathe/lower/pass"
	"lathe/train"
	"lathe/train/model"
)

// graphFacts is what inspect tells.
type graphFacts struct {
	*survey.Graph
	File *fileFacts `json:"file,omitempty"`
	// Recognized is what --recognize has found.
	Recognized []found `json:"recognized,omitempty"`
	// NoHardware names the nodes that emit-verilog will refuse for their operation, or because their value is read twice.
	NoHardware []string `json:"no_hardware,omitempty"`
	// Ends say where the hardware of a classifier ends, and what it leaves out.
	Ends []string `json:"hardware_ends,omitempty"`
	// Training is what the plan trains, where one is given.
	Training *train.Counted `json:"training,omitempty"`
	// ZeroWeights counts the weights of each layer that are zero.
	ZeroWeights []zeros `json:"zero_weights,omitempty"`
}

// fileFacts is what the model file holds beside the graph.
type fileFacts struct {
	Format   string     `json:"format"`
	Producer string     `json:"producer,omitempty"`
	Dropouts int        `json:"dropouts_left_out"`
	Shadowed []string   `json:"inputs_with_a_value,omitempty"`
	Renamed  []renaming `json:"renamed,omitempty"`
	Notes    []string   `json:"notes,omitempty"`
}

type renaming struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// inspectFlags say what inspect shows.
type inspectFlags struct {
	svg          string
	asText, tree bool
	depth        int
	recognize    bool
	cost         bool
}

func (a *App) inspect() *cobra.Command {
	var s sourceFlags
	var f inspectFlags
	c := &cobra.Command{Use: "inspect MODEL", Short: "show nodes, modules, shapes, formats, parameters and MACs",
		Long: "Lists the nodes of a model, or with --tree its modules. Parameters are what is trained; shared bytes count\n" +
			"once. Running statistics, tables and masks are buffers. ONNX and StableHLO do not say what is trained:\n" +
			"docs/models.md has the rules. MACs are the multiplications of linear layers, convolutions, matrix products\n" +
			"and attention, per sample. With --cost it lists the units of the hardware that a plan makes of the model, and\n" +
			"what they are predicted to take, before any synthesis.",
		Example: "  lathe inspect model.onnx --tree --depth 3\n  lathe inspect model.onnx --cost --plan plan.toml",
		Args:    exactly("MODEL")}
	s.add(c, false)
	f.add(c)
	c.Flags().StringVar(&s.source.Calibrate, "calibrate", "", "calibration inputs (.npz) for --cost")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.check(c); err != nil {
			return err
		}
		source, err := s.of(a, args[0])
		if err != nil {
			return err
		}
		p := progress{app: a}
		defer p.finish()
		if f.cost {
			return a.inspectCost(c.Context(), source, &p)
		}
		p.Report("import", 0, 0)
		g, err := source.Import()
		if err != nil {
			return err
		}
		var report *float.Report
		if f.recognize {
			p.Report("recognize", 0, 0)
			if g, report, err = source.Recognize(c.Context(), g); err != nil {
				return err
			}
		}
		if err := drawGraph(c.Context(), g, f.svg, &p); err != nil {
			return err
		}
		ended, end, err := float.End(c.Context(), g, source.Outputs != nil, pass.Options{})
		if err != nil {
			return err
		}
		lacking, err := lackingHardware(c.Context(), ended)
		p.finish()
		if err != nil {
			return err
		}
		trained, err := countTrained(source, ended)
		if err != nil {
			return err
		}
		return a.show(g, lacking, end.Notes, f, report, trained)
	}
	return a.withJSON(c)
}

func (f *inspectFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.svg, "svg", "", "draw the graph into this file, as PDF where it ends in .pdf")
	c.Flags().BoolVar(&f.asText, "text", false, "print the graph in its text form")
	c.Flags().BoolVar(&f.tree, "tree", false, "print the modules of the model and their contents")
	c.Flags().IntVar(&f.depth, "depth", 0, "levels of modules that --tree prints; 0: all")
	c.Flags().BoolVar(&f.recognize, "recognize", false,
		"merge operations that exporters have decomposed, and report what was found")
	c.Flags().BoolVar(&f.cost, "cost", false, "print the units of the hardware and what they are predicted to take")
}

// countTrained says what the plan trains of a float graph; nil where it neither adapts nor freezes, and of others.
func countTrained(s driver.Source, g *ir.Graph) (*train.Counted, error) {
	if s.Plan == "" || g.Stage != ir.StageFloat {
		return nil, nil
	}
	p, err := s.ReadPlan()
	if err != nil || p.LoRA.Rank == 0 && len(p.Train.Freeze) == 0 {
		return nil, err
	}
	m, err := model.Float(g)
	if err != nil {
		return nil, err
	}
	return train.Count(m, &p.Train, &p.LoRA)
}

// printTraining prints what the plan trains.
func (a *App) printTraining(c *train.Counted) {
	if c == nil {
		return
	}
	fmt.Fprintf(a.Out, "training under the plan: %s", counted(c.Trained, "parameter"))
	if c.Adapters > 0 {
		fmt.Fprintf(a.Out, ", those of %s included", counted(c.Adapters, "adapter"))
	}
	fmt.Fprintf(a.Out, "; frozen: %d of %d of the model\n", c.Frozen, c.All)
}

// check refuses flags that contradict each other.
func (f *inspectFlags) check(c *cobra.Command) error {
	switch set := c.Flags().Changed; {
	case set("depth") && (!f.tree || f.depth < 1):
		return usagef("--depth needs --tree and a number from 1 on")
	case f.tree && f.asText:
		return usagef("--tree and --text are two views: choose one")
	case f.cost && (f.tree || f.asText || f.recognize || f.svg != ""):
		return usagef("--cost is a view of its own: leave out --tree, --text, --svg and --recognize")
	case set("calibrate") && !f.cost:
		return usagef("--calibrate needs --cost")
	}
	return writable(f.svg, diag.FileWrite)
}

// drawGraph draws a graph into a file, if path names one.
func drawGraph(ctx context.Context, g *ir.Graph, path string, p *progress) error {
	if path == "" {
		return nil
	}
	p.Report("draw", 0, 0)
	picture, err := text.SVG(ctx, g)
	if err != nil {
		return err
	}
	return writePicture(path, picture)
}

// show prints the view of a graph that the flags ask for, and all facts as JSON. lacking are nodes without hardware;
// notes say what is left out of it; r is nil without --recognize, trained without a plan.
func (a *App) show(g *ir.Graph, lacking, notes []string, f inspectFlags, r *float.Report,
	trained *train.Counted) error {
	facts, err := factsOf(g)
	if err != nil {
		return err
	}
	facts.NoHardware, facts.Ends = lacking, notes
	facts.Recognized, facts.Training = foundFacts(r), trained
	switch {
	case f.asText:
		fmt.Fprint(a.Out, text.Print(g))
		return a.writeJSON(facts)
	case f.tree:
		err = a.printTree(facts.Modules, f.depth)
	default:
		err = a.printNodes(facts.Nodes)
	}
	if err != nil {
		return err
	}
	if !f.tree && len(facts.NoHardware) > 0 {
		fmt.Fprintf(a.Out, "\nno hardware in this version: %s\n", some(facts.NoHardware))
	}
	for _, text := range notes {
		fmt.Fprintf(a.Out, "\n%s\n", text)
	}
	a.printTotals(facts)
	a.printZeros(facts.ZeroWeights)
	a.printTraining(trained)
	a.printFound(facts.Recognized, r)
	return a.writeJSON(facts)
}

func factsOf(g *ir.Graph) (graphFacts, error) {
	zeros, err := zeroWeights(g)
	return graphFacts{Graph: survey.Of(g), File: factsOfFile(g.Origin), NoHardware: withoutHardware(g),
		ZeroWeights: zeros}, err
}

func factsOfFile(o *ir.Origin) *fileFacts {
	if o == nil {
		return nil
	}
	f := &fileFacts{Format: o.Format, Producer: o.Producer, Dropouts: o.Dropouts, Shadowed: o.Shadowed,
		Notes: slices.Concat(o.Notes, o.Warnings)}
	for _, r := range o.Renamed {
		f.Renamed = append(f.Renamed, renaming(r))
	}
	return f
}

// lackingHardware names nodes for which lowering finds no unit. A graph that it cannot take is told as it is.
func lackingHardware(ctx context.Context, g *ir.Graph) ([]string, error) {
	if len(withoutHardware(g)) == 0 {
		return nil, nil
	}
	units, err := float.Units(ctx, g)
	if err != nil {
		return withoutHardware(g), ctx.Err()
	}
	return withoutHardware(units), nil
}

// withoutHardware names nodes whose operation has no unit.
func withoutHardware(g *ir.Graph) []string {
	var names []string
	for _, n := range g.Nodes {
		streams := slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return !a.IsConst() })
		if streams && !op.HasHardware(n.Op) {
			names = append(names, fmt.Sprintf("%s (%s)", n.Name, n.Op.Name))
		}
	}
	return names
}

func (a *App) printNodes(nodes []survey.Node) error {
	rows := [][]string{{"node", "op", "shape", "format", "parameters", "MACs", "source"}}
	for _, n := range nodes {
		rows = append(rows, []string{n.Name, n.Op, ir.ShapeString(n.Shape), n.Format, unlessZero(n.Params),
			unlessZero(n.MACs), n.Source})
	}
	return a.table(rows)
}

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// counted is a number of things in words: "1 node", "2 nodes", "2 launches".
func counted(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "ch"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
