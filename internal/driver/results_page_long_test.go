// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"fmt"
	"strings"
)

const (
	resultsCommand = "go test -count=1 -timeout 3h -tags long -run '^TestResults$' -v ./internal/driver"
	updateCommand  = resultsCommand + " -update"
)

// resultsPage prints outcomes as docs/results.md. Nothing in it depends on time or machine.
func resultsPage(rows []*outcome) string {
	var b strings.Builder
	total, mismatches, unproven := map[string]int{}, 0, 0
	for _, o := range rows {
		if o.Failure != "" {
			unproven++
		}
		if o.Check == nil {
			continue
		}
		for engine, n := range o.Check.Compared {
			total[engine] += n
		}
		mismatches += o.Check.Mismatches
	}
	fmt.Fprintf(&b, pageHead, resultsCommand, len(rows), total["pjrt"], total["rtl"], total["icarus"], total["gates"],
		mismatches, unproven, randomSamples, stallPercent, len(stallSeeds), quietSamples, fewSamples, laterSamples)
	model := ""
	for _, o := range rows {
		if o.Model != model {
			model = o.Model
			fmt.Fprintf(&b, "\n## %s\n\n", model)
			b.WriteString("| model file | plan | samples | PJRT | RTL | Icarus | gates | mismatches | latency | II " +
				"| float | quantized | SQNR |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		}
		b.WriteString(line(o))
	}
	return b.String()
}

func line(o *outcome) string {
	name := fmt.Sprintf("| %s | %s ", o.File, o.planName())
	if o.Failure != "" {
		failure, _, _ := strings.Cut(strings.ReplaceAll(o.Failure, "|", "/"), "\n")
		return name + fmt.Sprintf("| **not proven**: %s | | | | | | | | | | |\n", failure)
	}
	c := o.Check
	accuracy, sqnr := "| | ", ""
	if c.Accuracy != nil {
		accuracy = fmt.Sprintf("| %.2f %% | %.2f %% ", 100**c.Accuracy.Float, 100*c.Accuracy.Quantized)
	}
	if c.SQNR != nil {
		sqnr = fmt.Sprintf("%.1f dB", *c.SQNR)
	}
	samples := fmt.Sprintf("%d + %d", o.Stored, o.Random)
	switch {
	case o.Like != "":
		samples += ", as " + o.Like
	case o.Later > 0:
		samples += fmt.Sprintf(" (%d)", o.Later)
	}
	gates := ""
	if n := c.Compared["gates"]; n > 0 {
		gates = fmt.Sprint(n)
	}
	return name + fmt.Sprintf("| %s | %d | %d | %d | %s | %d | %d | %.6g %s| %s |\n", samples, c.Compared["pjrt"],
		c.Compared["rtl"], c.Compared["icarus"], gates, c.Mismatches, c.Latency, c.II, accuracy, sqnr)
}

const pageHead = `# Results: every example under every plan

Written by

    %s -update

which is a part of ` + "`make long`" + `; without ` + "`-update`" + ` it fails where this page is not what it finds.

%d designs. Codes compared with the reference: %d of XLA through PJRT, %d of the simulated RTL, %d of the RTL in
Icarus, %d of netlists. Mismatches: %d. Designs without a proof: %d.

Each design ran on all stored samples of its example and on %d random ones (uniform codes, extremes, small values),
with every port of the RTL stalling at random in %d %% of all cycles, once for each of %d seeds, and on %d samples
without stalls. Each is free of Verilator's warnings (` + "`--lint-only -Wall`" + `), is elaborated by Icarus and
synthesized by Yosys, and comes out byte for byte the same when it is emitted again. A few samples ran in Icarus too,
and of one design of each kind the netlist that Yosys makes of it.

Where another file of the model gives the same circuit (scheduled graphs that are equal but for names), that one is
named, and %d random samples and one seed were enough. Designs that take very many cycles a sample have fewer random
samples, and after the first seed as many samples as stand in parentheses (%d).

Plans: ` + "`default`" + ` is no plan (8 bits); the others are files of [examples/plans](../examples/plans). Samples:
stored + random. PJRT, RTL, Icarus, gates: codes compared, over all runs of that engine. Latency is cycles from the
first beat in to the first beat out, II cycles from sample to sample, both measured without stalls. Accuracy and SQNR,
of the stored samples, compare the quantized model with the float one: they say what the plan costs, and have no part
in the comparison of codes.
`
