// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/choose"
	"lathe/internal/driver"
	"lathe/lower/plan"
)

const (
	formatsCommand = "go test -count=1 -timeout 2h -tags long -run '^TestFormatRows$' -v ./internal/driver"
	formatsPath    = "../../docs/formats-exact.md"
	// formatSamples is how many random samples follow the stored ones of a network.
	formatSamples = 1000
)

// formatRow is a line of the page: two networks under one plan.
type formatRow struct {
	formats
	on [2]formatResult
}

// formatResult is what one network has shown.
type formatResult struct {
	check *driver.Check
	point *choose.Point
	err   error
}

var formatModels = [2]string{"digits-mlp", "digits-cnn"}

// formatStudy measures accuracy and cost of plans for one network.
type formatStudy struct {
	sync.Mutex
	*choose.Study
}

// TestFormatRows proves two networks in every format, and holds docs/formats-exact.md to what it finds.
func TestFormatRows(t *testing.T) {
	e := withKernels(t, engines(t))
	var rows []*formatRow
	for _, f := range formatRows() {
		rows = append(rows, &formatRow{formats: f})
	}
	var studies [2]*formatStudy
	for i, m := range formatModels {
		dir := examples + m + "/"
		s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz"}
		g, err := s.Import()
		if err != nil {
			t.Fatal(err)
		}
		subject, err := s.Subject(t.Context(), g, driver.Data{Inputs: dir + "inputs.npz", Labels: dir + "labels.npy"})
		if err != nil {
			t.Fatal(err)
		}
		study, err := choose.NewStudy(t.Context(), subject)
		if err != nil {
			t.Fatal(err)
		}
		studies[i] = &formatStudy{Study: study}
	}
	start := time.Now()
	inParallel(rows, func(row *formatRow) {
		for i, m := range formatModels {
			row.on[i] = row.prove(t.Context(), e, studies[i], m)
			if err := row.on[i].err; err != nil {
				t.Errorf("%s, data %s, weights %s: %v", m, row.data, row.weight, err)
			}
			fmt.Fprintf(os.Stderr, "%5.0f s: %s, data %s, weights %s\n", time.Since(start).Seconds(), m, row.data, row.weight)
		}
	})
	page := formatsPage(rows)
	if *update && !t.Failed() {
		if err := os.WriteFile(formatsPath, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(formatsPath); err != nil || string(have) != page {
		t.Errorf("docs/formats-exact.md is not what was found: run `%s -update` (%v)", formatsCommand, err)
		t.Log(page)
	}
}

// prove compares all engines on stored and random samples, and measures accuracy and cost.
func (f formats) prove(ctx context.Context, e driver.Engines, s *formatStudy, model string) (r formatResult) {
	j, err := f.job(ctx, model)
	if err != nil {
		return formatResult{err: err}
	}
	random, err := driver.RandomSamples(j.HW.Scheduled, formatSamples, 1)
	if err != nil {
		return formatResult{err: err}
	}
	j.Samples, j.Seeds = append(j.Samples, random...), stallSeeds
	if r.check, r.err = e.Verify(ctx, *j); r.err != nil {
		return r
	}
	if r.err = everyEngine(r.check, j); r.err != nil {
		return r
	}
	plan, err := plan.Parse("plan", []byte(f.plan()))
	if err != nil {
		return formatResult{err: err}
	}
	s.Lock()
	defer s.Unlock()
	r.point, _, r.err = s.Measure(ctx, plan, true)
	if r.err == nil && r.point.Cost == nil {
		r.err = fmt.Errorf("no cost is predicted: %s", r.point.Refused)
	}
	return r
}

// everyEngine finds codes that differ, engines that saw fewer codes than they should, kinds of stalls that never
// happened.
func everyEngine(c *driver.Check, j *driver.Job) error {
	each := 0 // codes of a sample, and the scales of its blocks
	for _, out := range j.HW.Scheduled.Out {
		each += out.Node.Type.Elems() + out.Node.Type.Blocks()
	}
	all := len(j.Samples) * each
	for _, e := range []struct {
		engine string
		codes  int
	}{{"pjrt", all}, {"cuda", all}, {"rtl", len(j.Seeds)*all + c.Quiet*each}} {
		if c.Compared[e.engine] != e.codes {
			return fmt.Errorf("%s was compared on %d codes, not on %d", e.engine, c.Compared[e.engine], e.codes)
		}
	}
	switch {
	case c.Mismatches != 0:
		return fmt.Errorf("%d codes differ: %v", c.Mismatches, c.First)
	case c.Stalls.Starved == 0 || c.Stalls.Blocked == 0:
		return fmt.Errorf("a kind of stall never happened: %+v", c.Stalls)
	}
	return nil
}

// formatsPage prints the rows. Nothing in it depends on time or machine.
func formatsPage(rows []*formatRow) string {
	var b, table strings.Builder
	total, mismatches := map[string]int{}, 0
	for _, r := range rows {
		fmt.Fprintf(&table, "| `%s` ", r.weight)
		if r.data == r.weight {
			table.WriteString("| the same ")
		} else {
			fmt.Fprintf(&table, "| `%s` ", r.data)
		}
		for i, on := range r.on {
			if on.err != nil {
				table.WriteString("| **not proven** | | | | | | ")
				continue
			}
			for engine, n := range on.check.Compared {
				total[engine] += n
			}
			mismatches += on.check.Mismatches
			if i == 0 {
				fmt.Fprintf(&table, "| %.2f ", on.point.WeightBits)
			}
			c := on.point.Cost
			fmt.Fprintf(&table, "| %.1f | %d | %d | %d | %g | %d ", 100**on.point.Accuracy, c.LUT, c.FF, c.DSP, c.Interval,
				on.check.Compared["pjrt"]+on.check.Compared["cuda"]+on.check.Compared["rtl"])
		}
		table.WriteString("|\n")
	}
	fmt.Fprintf(&b, formatsHead, formatsCommand, len(rows), total["pjrt"], total["cuda"], total["rtl"], mismatches,
		formatSamples, stallPercent, len(stallSeeds))
	b.WriteString(table.String())
	return b.String()
}

const formatsHead = `# Every number format in every engine

Written by

    %s -update

which is a part of ` + "`make long`" + `; without ` + "`-update`" + ` it fails where this page is not what it finds.

%d choices of formats on digits-mlp (linear layers) and digits-cnn (convolutions). Codes compared with the Go
reference: %d of XLA through PJRT, %d of the CUDA kernels on the emulated device, %d of the simulated RTL.
Mismatches: %d.

Each network ran on its 450 stored samples and on %d random ones (uniform codes, extremes, small values), in the
simulated RTL with every port stalling at random in %d %% of all cycles, once for each of %d seeds, and on some samples
without stalls. The scales of blocks are compared like codes. TestDrawnFormats compares formats drawn at random.

The columns, for digits-mlp first: bits of a weight, with scales of blocks; accuracy in percent on the stored samples
(float: 97.8 and 98.0); LUT, FF and DSP as the headers of the modules predict them ([area.md](area.md) holds that to
Yosys); cycles from sample to sample; codes compared, of all engines. Blocks, open formats, ` + "`bias=fit` and" + `
` + "`*[0]`" + `, a scale for each output channel, fit the network; the others are as they stand, and accuracy is what
their range happens to leave. The formats of float graphs (fp32, bf16, f16) and e8m0 are none of hardware.

| weights | data | bits | mlp | LUT | FF | DSP | cycles | codes | cnn | LUT | FF | DSP | cycles | codes |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`
