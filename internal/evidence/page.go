// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// class is plans that make one row of a table.
type class struct {
	name  string
	plans []string
}

// classes of plans in the order of the rows; a plan that is in none of them makes a row of its own.
var classes = []class{
	{"8 bits", []string{"default", "budget", "chain", "fps", "fps_budget", "fps_high", "narrow", "pack", "serial",
		"uneven", "wide"}},
	{"8 bits, unrolled", []string{"unroll"}},
	{"16 bits", []string{"b16"}},
	{"4-bit weights", []string{"w4"}},
	{"mixed widths", []string{"mixed"}},
	{"floor, wrap", []string{"wrap"}},
	{"blocks", []string{"mx", "mxmix"}},
}

// classOf is the class of a plan.
func classOf(plan string) string {
	for _, c := range classes {
		if slices.Contains(c.plans, plan) {
			return c.name
		}
	}
	return plan
}

// row is what a table says of the circuits of a model under a class of plans.
type row struct {
	class           string
	proofs          []*Proof
	waiting, failed []string // uses without a line, and with one that is no proof
}

// rows sorts the uses of a model.
func (e *Evidence) rows(model string) []*row {
	var rows []*row
	for _, u := range e.Uses {
		if u.Model != model {
			continue
		}
		name := classOf(u.Plan)
		at := slices.IndexFunc(rows, func(r *row) bool { return r.class == name })
		if at < 0 {
			at, rows = len(rows), append(rows, &row{class: name})
		}
		r, p := rows[at], e.Of(u)
		switch {
		case u.Failure != "":
			r.failed = append(r.failed, u.String()+": "+u.Failure)
		case p == nil:
			r.waiting = append(r.waiting, u.File+" "+u.Plan)
		case p.Failure != "":
			r.failed = append(r.failed, u.String()+": "+p.Failure)
		case !slices.Contains(r.proofs, p):
			r.proofs = append(r.proofs, p)
		}
	}
	order := func(name string) int {
		if at := slices.IndexFunc(classes, func(c class) bool { return c.name == name }); at >= 0 {
			return at
		}
		return len(classes)
	}
	slices.SortStableFunc(rows, func(a, b *row) int { return order(a.class) - order(b.class) })
	return rows
}

// total is the codes that an engine was compared on.
func (r *row) total(engine string) (n int) {
	for _, p := range r.proofs {
		n += p.Codes[engine]
	}
	return n
}

// span is the least and the largest of a value of all circuits, in a form and with a unit; empty where none has it.
func (r *row) span(form, unit string, of func(*Proof) *float64) string {
	var texts []string
	var all []float64
	for _, p := range r.proofs {
		if v := of(p); v != nil {
			all = append(all, *v)
		}
	}
	if len(all) == 0 {
		return ""
	}
	for _, v := range []float64{slices.Min(all), slices.Max(all)} {
		texts = append(texts, fmt.Sprintf(form, v))
	}
	return strings.Join(slices.Compact(texts), " to ") + unit
}

// line is the row as text.
func (r *row) line() string {
	mismatches := 0
	for _, p := range r.proofs {
		mismatches += p.Mismatches
	}
	circuits := fmt.Sprint(len(r.proofs))
	if n := len(r.waiting) + len(r.failed); n > 0 {
		circuits += fmt.Sprintf(" (%d designs without)", n)
	}
	gates := ""
	if n := r.total("gates"); n > 0 {
		gates = fmt.Sprint(n)
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %s | %d | %s | %s | %s | %s |\n", r.class, circuits,
		r.span("%.0f", "", func(p *Proof) *float64 { return number(p.Random) }), r.total("rtl"), r.total("pjrt"),
		r.total("icarus"), gates, mismatches, r.span("%.0f", "", func(p *Proof) *float64 { return number(p.Latency) }),
		r.span("%.6g", "", func(p *Proof) *float64 { return &p.II }),
		r.span("%.2f", " %", func(p *Proof) *float64 { return p.Quantized }),
		r.span("%.1f", " dB", func(p *Proof) *float64 { return p.SQNR }))
}

func number(n int) *float64 {
	v := float64(n)
	return &v
}

// The way in which every circuit is simulated: StallPercent of the cycles of each port stall, once for each of
// StallSeeds.
const StallPercent = 30

// StallSeeds are the seeds of the runs with stalls.
var StallSeeds = []uint64{1, 2, 3}

// Page is docs/results.md.
func (e *Evidence) Page() string {
	var b strings.Builder
	var models []string
	for _, u := range e.Uses {
		if !slices.Contains(models, u.Model) {
			models = append(models, u.Model)
		}
	}
	b.WriteString(strings.ReplaceAll(fmt.Sprintf(head, e.summary(), e.since(), StallPercent, len(StallSeeds),
		plansText()), "~", "`"))
	for _, model := range models {
		fmt.Fprintf(&b, "\n## %s\n\n%s%s", model, e.files(model), e.clock(model))
		b.WriteString("\n\n| plans | circuits | random samples | RTL | PJRT | Icarus | gates | mismatches | latency | II " +
			"| accuracy | SQNR |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		var notes []string
		for _, r := range e.rows(model) {
			b.WriteString(r.line())
			if len(r.waiting) > 0 {
				notes = append(notes, fmt.Sprintf("- Changed since their proof (%s): %s\n", r.class, strings.Join(r.waiting, ", ")))
			}
			for _, f := range r.failed {
				notes = append(notes, "- **Not proven**: "+f+"\n")
			}
		}
		if notes != nil {
			b.WriteString("\n" + strings.Join(notes, ""))
		}
	}
	return b.String()
}

// files says which files of a model there are, on how many stored samples they ran and how often the float model is
// right.
func (e *Evidence) files(model string) string {
	var files []string
	r := &row{}
	for _, u := range e.Uses {
		if u.Model != model {
			continue
		}
		if !slices.Contains(files, "`"+u.File+"`") {
			files = append(files, "`"+u.File+"`")
		}
		if p := e.Of(u); p != nil {
			r.proofs = append(r.proofs, p)
		}
	}
	text := strings.Join(files, ", ")
	if stored := r.span("%.0f", "", func(p *Proof) *float64 { return number(p.Stored) }); stored != "" {
		text += ": " + stored + " stored samples"
	}
	if right := r.span("%.2f", " %", func(p *Proof) *float64 { return p.Float }); right != "" {
		text += ", accuracy in float " + right
	}
	return text + "."
}

// Totals are of all designs: how many are proven, the circuits that they are, those whose proof failed, the codes
// compared, by engine, and the mismatches.
type Totals struct {
	Proven, Circuits, Failed int
	Codes                    map[string]int
	Mismatches               int
}

// Totals counts everything.
func (e *Evidence) Totals() Totals {
	t := Totals{Codes: map[string]int{}}
	seen := map[*Proof]bool{}
	for _, u := range e.Uses {
		p := e.Of(u)
		if u.Failure != "" || p != nil && p.Failure != "" {
			t.Failed++
			continue
		}
		if p == nil {
			continue
		}
		if t.Proven++; seen[p] {
			continue
		}
		seen[p] = true
		t.Circuits++
		t.Mismatches += p.Mismatches
		for engine, n := range p.Codes {
			t.Codes[engine] += n
		}
	}
	return t
}

// summary is what the page says of everything.
func (e *Evidence) summary() string {
	t := e.Totals()
	return fmt.Sprintf("%d of %d designs are proven: they are %d circuits. Codes compared with the reference: %d of the\n"+
		"simulated RTL, %d of XLA through PJRT, %d of the RTL in Icarus, %d of netlists. Mismatches: %d. Designs whose\n"+
		"proof failed: %d.", t.Proven, len(e.Uses), t.Circuits, t.Codes["rtl"], t.Codes["pjrt"], t.Codes["icarus"],
		t.Codes["gates"], t.Mismatches, t.Failed)
}

// since is the sentence about the last sweep.
func (e *Evidence) since() string {
	changed, proven := e.Since()
	return fmt.Sprintf("Last full sweep at `%s`; since then %d circuits changed, %d of them proven.", e.Sweep.Commit,
		changed, proven)
}

// plansText lists the plans of each class.
func plansText() string {
	var b strings.Builder
	for _, c := range classes {
		fmt.Fprintf(&b, "- %s: ~%s~\n", c.name, strings.Join(c.plans, "~, ~"))
	}
	return b.String()
}

// head is the begin of the page; ~ stands for a backquote.
const head = `# Results: examples under plans

Printed by

    scripts/measure results

from the lines of [evidence](evidence): one line for each circuit, with the commit at which it was compared.

%s

%s

A circuit is the hardware without comments and without the names that the compiler chose: instances, parameters,
connections, contents of memories, and the text of the library modules ([decisions](decisions/checks.md)). Designs that
are one circuit share its line. Where a module changed and was proven equal to what it was, lines stand.

Each circuit ran on all stored samples of its example and on random ones (uniform codes, extremes, small values), every
port of the RTL stalling in %d %% of all cycles, once for each of %d seeds, and on 16 samples without stalls;
circuits that take very many cycles per sample have fewer random samples. Verilator lints the design without a warning,
Icarus elaborates it, Yosys synthesizes it. A few samples also ran in Icarus and, of some designs, in the netlist that
Yosys makes. RTL, PJRT, Icarus, gates: codes compared. Latency is cycles from the first beat in to the first beat out,
II cycles from sample to sample, both without stalls. Accuracy and SQNR, over the stored samples, compare the quantized
model with the float one: they show what the plan costs and play no part in the comparison of codes.

The examples are the ~.onnx~ files but those of the transformers, which [transformers.md](transformers.md) measures;
[formats-exact.md](formats-exact.md) has every number format. The ~.pt2~ programs of digits-mlp, digits-cnn and jets-mlp
become the circuits of ~model.onnx~ (TestCircuits, TestCircuitsAll); those of digits-resnet and digits-dscnn and the
StableHLO files of digits-jax are simulated by TestVerifyFormsAll.

Plans are those of [examples/plans](../examples/plans), ~default~ is none:

%s
~mixed~, ~pack~, ~serial~, ~unroll~ and ~wrap~ run on ~model.onnx~ only, and ~wide~ not on the recurrent examples, whose
inputs are 8. A span is the least and the largest value of the circuits in a row. Clocks are those of
[timing.md](timing.md).
`
