// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/dot"
	"lathe/ir/target"
	"lathe/rtl/cmvm"
)

// Filled says that the plan asks for neither a rate nor bounds.
func Filled(f *Fold) bool { return f.FPS == 0 && len(f.Stated()) == 0 }

// Stated are the bounds that the plan states, by their keys.
func (f *Fold) Stated() map[string]int {
	all := map[string]int{}
	for _, b := range f.Bounds() {
		if *b.Most > 0 {
			all[b.Key] = *b.Most
		}
	}
	return all
}

// dsp is the word for what multiplies; only UltraScale+ has the DSPs of chains.
func (p *parser) dsp(path string, text *string) string {
	word := DspWords[p.word(path, text, DspWords)]
	if strings.HasSuffix(word, "chain") && !p.fpga.Family.DSP.Chain {
		p.fail(path, `dsp = %q: %s has no DSP48E2`, word, p.fpga.Name).Hint = `use "auto", or a part of UltraScale+`
	}
	return word
}

// Fold chooses how much hardware each layer gets.
type Fold struct {
	// Mode is "lean" (the rate of fold with the least hardware), "fold" (some lanes in every layer), "unroll" (weights
	// wired into sums) or "balance" (for a rate or a budget).
	Mode string
	// Layers is "spatial" (units for every layer) or "loop" (layers that are alike share one block of units), LayersFrom
	// the plan line that says so.
	Layers, LayersFrom string
	// Images is how many samples are at once in the block that layers share, if they do: each goes through it before the
	// first of them goes through it again.
	Images int
	// From is the plan line of Mode.
	From  string
	Rules []*FoldRule
	// Part is that of [target], if the plan names one: its cells are predicted, and products fit its DSPs; nil: none.
	Part *target.Device
	// DSP holds where no rule sets it.
	DSP string
	// Memory is where weights live.
	Memory Memory
	// Sums says how those of unrolled layers are built, SumsFrom is the plan line that does, if there is one.
	Sums     ir.Sums
	SumsFrom string
	// AutoUnroll lets the balance mode unroll layers.
	AutoUnroll bool
	// FPS is the wanted rate and MaxLUT, MaxFF, MaxDSP, MaxBRAM are the bounds of the balance mode; 0: none. Parse
	// refuses them in any other mode.
	FPS                            float64
	MaxLUT, MaxFF, MaxDSP, MaxBRAM int
}

// Unrolls says that the plan has the weights of a layer n wired into sums, by a rule or by the mode.
func (f *Fold) Unrolls(n *ir.Node) bool {
	for _, r := range f.Rules {
		if r.Covers(n) && r.Style != ir.StyleUndecided {
			return r.Style == ir.StyleUnroll
		}
	}
	return f.Mode == "unroll"
}

// Bounds are the keys that bound what a design takes, with their values.
func (f *Fold) Bounds() []bound {
	return []bound{{"max_lut", &f.MaxLUT}, {"max_ff", &f.MaxFF}, {"max_dsp", &f.MaxDSP}, {"max_bram", &f.MaxBRAM}}
}

// bound is a key of the balance mode and the number of cells that it stands for; 0: none.
type bound struct {
	Key  string
	Most *int
}

// FoldRule chooses lanes for the nodes that it matches; 0 leaves a choice to later rules and to the mode.
type FoldRule struct {
	Match
	// InLanes and OutLanes are elements a beat: for linear and conv parallel inputs and parallel output channels.
	InLanes, OutLanes int
	// Channels is how many channels a layer computes, dead ones included.
	Channels int
	// Style overrides the mode for these nodes.
	Style ir.Style
	// Mem is where the weights live: "auto", "block", "distributed".
	Mem string
	// Lines is the memory of line buffers: "auto", "block", "distributed" or "ultra".
	Lines string
	// Weights says whether weights live in the chip or outside: a word of [memory].
	Weights string
	// Ram is the RAM of weights that are loaded: a word of [memory].
	Ram string
	// DSP is what multiplies: "one" DSP a multiplier, "pack" for two, "chain" to sum as well,
	// "pack_chain" for both, "none", or "auto".
	DSP string
}

func (p *parser) fold(f *file, out *Fold) {
	if f.Target.Part != nil {
		out.Part = p.fpga
	}
	out.Mode = ModeWords[p.word("fold.mode", f.Fold.Mode, ModeWords)]
	if f.Fold.Mode != nil {
		out.From = p.at.Pos("fold.mode") + fmt.Sprintf(" [fold] mode = %q", *f.Fold.Mode)
	}
	out.Layers = LayerWords[p.word("fold.layers", f.Fold.Layers, LayerWords)]
	if f.Fold.Layers != nil {
		out.LayersFrom = p.at.Pos("fold.layers") + fmt.Sprintf(" [fold] layers = %q", *f.Fold.Layers)
	}
	p.images(f, out)
	given := []*int{f.Fold.MaxLUT, f.Fold.MaxFF, f.Fold.MaxDSP, f.Fold.MaxBRAM}
	for i, b := range out.Bounds() {
		p.positive("fold."+b.Key, given[i], b.Most)
		p.balanceOnly(out.Mode, "fold", b.Key, given[i] != nil)
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

func (p *parser) foldRule(path string, r *foldRuleFile) *FoldRule {
	rule := &FoldRule{Match: p.match(path, "[[fold.rule]]", &r.matchFile)}
	p.positive(path+".in_lanes", r.InLanes, &rule.InLanes)
	p.positive(path+".out_lanes", r.OutLanes, &rule.OutLanes)
	p.positive(path+".pad_channels", r.Channels, &rule.Channels)
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
		rule.Weights = WeightsWords[p.word(path+".weights", r.Weights, WeightsWords)]
	}
	if r.RAM != nil {
		rule.Ram = p.ram(path+".ram", "ram", r.RAM, RamWords)
	}
	if r.DSP != nil {
		rule.DSP = p.dsp(path+".dsp", r.DSP)
	}
	if *r == (foldRuleFile{matchFile: r.matchFile}) {
		p.fail(path, "this rule sets nothing").Hint = "set in_lanes, out_lanes, pad_channels, style, mem, " +
			"line_mem, weights, ram or dsp"
	}
	return rule
}

// mostImages bounds the samples in a block that layers share: as many as wrappers keep count of.
const mostImages = 32

func (p *parser) images(f *file, out *Fold) {
	k := f.Fold.Images
	switch {
	case k == nil:
		return
	case *k < 1 || *k > mostImages:
		p.fail("fold.images", "images = %d lies outside 1..%d", *k, mostImages)
	case out.Layers != "loop":
		e := diag.New(diag.UnusedFoldKey, p.at.Pos("fold.images"), `fold.images: only layers = "loop" uses it`)
		p.errs = append(p.errs, e.WithHint(`set layers = "loop" beside it, or leave it out`))
	case *k > 1 && f.Sequence.Decode != nil && *f.Sequence.Decode:
		p.fail("fold.images", "images = %d: a decoder takes one sequence at a time", *k).Hint = "leave it out"
	}
	out.Images = *k
}

// balanceOnly refuses a key that no other mode reads: it would be a promise that nobody keeps.
func (p *parser) balanceOnly(mode, table, key string, given bool) {
	if mode != "balance" && given {
		e := diag.New(diag.UnusedFoldKey, p.at.Pos(table+"."+key), `%s: only mode = "balance" uses it`, key)
		p.errs = append(p.errs, e.WithHint(`set mode = "balance" in [fold], or leave it out`))
	}
}

func (p *parser) positive(path string, in, to *int) {
	if in == nil {
		return
	}
	if *in < 1 {
		p.fail(path, "%s = %d is not positive", path[strings.LastIndex(path, ".")+1:], *in)
	}
	*to = *in
}

// Bounds of [unroll].
const (
	mostEffort = 1024
	mostStages = 64
)

// digitBits are the bits that digits of vectors may have.
var digitBits = []int{1, 2, 4}

func nearestDigit(n int) int {
	at, _ := slices.BinarySearch(digitBits, n)
	return digitBits[min(at, len(digitBits)-1)]
}

// UsualSums are the defaults of [unroll]: the least hardware.
var UsualSums = ir.Sums{StageLevels: dot.StageLevels, Effort: cmvm.DefaultEffort, LUT: 6}

// FamilyWords are the LUTs that stand in front of carries, of six inputs or of four: the part's, unless the plan says.
var FamilyWords = []string{"lut6", "lut4"}

// unrolled reads how the sums of unrolled layers are built.
func (p *parser) unrolled(u *unrollFile, fold *Fold) {
	out := &fold.Sums
	for _, k := range []struct {
		key     string
		in, out *float64
	}{{"depth", u.Depth, &out.Depth}, {"stage_levels", u.StageLevels, &out.StageLevels}} {
		if k.in == nil {
			continue
		}
		if !(*k.in > 0) || math.IsInf(*k.in, 0) {
			p.fail("unroll."+k.key, "%s = %v is not positive", k.key, *k.in)
		}
		*k.out = *k.in
	}
	p.count("unroll.stages", u.Stages, &out.Stages, 1, mostStages)
	p.count("unroll.effort", u.Effort, &out.Effort, 1, mostEffort)
	if u.Digits != nil {
		if !slices.Contains(digitBits, *u.Digits) {
			p.fail("unroll.digits", "digits = %d is none of 1, 2, 4", *u.Digits).Hint =
				fmt.Sprintf("use %d, or leave it out: whole elements go into the sums then", nearestDigit(*u.Digits))
		}
		out.Digits = *u.Digits
	}
	if u.Stages != nil && u.StageLevels != nil {
		p.fail("unroll.stage_levels", "stages = %d says already where registers are", *u.Stages).Hint =
			"leave stage_levels out, or stages"
	}
	fold.AutoUnroll = u.Auto != nil && *u.Auto
	p.balanceOnly(fold.Mode, "unroll", "auto", fold.AutoUnroll)
	if *u != (unrollFile{}) {
		fold.SumsFrom = p.at.Pos("unroll") + " [unroll]"
	}
	if out.LUT = p.fpga.Family.Inputs; u.Family != nil {
		out.LUT = []int{6, 4}[p.word("unroll.family", u.Family, FamilyWords)]
	}
}

// WeightsOutside says that some weights may lie outside of the chip.
func (f *Fold) WeightsOutside() bool {
	return Outside(f.Memory.Weights) || slices.ContainsFunc(f.Rules, func(r *FoldRule) bool { return Outside(r.Weights) })
}
