// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"lathe/internal/driver"
	"lathe/ir"
	"lathe/lower"
)

// precisionFlags say how a model that is not quantized keeps its values.
type precisionFlags struct{ act, weight string }

func (f *precisionFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.act, "act", "fp32", "inputs and computed values of a float model: fp32, bf16 or f16")
	c.Flags().StringVar(&f.weight, "weight", "fp32", "its weights: fp32, bf16, f16 or mxint8")
}

// of reads the flags. They are about float models: error L0101 beside others that quantize.
func (f *precisionFlags) of(quantized bool) (lower.Precision, error) {
	p, err := lower.ParsePrecision(f.act, f.weight)
	if err == nil && p.Halved() && quantized {
		return p, usagef("--act and --weight are for models that compute in floats, and the other flags quantize this one")
	}
	return p, err
}

// unquantized is the imported graph g in precision p.
func (a *App) unquantized(ctx context.Context, g *ir.Graph, p lower.Precision) (*ir.Graph, error) {
	a.noteFormats(g)
	if !p.Halved() {
		return g, nil
	}
	g, err := driver.Evaluable(g)
	if err != nil {
		return nil, err
	}
	return p.Apply(ctx, g)
}
