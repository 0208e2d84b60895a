// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/op/block"
	"lathe/ir/target"
	"lathe/lower/calib"
)

// Words of the plan, in the order of the values that they stand for.
var (
	roundWords = []string{"even", "away", "up", "down", "halfzero", "floor", "ceil", "zero", "outward"}
	overWords  = []string{"saturate", "sym", "wrap"}
	modeWords  = []string{"lean", "fold", "unroll", "balance"}
	layerWords = []string{"spatial", "loop"}
	styleWords = []string{"fold", "unroll"}
	memWords   = []string{"auto", "block", "distributed"}
	lineWords  = []string{"auto", "block", "distributed", "ultra"}
	dspWords   = []string{"one", "pack", "chain", "none", "auto"}
)

// planParser carries what all parts of the plan need while it is read; it collects all errors.
type planParser struct {
	at    *lines
	errs  diag.List
	round format.Round
	over  format.Over
	fpga  *target.Device
}

// ParsePlan reads a plan; name stands in messages. What the plan does not say is as in DefaultPlan. All mistakes are
// reported at once: L0401 for unknown keys, wrong types and syntax, L0402 for values that are not allowed, L0413 for an
// unknown part, L0416 for keys of a mode that is not the plan's, L05xx for impossible formats, each with its line.
func ParsePlan(name string, data []byte) (*Plan, error) { return ParsePlanWith(name, data, Settings{}) }

// plan is what the file says, with the defaults where it says nothing.
func (f *planFile) plan(name string, at *lines) (*Plan, error) {
	plan := DefaultPlan()
	plan.File = name
	p := &planParser{at: at}
	p.target(f, &plan.Target)
	p.fpga = &plan.Target.FPGA
	p.quantize(f, &plan.Quantize)
	p.fold(f, &plan.Fold)
	plan.Decode = f.Sequence.Decode != nil && *f.Sequence.Decode
	plan.Lengths = p.word("sequence.lengths", f.Sequence.Lengths, []string{"fixed", "dynamic"}) == 1
	if plan.Decode && plan.Lengths {
		p.fail("sequence.lengths", "sequences of a decoder have any length already").
			WithHint("leave lengths out, or decode")
	}
	p.memory(f, &plan.Fold.Memory)
	p.unrolled(&f.Unroll, &plan.Fold)
	p.ends(f, plan)
	p.at.sort(p.errs)
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	return plan, nil
}

func (p *planParser) fail(path, msg string, args ...any) *diag.Error {
	e := diag.New("L0402", p.at.pos(path), msg, args...)
	p.errs = append(p.errs, e)
	return e
}

// word finds the index of *text in words; nil leaves the first.
func (p *planParser) word(path string, text *string, words []string) int {
	if text == nil {
		return 0
	}
	if i := slices.Index(words, *text); i >= 0 {
		return i
	}
	e := p.fail(path, "%s = %q: it is one of %s", path, *text, strings.Join(words, ", "))
	if near := diag.Nearest(*text, words); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return 0
}

// add takes an error of another package, at the line of path.
func (p *planParser) add(err error, path string) {
	p.errs = p.errs.Add(err, "L0402", p.at.pos(path))
}

func (p *planParser) quantize(f *planFile, q *QuantizePlan) {
	p.round = format.Round(p.word("quantize.round", f.Quantize.Round, roundWords))
	p.over = format.Over(p.word("quantize.overflow", f.Quantize.Overflow, overWords))
	q.Round, q.Over = p.round, p.over
	if q.Unsigned = f.Quantize.Data == nil; f.Quantize.Unsigned != nil {
		q.Unsigned = *f.Quantize.Unsigned
	}
	q.Calibrate = calib.Method(p.word("quantize.calibrate", f.Quantize.Calibrate, calib.Methods()))
	q.Equalize = f.Quantize.Equalize != nil && *f.Quantize.Equalize
	q.RoundWeights = Rounding(p.word("quantize.round_weights", f.Quantize.RoundWeights, roundingWords))
	if q.Smooth = f.Quantize.Smooth; q.Smooth != nil && !(*q.Smooth >= 0 && *q.Smooth <= 1) {
		p.fail("quantize.smooth", "smooth = %v lies outside 0..1", *q.Smooth).WithHint("0.5 shares ranges evenly")
	}
	q.CorrectBias = f.Quantize.Correct != nil && *f.Quantize.Correct
	if a := f.Quantize.Acc; a != nil {
		if *a < 8 || *a > block.WindowW {
			p.fail("quantize.acc", "acc = %d: window accumulators have 8 to %d bits", *a, block.WindowW)
		}
		q.Acc = *a
	}
	for _, s := range []struct {
		key  string
		text *string
		slot *Choice
	}{{"data", f.Quantize.Data, &q.Data}, {"weight", f.Quantize.Weight, &q.Weight}, {"bias", f.Quantize.Bias, &q.Bias}} {
		s.slot.Pattern = p.options(s.slot.Pattern, "")
		if c := p.choice("quantize."+s.key, s.text, fmt.Sprintf("[quantize] %s =", s.key)); c != nil {
			c.From += fmt.Sprintf(" %q", *s.text)
			*s.slot = *c
		}
	}
	for i := range f.Quantize.Rule {
		q.Rules = append(q.Rules, p.rule(i, &f.Quantize.Rule[i]))
	}
}

func (p *planParser) rule(i int, f *quantizeRule) *Rule {
	path := fmt.Sprintf("quantize.rule[%d]", i)
	r := &Rule{Match: p.match(path, "[[quantize.rule]]", &f.matchFile), Skip: f.Skip}
	what := strings.SplitN(r.From, " ", 2)[1]
	r.DataIn = p.choice(path+".data_in", f.DataIn, what)
	r.Weight = p.choice(path+".weight", f.Weight, what)
	r.Bias = p.choice(path+".bias", f.Bias, what)
	r.DataOut = p.choice(path+".data_out", f.DataOut, what)
	r.Gate = p.asWritten(path+".gate", f.Gate, what)
	r.Cell = p.asWritten(path+".cell", f.Cell, what)
	r.Channels = p.channels(path+".channels", f.Channels, what)
	if f.Skip == nil && f.DataIn == nil && f.Weight == nil && f.Bias == nil && f.DataOut == nil && f.Gate == nil &&
		f.Cell == nil && f.Channels == nil {
		p.fail(path, "this rule sets nothing").Hint = "set skip, data_in, weight, bias, data_out, gate, cell or channels"
	}
	return r
}

// match reads the keys that select nodes. A rule without any matches every node.
func (p *planParser) match(path, table string, f *matchFile) Match {
	m := Match{From: p.at.pos(path) + " " + table}
	for _, k := range []struct {
		key  string
		text *string
		to   *string
	}{{"op", f.Op, &m.Op}, {"name", f.Name, &m.Name}, {"regex", f.Regex, &m.Regex}} {
		if k.text != nil {
			*k.to = *k.text
			m.From += fmt.Sprintf(" %s = %q", k.key, *k.text)
		}
	}
	if m.Op != "" && op.Find(m.Op) == nil {
		e := p.fail(path+".op", "unknown operation %q", m.Op)
		if near := diag.Nearest(m.Op, op.Names()); near != "" {
			e.Hint = fmt.Sprintf("did you mean %q?", near)
		} else {
			e.Hint = "lathe list ops names them"
		}
	}
	if m.Name != "" {
		m.glob = glob(m.Name)
	}
	if m.Regex != "" {
		re, err := regexp.Compile(m.Regex)
		if err != nil {
			p.fail(path+".regex", "%v", err)
		}
		m.regex = re
	}
	return m
}

// glob compiles a pattern in which * is any text and ? any character, dots included.
func glob(pattern string) *regexp.Regexp {
	text := regexp.QuoteMeta(pattern)
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\*`, `.*`), `\?`, `.`)
	return regexp.MustCompile(`^(?s:` + text + `)$`)
}

// choice reads a format; nil where the key is not given. what names the key behind file and line.
func (p *planParser) choice(path string, text *string, what string) *Choice {
	c := p.asWritten(path, text, what)
	if c != nil {
		c.Pattern = p.options(c.Pattern, *text)
	}
	return c
}

// asWritten is a choice that the rounding and overflow of the plan do not change.
func (p *planParser) asWritten(path string, text *string, what string) *Choice {
	if text == nil {
		return nil
	}
	pattern, err := format.ParsePattern(*text)
	if err != nil {
		p.add(err, path)
		return nil
	}
	return &Choice{Pattern: pattern, From: p.at.pos(path) + " " + what, Given: true}
}

// options applies the plan's rounding and overflow to a format whose text does not set them itself.
func (p *planParser) options(pattern format.Pattern, text string) format.Pattern {
	round, over := !strings.Contains(text, "round="), !strings.Contains(text, "over=")
	pattern.Format = format.WithRules(pattern.Format, func(r *format.Round, o *format.Over) {
		if round {
			*r = p.round
		}
		if over {
			*o = p.over
		}
	})
	return pattern
}

func (p *planParser) fold(f *planFile, out *FoldPlan) {
	out.Mode = modeWords[p.word("fold.mode", f.Fold.Mode, modeWords)]
	if f.Fold.Mode != nil {
		out.From = p.at.pos("fold.mode") + fmt.Sprintf(" [fold] mode = %q", *f.Fold.Mode)
	}
	out.Layers = layerWords[p.word("fold.layers", f.Fold.Layers, layerWords)]
	if f.Fold.Layers != nil {
		out.LayersFrom = p.at.pos("fold.layers") + fmt.Sprintf(" [fold] layers = %q", *f.Fold.Layers)
	}
	p.images(f, out)
	given := []*int{f.Fold.MaxLUT, f.Fold.MaxFF, f.Fold.MaxDSP, f.Fold.MaxBRAM}
	for i, b := range out.bounds() {
		p.positive("fold."+b.key, given[i], b.most)
		p.balanceOnly(out.Mode, "fold", b.key, given[i] != nil)
	}
	if v := f.Fold.FPS; v != nil {
		if !(*v > 0) || math.IsInf(*v, 0) {
			p.fail("fold.fps", "fps = %v is not positive", *v)
		}
		out.FPS = *v
	}
	if f.Fold.DSP != nil {
		out.DSP = p.dsp("fold.dsp", f.Fold.DSP)
	}
	p.balanceOnly(out.Mode, "fold", "fps", f.Fold.FPS != nil)
	for i := range f.Fold.Rule {
		out.Rules = append(out.Rules, p.foldRule(fmt.Sprintf("fold.rule[%d]", i), &f.Fold.Rule[i]))
	}
}

func (p *planParser) foldRule(path string, r *foldRuleFile) *FoldRule {
	rule := &FoldRule{Match: p.match(path, "[[fold.rule]]", &r.matchFile)}
	p.positive(path+".in_lanes", r.InLanes, &rule.InLanes)
	p.positive(path+".out_lanes", r.OutLanes, &rule.OutLanes)
	if r.Style != nil {
		rule.Style = []ir.Style{ir.StyleFold, ir.StyleUnroll}[p.word(path+".style", r.Style, styleWords)]
	}
	if r.Mem != nil {
		rule.Mem = memWords[p.word(path+".mem", r.Mem, memWords)]
	}
	if r.LineMem != nil {
		rule.Lines = p.ram(path+".line_mem", "line_mem", r.LineMem, lineWords)
	}
	if r.Weights != nil {
		rule.Weights = weightsWords[p.word(path+".weights", r.Weights, weightsWords)]
	}
	if r.RAM != nil {
		rule.Ram = p.ram(path+".ram", "ram", r.RAM, ramWords)
	}
	if r.DSP != nil {
		rule.DSP = p.dsp(path+".dsp", r.DSP)
	}
	if *r == (foldRuleFile{matchFile: r.matchFile}) {
		p.fail(path, "this rule sets nothing").Hint = "set in_lanes, out_lanes, style, mem, line_mem, weights, ram or dsp"
	}
	return rule
}

// mostImages bounds the samples in a block that layers share: as many as wrappers keep count of.
const mostImages = 32

func (p *planParser) images(f *planFile, out *FoldPlan) {
	k := f.Fold.Images
	switch {
	case k == nil:
		return
	case *k < 1 || *k > mostImages:
		p.fail("fold.images", "images = %d lies outside 1..%d", *k, mostImages)
	case out.Layers != "loop":
		e := diag.New("L0416", p.at.pos("fold.images"), `fold.images: only layers = "loop" uses it`)
		p.errs = append(p.errs, e.WithHint(`set layers = "loop" beside it, or leave it out`))
	case *k > 1 && f.Sequence.Decode != nil && *f.Sequence.Decode:
		p.fail("fold.images", "images = %d: a decoder takes one sequence at a time", *k).Hint = "leave it out"
	}
	out.Images = *k
}

// balanceOnly refuses a key that no other mode reads: it would be a promise that nobody keeps.
func (p *planParser) balanceOnly(mode, table, key string, given bool) {
	if mode != "balance" && given {
		e := diag.New("L0416", p.at.pos(table+"."+key), `%s: only mode = "balance" uses it`, key)
		p.errs = append(p.errs, e.WithHint(`set mode = "balance" in [fold], or leave it out`))
	}
}

func (p *planParser) positive(path string, in, to *int) {
	if in == nil {
		return
	}
	if *in < 1 {
		p.fail(path, "%s = %d is not positive", path[strings.LastIndex(path, ".")+1:], *in)
	}
	*to = *in
}

// ends reads what the plan says of graph inputs and outputs.
func (p *planParser) ends(f *planFile, plan *Plan) {
	for i := range f.Input {
		in := &f.Input[i]
		path := fmt.Sprintf("input[%d]", i)
		name := p.endName(path, in.Name)
		if plan.input(name) != nil {
			p.fail(path, "input %q is described twice", name)
		}
		from := p.at.pos(path) + fmt.Sprintf(" [[input]] name = %q", name)
		entry := InputPlan{Name: name, From: from, Shape: in.Shape}
		entry.Format = p.choice(path+".format", in.Format, fmt.Sprintf("[[input]] name = %q", name))
		if slices.ContainsFunc(in.Shape, func(d int) bool { return d < 1 }) {
			p.fail(path+".shape", "shape %v has a dimension that is not positive", in.Shape)
		}
		if in.Range != nil {
			entry.Range = p.bounds(path+".range", in.Range)
		}
		entry.Saturate = p.word(path+".nonfinite", in.Nonfinite, []string{"error", "saturate"}) == 1
		plan.Inputs = append(plan.Inputs, entry)
	}
	for i := range f.Output {
		out := &f.Output[i]
		path := fmt.Sprintf("output[%d]", i)
		name := p.endName(path, out.Name)
		if plan.output(name) != nil {
			p.fail(path, "output %q is described twice", name)
		}
		what := fmt.Sprintf("[[output]] name = %q", name)
		plan.Outputs = append(plan.Outputs, OutputPlan{Name: name, From: p.at.pos(path) + " " + what,
			Format: p.choice(path+".format", out.Format, what)})
	}
}

func (p *planParser) endName(path string, name *string) string {
	if name == nil {
		p.fail(path, "the name is missing")
		return ""
	}
	return *name
}

func (p *planParser) bounds(path string, r []float64) *[2]float64 {
	finite := !slices.ContainsFunc(r, func(v float64) bool { return math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 })
	if len(r) != 2 || !finite || !(r[0] < r[1]) {
		p.fail(path, "range = %v is not [low, high] with low < high", r)
		return nil
	}
	return &[2]float64{r[0], r[1]}
}
