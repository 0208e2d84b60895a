// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"lathe/lower/kernels"
)

// precisionFlags say how a model that is not quantized keeps its values.
type precisionFlags struct {
	act, weight string
	command     *cobra.Command
}

// add declares the flags; weights are as computed values where nothing else is said.
func (f *precisionFlags) add(c *cobra.Command, act string) {
	f.command = c
	c.Flags().StringVar(&f.act, "act", act, "inputs and computed values of a float model: fp32, bf16 or f16")
	c.Flags().StringVar(&f.weight, "weight", "",
		"weights of a float model: fp32, bf16, f16 or mxint8; without it as --act says")
}

// of reads the flags. They are about float models: error L0101 beside others that quantize.
func (f *precisionFlags) of(quantized bool) (kernels.Precision, error) {
	weight := f.weight
	if weight == "" {
		weight = f.act
	}
	p, err := kernels.ParsePrecision(f.act, weight)
	if given := f.command.Flags().Changed("act") || f.weight != ""; err == nil && p.Halved() && quantized && given {
		return p, usagef("--act and --weight are for models that compute in floats, and the other flags quantize this one")
	}
	return p, err
}
