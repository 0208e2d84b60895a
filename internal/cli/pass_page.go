// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"lathe/emit/history"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
)

// passPage is the page of --dump-html: the graph after every pass.
type passPage struct {
	file    string
	history history.History
}

func (p *passPage) add(c *cobra.Command) {
	c.Flags().StringVar(&p.file, "dump-html", "",
		"write a page with the graph after every pass, side by side, to this file")
}

// begin checks that the page can be written.
func (p *passPage) begin(model string) error {
	p.history.Title, p.history.Version = filepath.Base(model), Version
	return writable(p.file, diag.FileWrite)
}

// after records what a pass left.
func (p *passPage) after(pass string, g *ir.Graph) {
	if p.file != "" {
		p.history.Record(described(pass), g)
	}
}

// described looks a pass up in the pipelines between a model and its hardware.
func described(pass string) history.Pass {
	for _, l := range pipelines() {
		if l.name == "recognize" || l.name == "kernels" {
			continue
		}
		for _, p := range l.steps {
			if p.Name == pass {
				return history.Pass{Pipeline: l.name, Name: pass, Doc: p.Doc, Effect: p.Effect.String()}
			}
		}
	}
	return history.Pass{Name: pass}
}

// write writes the page of the passes that led from the model to a graph, quantized or scheduled; those of designs that
// a search left aside are not on it.
func (p *passPage) write(q *driver.Quantized, last *ir.Graph) error {
	if p.file == "" {
		return nil
	}
	graphs := append(slices.Clone(q.From), q.Graph)
	if last != q.Graph {
		graphs = append(graphs, last)
		if !p.history.Has(last) { // layers share units, whose graph the passes changed
			p.history.Record(history.Pass{Pipeline: "schedule", Name: "schedule", Doc: "all passes of scheduling"}, last)
		}
	}
	p.history.Record(history.Pass{Pipeline: "model", Name: "read", Doc: "the graph as it was read"}, graphs[0])
	html, err := p.history.HTML(graphs...)
	if err != nil {
		return err
	}
	return writeFile(p.file, html)
}
