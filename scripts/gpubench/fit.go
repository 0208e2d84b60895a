// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lathe/cuda"
	"lathe/cuda/cases"
	"lathe/cuda/predictor"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
)

// fitted are the measurements to which the model is fitted, and where its constants stand.
const fitted, constants = "nvidia-h200.jsonl", "cuda/predictor/constants.json"

// fit writes the constants of the model of times, from one half of the measurements, and prints how it tells each half
// and each case.
func fit(_ context.Context, f *flags, _ []cuda.Case, stdout io.Writer) error {
	path := filepath.Join(f.out, fitted)
	lines, err := os.Open(path)
	if err != nil {
		return diag.New(diag.BenchmarkFiles, path, "the measurements cannot be read: %v", err)
	}
	defer lines.Close()
	all, err := cases.Measured(lines)
	if err != nil {
		return err
	}
	arch, err := cuda.FindArch(cuda.HopperArch)
	if err != nil {
		return err
	}
	fits, held := predictor.Halves(all)
	m := predictor.Fit(arch, fits)
	m.Source = fmt.Sprintf("docs/measurements/%s: %d of %d cases; go run ./scripts/gpubench fit", fitted, len(fits),
		len(all))
	for _, half := range []struct {
		name string
		of   []predictor.Measured
	}{{"fits", fits}, {"held out", held}} {
		for _, s := range half.of {
			p := s.Predicted(m, arch)
			fmt.Fprintf(stdout, "%-8s  %8.1f measured  %8.1f predicted  %.2f  %s\n", half.name, s.Us, p, s.Us/p, s.Name)
		}
		q := predictor.QualityOf(m, arch, half.of)
		fmt.Fprintf(stdout, "%s: factor %.3f, %.0f %% of %d within 25 %%\n", half.name, q.Factor, 100*q.Near, len(half.of))
	}
	return atomicfile.Write(constants, func(w io.Writer) error {
		text, err := json.MarshalIndent(m, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", text)
		}
		return err
	})
}
