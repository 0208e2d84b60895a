// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

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
