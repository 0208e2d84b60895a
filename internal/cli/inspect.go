// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/text"
)

// nodeFacts is a row of inspect.
type nodeFacts struct {
	Name   string   `json:"name"`
	Op     string   `json:"op"`
	Args   []string `json:"args"`
	Shape  []int    `json:"shape"`
	Format string   `json:"format"`
	Params int      `json:"parameters"`
	Source string   `json:"source"`
}

// graphFacts is what inspect tells.
type graphFacts struct {
	Name    string      `json:"name"`
	Stage   string      `json:"stage"`
	Inputs  []nodeFacts `json:"inputs"`
	Outputs []string    `json:"outputs"`
	Nodes   []nodeFacts `json:"nodes"`
	Params  int         `json:"parameters"`
	// NoHardware names the nodes that emit-verilog will refuse for their operation, or because their value is read twice.
	NoHardware []string `json:"no_hardware,omitempty"`
}

func (a *App) inspect() *cobra.Command {
	var s sourceFlags
	var svg string
	var asText bool
	c := &cobra.Command{Use: "inspect MODEL", Short: "show nodes, shapes, formats, parameters and source positions",
		Example: "  lathe inspect model.onnx --svg graph.svg", Args: exactly("MODEL")}
	s.add(c, false)
	c.Flags().StringVar(&svg, "svg", "", "draw the graph into this file")
	c.Flags().BoolVar(&asText, "text", false, "print the graph in its text form")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := writable(svg, "L0920"); err != nil {
			return err
		}
		source, err := s.of(a, args[0])
		if err != nil {
			return err
		}
		g, err := source.Import()
		if err != nil {
			return err
		}
		if svg != "" {
			picture, err := text.SVG(c.Context(), g)
			if err != nil {
				return err
			}
			if err := writeFile(svg, picture); err != nil {
				return err
			}
		}
		if asText {
			fmt.Fprint(a.Out, text.Print(g))
			return a.writeJSON(describe(g))
		}
		facts := describe(g)
		if err := a.printFacts(facts); err != nil {
			return err
		}
		return a.writeJSON(facts)
	}
	return a.withJSON(c)
}

// describe counts a constant as a parameter of every node that reads it.
func describe(g *ir.Graph) graphFacts {
	f := graphFacts{Name: g.Name, Stage: g.Stage.String()}
	for _, n := range g.Nodes {
		if n.IsConst() {
			f.Params += n.Type.Elems()
			continue
		}
		row := nodeFacts{Name: n.Name, Op: n.Op.Name, Shape: n.Type.Shape, Format: n.Type.Format.String(), Source: n.Pos,
			Args: []string{}}
		for _, arg := range n.Args {
			if arg.IsConst() {
				row.Params += arg.Type.Elems()
			} else {
				row.Args = append(row.Args, arg.Name)
			}
		}
		if n.Op.Name == "input" {
			f.Inputs = append(f.Inputs, row)
		}
		f.Nodes = append(f.Nodes, row)
	}
	f.NoHardware = withoutHardware(g)
	for _, o := range g.Out {
		f.Outputs = append(f.Outputs, o.Name)
	}
	return f
}

// withoutHardware names nodes whose operation, after lowering, has no unit.
func withoutHardware(g *ir.Graph) []string {
	var names []string
	for _, n := range g.Nodes {
		streams := 0
		for _, arg := range n.Args {
			if !arg.IsConst() {
				streams++
			}
		}
		if n.Op.RTL == nil && n.Op.Expand == nil && n.Op.Name != "input" && streams > 0 && !arithmetic(n, streams) {
			names = append(names, fmt.Sprintf("%s (%s)", n.Name, n.Op.Name))
		}
	}
	return names
}

// arithmetic says that n combines one stream with constants, which lowering turns into scale.
func arithmetic(n *ir.Node, streams int) bool {
	return streams == 1 && (n.Op == op.Add || n.Op == op.Sub || n.Op == op.Mul)
}

func (a *App) printFacts(f graphFacts) error {
	rows := [][]string{{"node", "op", "shape", "format", "parameters", "source"}}
	for _, n := range f.Nodes {
		params := ""
		if n.Params > 0 {
			params = fmt.Sprint(n.Params)
		}
		rows = append(rows, []string{n.Name, n.Op, ir.ShapeString(n.Shape), n.Format, params, n.Source})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if len(f.NoHardware) > 0 {
		fmt.Fprintf(a.Out, "\nno hardware in this version: %s\n", strings.Join(f.NoHardware, ", "))
	}
	fmt.Fprintf(a.Out, "\n%s: %s graph, %s, %s; outputs:", f.Name, f.Stage, counted(len(f.Nodes), "node"),
		counted(f.Params, "parameter"))
	for _, o := range f.Outputs {
		fmt.Fprintf(a.Out, " %s", o)
	}
	fmt.Fprintln(a.Out)
	return nil
}

// counted is a number of things in words: "1 node", "2 nodes".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
