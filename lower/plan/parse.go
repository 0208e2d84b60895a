// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/keys"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/op/block"
	"lathe/ir/target"
)

// Words of the plan, in the order of the values that they stand for.
var (
	RoundWords = []string{"even", "away", "up", "down", "halfzero", "floor", "ceil", "zero", "outward"}
	OverWords  = []string{"saturate", "sym", "wrap"}
	ModeWords  = []string{"lean", "fold", "unroll", "balance"}
	LayerWords = []string{"spatial", "loop"}
	styleWords = []string{"fold", "unroll"}
	memWords   = []string{"auto", "block", "distributed"}
	lineWords  = []string{"auto", "block", "distributed", "ultra"}
	DspWords   = []string{"one", "pack", "chain", "pack_chain", "none", "auto"}
)

// parser carries what all parts of the plan need while it is read; it collects all errors.
type parser struct {
	at    *keys.Lines
	errs  diag.List
	round format.Round
	over  format.Over
	fpga  *target.Device
}

// Parse reads a plan; name stands in messages. What the plan does not say is as in Default. All mistakes are
// reported at once: L0401 for unknown keys, wrong types and syntax, L0402 for values that are not allowed, L0413 for an
// unknown part, L0416 for keys of a mode that is not the plan's, L05xx for impossible formats, each with its line.
func Parse(name string, data []byte) (*Plan, error) { return ParseWith(name, data, Settings{}) }

// plan is what the file says, with the defaults where it says nothing.
func (f *file) plan(name string, at *keys.Lines) (*Plan, error) {
	plan := Default()
	plan.File = name
	p := &parser{at: at}
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
	p.stream(f, plan)
	p.memory(f, &plan.Fold.Memory)
	p.unrolled(&f.Unroll, &plan.Fold)
	p.ends(f, plan)
	p.train(&f.Train, &plan.Train)
	p.prune(&f.Prune, &plan.Prune)
	p.lora(&f.Lora, &plan.LoRA)
	p.distill(&f.Distill, plan)
	p.bits(&f.Bits, plan)
	p.at.Sort(p.errs)
	if err := p.errs.Err(); err != nil {
		return nil, err
	}
	return plan, nil
}

func (p *parser) fail(path, msg string, args ...any) *diag.Error {
	e := diag.New(diag.PlanValue, p.at.Pos(path), msg, args...)
	p.errs = append(p.errs, e)
	return e
}

// word finds the index of *text in words; nil leaves the first.
func (p *parser) word(path string, text *string, words []string) int {
	if text == nil {
		return 0
	}
	if i := slices.Index(words, *text); i >= 0 {
		return i
	}
	last := len(words) - 1
	e := p.fail(path, "%s = %q is unknown; use %s or %s", path[strings.LastIndex(path, ".")+1:], *text,
		strings.Join(words[:last], ", "), words[last])
	if near := diag.Nearest(*text, words); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return 0
}

// number takes a number that lies within limits.
func (p *parser) number(path string, given *float64, to *float64, lo, hi float64) {
	if given == nil {
		return
	}
	if !(*given >= lo && *given <= hi) {
		p.fail(path, "%s = %v lies outside %v..%v", path[strings.LastIndex(path, ".")+1:], *given, lo, hi)
	}
	*to = *given
}

// count takes a whole number that lies within limits.
func (p *parser) count(path string, given *int, to *int, lo, hi int) {
	if given == nil {
		return
	}
	if *given < lo || *given > hi {
		p.fail(path, "%s = %d lies outside %d..%d", path[strings.LastIndex(path, ".")+1:], *given, lo, hi)
	}
	*to = *given
}

// add takes an error of another package, at the line of path.
func (p *parser) add(err error, path string) {
	p.errs = p.errs.Add(err, diag.PlanValue, p.at.Pos(path))
}

func (p *parser) quantize(f *file, q *Quantize) {
	p.round = format.Round(p.word("quantize.round", f.Quantize.Round, RoundWords))
	p.over = format.Over(p.word("quantize.overflow", f.Quantize.Overflow, OverWords))
	q.Round, q.Over = p.round, p.over
	if q.Unsigned = f.Quantize.Data == nil; f.Quantize.Unsigned != nil {
		q.Unsigned = *f.Quantize.Unsigned
	}
	q.Calibrate = Method(p.word("quantize.calibrate", f.Quantize.Calibrate, Methods()))
	q.Equalize = f.Quantize.Equalize
	q.RoundWeights = Rounding(p.word("quantize.round_weights", f.Quantize.RoundWeights, RoundingWords))
	p.digitPrice(f, q)
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

func (p *parser) rule(i int, f *quantizeRule) *Rule {
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
func (p *parser) match(path, table string, f *matchFile) Match {
	m := Match{From: p.at.Pos(path) + " " + table}
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

// choice reads a format; nil where the key is not given. what names the key behind file and line.
func (p *parser) choice(path string, text *string, what string) *Choice {
	c := p.asWritten(path, text, what)
	if c != nil {
		c.Pattern = p.options(c.Pattern, *text)
	}
	return c
}

// asWritten is a choice that the rounding and overflow of the plan do not change.
func (p *parser) asWritten(path string, text *string, what string) *Choice {
	if text == nil {
		return nil
	}
	pattern, err := format.ParsePattern(*text)
	if err != nil {
		p.add(err, path)
		return nil
	}
	return &Choice{Pattern: pattern, From: p.at.Pos(path) + " " + what, Given: true}
}

// options applies the plan's rounding and overflow to a format whose text does not set them itself.
func (p *parser) options(pattern format.Pattern, text string) format.Pattern {
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
