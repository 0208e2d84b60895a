// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/quantize/formats"
	"lathe/lower/schedule"
)

// PlanText is a plan as a file, filled in with what became of it for a model: formats that calibration chose stand as
// rules, other decisions as comments. g is the quantized graph, quantized and scheduled are the reports of lowering it;
// quantized is nil for a graph that was saved quantized. Where quantized.Loose is 0, plan.Parse of the text leads to
// the same design without calibration data.
func PlanText(p *plan.Plan, model string, g *ir.Graph, quantized *quantize.Report, scheduled *schedule.Report) string {
	t := planText{plan: p, model: model, graph: g, scheduled: scheduled}
	if quantized != nil {
		t.quantized = *quantized
	}
	t.head(quantized == nil)
	t.target()
	t.quantize(quantized == nil)
	t.fold()
	if p.Lengths {
		t.line("\n[sequence]")
		t.key(true, "lengths", "dynamic", "each frame has as many tokens as come before TLAST")
	}
	if p.Decode {
		t.line("\n[sequence]")
		t.key(true, "decode", true, "tokens may come one by one, sequences may be short")
	}
	if quantized != nil {
		t.ends()
	}
	return t.out.String()
}

type planText struct {
	plan      *plan.Plan
	model     string
	graph     *ir.Graph
	quantized quantize.Report
	scheduled *schedule.Report
	out       strings.Builder
}

func (t *planText) line(text string, args ...any) { fmt.Fprintf(&t.out, text+"\n", args...) }

// key writes a key, as a comment where the plan leaves it to the default.
func (t *planText) key(given bool, name string, value any, comment string) {
	text := name + " = " + plan.TOML(value)
	if !given {
		text = "# " + text
	}
	if comment != "" {
		text = fmt.Sprintf("%-32s # %s", text, comment)
	}
	t.line("%s", text)
}

func (t *planText) head(saved bool) {
	t.line("# The plan of %s. Keys and their values: docs/plan.md. Lines behind # say what follows", t.model)
	t.line("# from others, or what Lathe chose: take the # away to hold on to it, or to choose otherwise.")
	switch {
	case saved:
		t.line("# The graph was saved quantized: its formats stand, and only [target] and [fold] have an effect.")
	case t.quantized.Loose > 0:
		t.line("# Calibration decides more than rules can say here: give --calibrate with this plan, as when it was made.")
	default:
		t.line("# It leads to the same Verilog with and without --calibrate.")
	}
}

func (t *planText) target() {
	f := t.plan.Target.FPGA
	t.line("\n[target]")
	t.key(t.plan.Target.Stated, "part", f.Part, fmt.Sprintf("%s: %s LUT, %s DSP, %s block RAM", f.Series,
		diag.Grouped(f.LUT), diag.Grouped(f.DSP), diag.Grouped(f.BRAM)))
	t.key(true, "clock_mhz", t.plan.Target.ClockMHz, "hoped for; cycles become seconds by it")
	t.key(t.plan.Target.StreamMHz > 0, "stream_clock_mhz", t.plan.Target.StreamMHz,
		"that of the streams, which cross to clock_mhz")
	if !t.plan.Decode && !t.plan.Lengths {
		t.line("\n[stream]")
		t.key(t.plan.BadFrame != plan.BadFrames[0], "bad_frame", t.plan.BadFrame, strings.Join(plan.BadFrames, ", "))
	}
}

func (t *planText) quantize(saved bool) {
	q := &t.plan.Quantize
	t.line("\n[quantize]")
	if saved {
		return
	}
	given := func(c plan.Choice) bool { return c.Given || !t.ownFormats() }
	t.key(given(q.Data), "data", t.format(&q.Data), "inputs and results where no rule says more")
	t.key(true, "unsigned", q.Unsigned, "ufixed where results are never negative")
	about := ""
	if _, open := q.Weight.Pattern.Open(); open {
		about = "fraction bits by output channel"
	}
	t.key(given(q.Weight), "weight", t.format(&q.Weight), about)
	t.key(given(q.Bias), "bias", t.format(&q.Bias), "")
	t.key(true, "round", plan.RoundWords[q.Round], strings.Join(plan.RoundWords, ", "))
	t.key(true, "overflow", plan.OverWords[q.Over], strings.Join(plan.OverWords, ", "))
	if q.Calibrate == plan.CrossEntropy && t.quantized.Loose == 0 { // of which the formats that it chose are left
		t.key(true, "calibrate", plan.MSE.String(), q.Calibrate.String()+" has chosen the formats below")
	} else {
		t.key(true, "calibrate", q.Calibrate.String(), "")
	}
	if q.Equalize != nil || t.quantized.Moved && q.Smooth == nil {
		t.key(true, "equalize", q.Equalize == nil || *q.Equalize, "powers of two move between layers")
	}
	if q.Smooth != nil {
		t.key(true, "smooth", *q.Smooth, "of ranges, what goes from values to weights")
	}
	t.rounding(q)
	if q.CorrectBias {
		t.key(true, "correct_bias", true, "by the mean error of each output channel")
	}
	t.key(true, "acc", q.Acc, "bits of accumulators of products in blocks, at most")
	last := ""
	for _, s := range t.quantized.Slots {
		if s.Node == last || s.Op == "input" {
			continue
		}
		last = s.Node
		t.chosen(s.Node)
	}
	for _, r := range q.Rules {
		t.line("\n[[quantize.rule]]")
		t.match(&r.Match)
		if r.Skip != nil {
			t.key(true, "skip", *r.Skip, "")
		}
		t.slot("data_in", r.DataIn)
		t.slot("weight", r.Weight)
		t.slot("bias", r.Bias)
		t.slot("data_out", r.DataOut)
		t.slot("gate", r.Gate)
		t.slot("cell", r.Cell)
		if r.Channels != nil {
			t.key(true, "channels", r.Channels.List, "")
		}
	}
}

// rounding writes how codes of weights are chosen, where that is not the nearest.
func (t *planText) rounding(q *plan.Quantize) {
	if q.RoundWeights != plan.RoundNearest {
		t.key(true, "round_weights", q.RoundWeights.String(), strings.Join(plan.RoundingWords, ", "))
	}
	if q.DigitPrice != nil {
		t.key(true, "digit_price", *q.DigitPrice, "of a signed digit, in shares of the variance of a layer's outputs")
	}
}

// ownFormats says that the model brings formats, above which keys of [quantize] would stand.
func (t *planText) ownFormats() bool {
	return slices.ContainsFunc(t.quantized.Slots, func(s formats.Slot) bool {
		return strings.HasPrefix(s.From,
			"the model:")
	})
}

// chosen writes the rule of one node: what calibration chose, and as comments what follows from other choices.
func (t *planText) chosen(node string) {
	pinned, seen, behind := make(map[string]bool), make(map[string]bool), ""
	for _, s := range t.quantized.Chosen {
		if s.Node == node {
			pinned[s.Slot] = true
		}
	}
	for _, s := range t.quantized.Slots {
		if s.Node == node && s.Slot == "cast" {
			behind = s.Format // what data_out has to say
		}
	}
	var rule, said []string
	head := "[[quantize.rule]]"
	for _, s := range t.quantized.Slots {
		switch {
		case s.Node != node || seen[s.Slot] || strings.HasPrefix(s.From, formats.OnTheWay):
			continue
		case s.Slot == "factor" || s.Slot == "cast" || s.Slot == "output":
			continue
		case s.Slot == "data_out" && behind != "" && !pinned[s.Slot]:
			said = append(said, fmt.Sprintf("# %s = %s", s.Slot, plan.Quoted(t.spelled(behind))))
		case s.Slot == "acc" || !pinned[s.Slot]:
			said = append(said, fmt.Sprintf("# %s = %s", s.Slot, plan.Quoted(s.Format)))
		default:
			rule = append(rule, fmt.Sprintf("%s = %s", s.Slot, plan.Quoted(t.spelled(s.Format))))
		}
		seen[s.Slot] = true
		head = fmt.Sprintf("%-32s # %s", "[[quantize.rule]]", s.Op)
	}
	off := ""
	if len(rule) == 0 { // a rule must set something
		if len(said) == 0 || t.graph.Find(node) == nil { // it is part of another node now
			return
		}
		off = "# "
	}
	t.line("\n%s%s\n%s%s", off, head, off, matchLine(node))
	for _, l := range append(rule, said...) {
		t.line("%s", l)
	}
}

// matchLine selects exactly one node.
func matchLine(node string) string {
	if strings.ContainsAny(node, "*?") {
		return "regex = " + plan.Quoted("^"+regexp.QuoteMeta(node)+"$")
	}
	return "name = " + plan.Quoted(node)
}

func (t *planText) match(m *plan.Match) {
	for _, k := range []struct{ key, text string }{{"op", m.Op}, {"name", m.Name}, {"regex", m.Regex}} {
		if k.text != "" {
			t.key(true, k.key, k.text, "")
		}
	}
}

func (t *planText) slot(key string, c *plan.Choice) {
	if c != nil {
		t.key(true, key, t.format(c), "")
	}
}

func (t *planText) format(c *plan.Choice) string { return t.spelled(c.Pattern.String()) }

// spelled is a format's text with the options that it leaves out for being the common ones, where those of the plan
// differ.
func (t *planText) spelled(text string) string {
	q := &t.plan.Quantize
	pattern, err := format.ParsePattern(text)
	if err != nil {
		return text
	}
	var options string
	format.WithRules(pattern.Format, func(r *format.Round, o *format.Over) {
		if *r != q.Round && !strings.Contains(text, "round=") {
			options += ",round=" + plan.RoundWords[*r]
		}
		if *o != q.Over && !strings.Contains(text, "over=") {
			options += ",over=" + plan.OverWords[*o]
		}
	})
	at := strings.Index(text, ")")
	if at < 0 || options == "" {
		return text
	}
	return text[:at] + options + text[at:]
}

func (t *planText) ends() {
	chosen, ending := make(map[string]string), make(map[string]string)
	for _, s := range t.quantized.Chosen {
		switch s.Op {
		case "input":
			chosen[s.Node] = s.Format
		case "output":
			ending[s.Node] = s.Format
		}
	}
	for _, n := range t.graph.In {
		t.line("\n[[input]]")
		t.key(true, "name", n.Name, "")
		in := t.plan.Input(n.Name)
		if in == nil {
			in = &plan.Input{}
		}
		switch {
		case chosen[n.Name] != "":
			t.key(true, "format", t.spelled(chosen[n.Name]), "")
		case in.Format != nil:
			t.key(true, "format", t.format(in.Format), "")
		}
		if r := in.Range; r != nil {
			t.line("range = [%s, %s]", fraction(r[0]), fraction(r[1]))
		} else {
			t.line("# range = [-1.0, 1.0]")
		}
		if in.Shape != nil {
			t.line("shape = %s", strings.ReplaceAll(fmt.Sprint(in.Shape), " ", ", "))
		}
		if e := n.Attrs.(*ir.Input).Exponents; e != nil {
			t.line("exponents = %s # of the powers of two by which channels are multiplied", plan.TOML(e))
		}
		if in.Saturate {
			t.key(true, "nonfinite", "saturate", "error, saturate")
		}
	}
	for _, o := range t.graph.Out {
		out := t.plan.Output(o.Name)
		if out == nil || out.Format == nil {
			t.line("\n# [[output]]\n# name = %s\n# format = %s", plan.Quoted(o.Name), plan.Quoted("fixed(16)"))
			continue
		}
		t.line("\n[[output]]")
		t.key(true, "name", o.Name, "")
		text := t.format(out.Format)
		if f := ending[o.Name]; f != "" {
			text = t.spelled(f)
		}
		t.key(true, "format", text, "")
	}
}

// fraction is a number with a point, as lists of TOML want all of them alike.
func fraction(v float64) string {
	s := plan.TOML(v)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
