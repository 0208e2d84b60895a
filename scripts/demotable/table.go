// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lathe/sim/area"
)

// verified is what `lathe verify --json` writes, as far as the table shows it.
type verified struct {
	Samples    int      `json:"samples"`
	Outputs    int      `json:"outputs"`
	Mismatches int      `json:"mismatches"`
	Engines    []string `json:"engines"`
	Latency    int      `json:"latency_cycles"`
	II         float64  `json:"ii_cycles"`
	Accuracy   *struct {
		Float     float64 `json:"float"`
		Quantized float64 `json:"quantized"`
	} `json:"accuracy"`
	SQNR    *float64           `json:"sqnr_db"`
	Seconds map[string]float64 `json:"seconds"`
}

// good demands that something was compared, by hardware, and that all of it was equal.
func (v *verified) good() error {
	switch {
	case v.Outputs == 0:
		return fmt.Errorf("nothing was compared")
	case !slices.Contains(v.Engines, "rtl") || !slices.Contains(v.Engines, "ref"):
		return fmt.Errorf("the RTL was not compared with the reference, only %s ran", strings.Join(v.Engines, ", "))
	case v.Mismatches != 0:
		return fmt.Errorf("%d of %d outputs differ", v.Mismatches, v.Outputs)
	}
	return nil
}

// steps in the order in which they happen.
var steps = []string{"import", "quantize", "emit", "ref", "float", "pjrt", "build", "simulate", "area"}

func table(w io.Writer, name, folder string, v *verified, r *area.Report) error {
	var b strings.Builder
	row := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "  %-22s"+format+"\n", append([]any{what}, args...)...)
	}
	b.WriteString(name + "\n")
	if v.Accuracy != nil {
		row("float accuracy", "%.2f %%", 100*v.Accuracy.Float)
		row("quantized accuracy", "%.2f %%", 100*v.Accuracy.Quantized)
	}
	if v.SQNR != nil {
		row("SQNR", "%.1f dB", *v.SQNR)
	}
	row("outputs compared", "%d, of %d samples: %s", v.Outputs, v.Samples, strings.Join(v.Engines, " = "))
	row("mismatches", "%d", v.Mismatches)
	row("latency", "%d cycles", v.Latency)
	row("initiation interval", "%.5g cycles", v.II)
	c := r.Total
	row("LUT", "%d (%s after synthesis, not routed)", c.LUT, r.Tool)
	row("FF", "%d", c.FF)
	row("DSP", "%d", c.DSP)
	row("BRAM", "%g (blocks of 36 Kib)", c.BRAM())
	total := 0.0
	for _, s := range inOrder(v.Seconds) {
		row("seconds, "+s, "%.2f", v.Seconds[s])
		total += v.Seconds[s]
	}
	row("seconds, all steps", "%.2f", total)
	row("Verilog", "%s", folder)
	_, err := io.WriteString(w, b.String())
	return err
}

// inOrder lists the steps that were timed, known ones first.
func inOrder(seconds map[string]float64) []string {
	var out []string
	for _, s := range steps {
		if _, ok := seconds[s]; ok {
			out = append(out, s)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(seconds)) {
		if !slices.Contains(steps, s) {
			out = append(out, s)
		}
	}
	return out
}
