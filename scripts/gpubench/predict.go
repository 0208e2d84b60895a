// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"lathe/cuda"
	"lathe/cuda/cases"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
)

// predictionsName is the file in the folder of the results.
const predictionsName = "predictions.json"

// predict adds the timed cases, and the layers for one sample, that predictions.json does not have. What it has stays
// as it is: a prediction that changes after the measurement is none.
func predict(ctx context.Context, f *flags, all []cuda.Case, stdout io.Writer) error {
	path := filepath.Join(f.out, predictionsName)
	var have []cases.Prediction
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &have)
	}
	if err != nil && !os.IsNotExist(err) {
		return diag.New(diag.BenchmarkFiles, path, "the predictions cannot be read: %v", err)
	}
	missing := func(name string) bool {
		return !slices.ContainsFunc(have, func(p cases.Prediction) bool { return p.Case == name })
	}
	before := len(have)
	for _, c := range all {
		if !c.Timed || !missing(c.Name) {
			continue
		}
		e, err := cases.Predict(c)
		if err != nil {
			return err
		}
		have = append(have, cases.Prediction{Case: c.Name, Commit: f.commit, GPU: e.GPU, Us: hundredths(e.Seconds)})
	}
	for _, p := range passes(f.match) {
		if p.samples > 1 || !missing(p.name()) {
			continue
		}
		_, d, err := p.made(ctx, true)
		if err != nil {
			return err
		}
		one := cases.Prediction{Case: p.name(), Commit: f.commit, GPU: d.GPU}
		for _, u := range d.Units {
			one.Us += u.Predicted
		}
		one.Us = hundredths(one.Us)
		have = append(have, one)
	}
	err = atomicfile.Write(path, func(w io.Writer) error {
		fmt.Fprint(w, "[")
		for i, p := range have {
			line, err := json.Marshal(p)
			if err != nil {
				return err
			}
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, "\n%s", line)
		}
		_, err := fmt.Fprint(w, "\n]\n")
		return err
	})
	if err != nil {
		return diag.New(diag.BenchmarkFiles, path, "the predictions cannot be written: %v", err)
	}
	fmt.Fprintf(stdout, "%s: %d predictions, %d of them new\n", path, len(have), len(have)-before)
	return nil
}

// hundredths are seconds in microseconds, rounded to hundredths.
func hundredths(seconds float64) float64 { return math.Round(seconds*1e8) / 100 }
