// SPDX-License-Identifier: Apache-2.0

//go:build long

package flow_test

import (
	"fmt"
	"strings"
)

const (
	resultsCommand = "go test -count=1 -timeout 3h -tags long -run '^TestResults$' -v ./internal/flow"
	updateCommand  = resultsCommand + " -update"
)

// resultsPage prints outcomes as docs/results.md. Nothing in it depends on time or machine.
func resultsPage(rows []*outcome) string {
	var b strings.Builder
	pjrt, rtl, mismatches := 0, 0, 0
	for _, o := range rows {
		pjrt += o.Check.Compared["pjrt"]
		rtl += o.Check.Compared["rtl"]
		mismatches += o.Check.Mismatches
	}
	fmt.Fprintf(&b, pageHead, resultsCommand, len(rows), pjrt, rtl, mismatches, randomSamples, stallPercent,
		len(stallSeeds), quietSamples)
	model := ""
	for _, o := range rows {
		if o.Model != model {
			model = o.Model
			fmt.Fprintf(&b, "\n## %s\n\n", model)
			b.WriteString("| model file | plan | samples | outputs, PJRT | outputs, RTL | mismatches | latency | II " +
				"| float | quantized | SQNR |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		}
		b.WriteString(line(o))
	}
	return b.String()
}

func line(o *outcome) string {
	c := o.Check
	accuracy, sqnr := "| | ", ""
	if c.Accuracy != nil {
		accuracy = fmt.Sprintf("| %.2f %% | %.2f %% ", 100**c.Accuracy.Float, 100*c.Accuracy.Quantized)
	}
	if c.SQNR != nil {
		sqnr = fmt.Sprintf("%.1f dB", *c.SQNR)
	}
	return fmt.Sprintf("| %s | %s | %d + %d | %d | %d | %d | %d | %.6g %s| %s |\n", o.File, o.planName(), o.Stored,
		o.Random, c.Compared["pjrt"], c.Compared["rtl"], c.Mismatches, c.Latency, c.II,
		accuracy, sqnr)
}

const pageHead = `# Results: every example under every plan

Written by

    %s -update

which is a part of ` + "`make long`" + `; without ` + "`-update`" + ` it fails where this page is not what it finds.

%d designs. Codes compared with the reference: %d of XLA through PJRT, %d of the simulated RTL.
Mismatches: %d.

Each design ran on all stored samples of its example and on %d random ones (uniform codes, extremes, small values),
with every port of the RTL stalling at random in %d %% of all cycles, once for each of %d seeds, and on %d samples
without stalls. Each is free of Verilator's warnings (` + "`--lint-only -Wall`" + `), is elaborated by Icarus and
synthesized by Yosys, and comes out byte for byte the same when it is emitted again.

Plans: ` + "`default`" + ` is no plan (8 bits); the others are files of [examples/plans](../examples/plans). Samples:
stored + random. Outputs: codes compared, over all runs of that engine. Latency is cycles from the first beat in to the
first beat out, II cycles from sample to sample, both measured without stalls. Accuracy and SQNR, of the stored samples,
compare the quantized model with the float one: they say what the plan costs, and have no part in the comparison of
codes.
`
