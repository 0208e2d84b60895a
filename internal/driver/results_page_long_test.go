// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lathe/internal/atomicfile"
)

const (
	resultsCommand = "go test -count=1 -timeout 12h -tags long -run '^TestResults$' -v ./internal/driver"
	updateCommand  = resultsCommand + " -update"
	resultsPath    = "../../docs/results.md"
	// designDigits are what a line shows of the digest of its design.
	designDigits = 12
	// Columns of a line: those that name it, its counts of codes and of mismatches, and its design.
	modelColumn, planColumn, countsFrom, mismatchColumn, designColumn = 1, 2, 4, 8, 14
)

// results are the lines of docs/results.md, by what they name.
type results struct {
	mu     sync.Mutex
	all    []*entry
	lines  map[combination]string
	clocks map[string]string // rows of docs/timing.md
}

// readResults reads the page.
func readResults(t *testing.T, all []*entry) *results {
	t.Helper()
	data, err := os.ReadFile(resultsPath)
	if err != nil {
		t.Fatal(err)
	}
	clocks, err := os.ReadFile(timingPath)
	if err != nil {
		t.Fatal(err)
	}
	r := &results{all: all, lines: map[combination]string{}, clocks: timingRows(string(clocks))}
	model := ""
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			model = strings.TrimSpace(name)
		}
		c := columns(line)
		if model == "" || len(c) < designColumn+2 || !strings.Contains(c[modelColumn], ".") {
			continue
		}
		r.lines[combination{model, c[modelColumn], strings.TrimPrefix(c[planColumn], "default")}] = line
	}
	return r
}

// columns are the cells of a line of a table, behind an empty one.
func columns(line string) []string {
	list := strings.Split(line, "|")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// current says that the line of e is about the design that is emitted today.
func (r *results) current(e *entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	line, ok := r.lines[e.combination]
	return ok && e.design != "" && columns(line)[designColumn] == e.design
}

// set takes the line of an outcome, and writes the page.
func (r *results) set(t *testing.T, e *entry, o *outcome) {
	t.Helper()
	r.mu.Lock()
	r.lines[e.combination] = line(o, e.design)
	r.mu.Unlock()
	r.write(t)
}

// write writes the page, if -update says so.
func (r *results) write(t *testing.T) {
	t.Helper()
	if !*update {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := writePage(resultsPath, r.text()); err != nil {
		t.Error(err)
	}
}

// writePage writes a page of docs/ whole.
func writePage(path, text string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// text is the page, while no line is set. Nothing in it depends on time or machine.
func (r *results) text() string {
	var b strings.Builder
	var counts [5]int // codes of PJRT, RTL, Icarus and netlists, and mismatches
	proven, unproven := 0, 0
	model := ""
	for _, e := range r.all {
		row, ok := r.lines[e.combination]
		if !ok {
			continue
		}
		if e.Model != model {
			model = e.Model
			fmt.Fprintf(&b, "\n## %s\n\n", model)
			b.WriteString("| model file | plan | samples | PJRT | RTL | Icarus | gates | mismatches | latency | II " +
				"| float | quantized | SQNR | design |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
		}
		b.WriteString(row)
		c := columns(row)
		if strings.Contains(row, notProven) {
			unproven++
			continue
		}
		proven++
		for i := range counts {
			n, _ := strconv.Atoi(c[countsFrom+i]) // no netlist: an empty cell
			counts[i] += n
		}
	}
	head := fmt.Sprintf(pageHead, resultsCommand, proven, len(r.all), counts[0], counts[1], counts[2], counts[3],
		counts[4], unproven, randomSamples, stallPercent, len(stallSeeds), quietSamples, fewSamples, laterSamples)
	return withClocks(head+b.String(), r.clocks)
}

// notProven stands in lines of designs without a proof.
const notProven = "**not proven**"

// line is that of an outcome of a design.
func line(o *outcome, design string) string {
	name := fmt.Sprintf("| %s | %s ", o.File, o.planName())
	if o.Failure != "" {
		failure, _, _ := strings.Cut(strings.ReplaceAll(o.Failure, "|", "/"), "\n")
		return name + fmt.Sprintf("| %s: %s | | | | | | | | | | | %s |\n", notProven, failure, design)
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
	return name + fmt.Sprintf("| %s | %d | %d | %d | %s | %d | %d | %.6g %s| %s | %s |\n", samples,
		c.Compared["pjrt"], c.Compared["rtl"], c.Compared["icarus"], gates, c.Mismatches, c.Latency, c.II, accuracy, sqnr,
		design)
}

const pageHead = `# Results: examples under plans

Written by

    %s -update

which is a part of ` + "`make long`" + `; without ` + "`-update`" + ` it fails where this page is not what it finds. It
takes hours, writes each line as soon as it is found, and with ` + "`-stale`" + ` proves only designs that have changed
or have no line. The last column is the digest of the files of the design that the line is about.

%d of %d designs are proven here. Codes compared with the reference: %d of XLA through PJRT, %d of the simulated RTL,
%d of the RTL in Icarus, %d of netlists. Mismatches: %d. Designs whose proof failed: %d.

In the table are the ` + "`.onnx`" + ` files of all examples but the transformers (bert-tiny-like, digits-vit,
tiny-bert, tiny-gpt2 and tiny-llama), which [transformers.md](transformers.md) measures, under no plan and under each
plan of [examples/plans](../examples/plans); ` + "`mixed`, `pack`, `serial`, `unroll` and `wrap`" + ` run on
` + "`model.onnx`" + ` only, and ` + "`wide`" + ` not on the recurrent ones, whose inputs are 8.

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
float one: they show what the plan costs and play no part in the comparison of codes. Clocks are those of
[timing.md](timing.md), measured by ` + "`lathe route`" + `; its command writes them here, too.
`
