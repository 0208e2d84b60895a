// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/internal/flow"
	"lathe/lower"
)

// sourceFlags are the flags of commands that read and lower a model.
type sourceFlags struct {
	source flow.Source
	dims   map[string]int
}

func (s *sourceFlags) add(c *cobra.Command, calibrate bool) {
	c.Flags().StringVar(&s.source.Plan, "plan", "", "plan file (TOML); without one: 8 bits, folded")
	c.Flags().StringToIntVar(&s.dims, "dim", nil, "bind a symbolic dimension: batch=1")
	if calibrate {
		c.Flags().StringVar(&s.source.Calibrate, "calibrate", "",
			"calibration inputs (.npz); without them: interval analysis")
	}
}

// of completes the source with the model's path.
func (s *sourceFlags) of(model string) flow.Source {
	s.source.Model, s.source.Dims = model, s.dims
	return s.source
}

// warn prints the notes of a report to standard error.
func (a *App) warn(reports ...*lower.Report) {
	for _, r := range reports {
		if r == nil {
			continue
		}
		for _, w := range r.Warnings {
			fmt.Fprintf(a.Err, "warning: %s\n", w)
		}
		for _, n := range r.Notes {
			fmt.Fprintf(a.Err, "note: %s\n", n)
		}
	}
}

// required refuses an empty flag.
func required(c *cobra.Command, flags ...string) error {
	for _, f := range flags {
		if v := c.Flags().Lookup(f); v == nil || v.Value.String() == "" {
			name := "--" + f
			if v != nil && v.Shorthand != "" {
				name = "-" + v.Shorthand
			}
			return usagef("%s needs %s", c.CommandPath(), name)
		}
	}
	return nil
}

// oneOf refuses a value outside of a list.
func oneOf(flag, value string, allowed ...string) error {
	for _, v := range allowed {
		if v == value {
			return nil
		}
	}
	err := diag.New("L0101", "", "%s %q is none of %s", flag, value, strings.Join(allowed, ", "))
	if near := diag.Nearest(value, allowed); near != "" {
		err = err.WithHint("did you mean %s?", near)
	}
	return &usageError{err}
}
