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

const pageHead = `# Results: examples under plans

Written by

    %s -update

which is a part of ` + "`make long`" + `; without ` + "`-update`" + ` it fails where this page is not what it finds.

%d designs. Codes compared with the reference: %d of XLA through PJRT, %d of the simulated RTL, %d of the RTL in
Icarus, %d of netlists. Mismatches: %d. Designs that were not compared: %d.

In the table are the ` + "`.onnx`" + ` files of all examples but the transformers (bert-tiny-like, digits-vit,
tiny-bert, tiny-gpt2 and tiny-llama), which [transformers.md](transformers.md) measures, under no plan and under each
plan of [examples/plans](../examples/plans); ` + "`mixed`, `pack`, `serial`, `unroll` and `wrap`" + ` run on
` + "`model.onnx`" + ` only.

[formats-exact.md](formats-exact.md) has digits-mlp and digits-cnn in every number format.

Other file forms are not in the table. The ` + "`.pt2`" + ` programs of digits-mlp, digits-cnn and jets-mlp become the
same circuits as ` + "`model.onnx`" + ` under all plans, unroll included (TestCircuits, TestCircuitsAll). Those of
digits-resnet and digits-dscnn, and the StableHLO files of digits-jax for one sample that hold their weights, are
simulated on all stored samples, under no plan and under ` + "`mx`" + ` (TestVerifyFormsAll).

Each design ran on all stored samples of its example and on %d random ones (uniform codes, extremes, small values),
with every port of the RTL stalling at random in %d %% of all cycles, once for each of %d seeds, and on %d samples
without stalls. Verilator lints each design without a warning (` + "`--lint-only -Wall`" + `),
Icarus elaborates it, Yosys synthesizes it, and emitting it again gives the same bytes. A few samples also ran in
Icarus, and for one design of each kind also in the netlist that Yosys makes of it.

Where another file of the model gives the same circuit (scheduled graphs that are equal but for names), the table names
that file, and %d random samples and one seed were used. Designs that take very many cycles per sample have fewer
random samples, and after the first seed the number of samples in parentheses (%d).

Plan ` + "`default`" + ` is no plan (8 bits). Samples: stored + random. PJRT, RTL, Icarus, gates: codes compared, over
all runs of that engine. Latency is cycles from the first beat in to the first beat out, II cycles from sample to
sample, both measured without stalls. Accuracy and SQNR, over the stored samples, compare the quantized model with the
float one: they show what the plan costs and play no part in the comparison of codes.
`
