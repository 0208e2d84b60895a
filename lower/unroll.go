// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/dot"
	"lathe/rtl/cmvm"
)

// Bounds of [unroll].
const (
	mostEffort = 1024
	mostStages = 64
)

// usualSums are the defaults of [unroll]: the least hardware.
var usualSums = ir.Sums{StageLevels: dot.StageLevels, Effort: cmvm.DefaultEffort, LUT: 6}

// familyWords are the LUTs that stand in front of carries, of six inputs or of four: the part's, unless the plan says.
var familyWords = []string{"lut6", "lut4"}

// unrolled reads how the sums of unrolled layers are built.
func (p *planParser) unrolled(u *unrollFile, fold *FoldPlan) {
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
	for _, k := range []struct {
		key     string
		in, out *int
		most    int
	}{{"stages", u.Stages, &out.Stages, mostStages}, {"effort", u.Effort, &out.Effort, mostEffort}} {
		if k.in == nil {
			continue
		}
		if *k.in < 1 || *k.in > k.most {
			p.fail("unroll."+k.key, "%s = %d lies outside 1..%d", k.key, *k.in, k.most)
		}
		*k.out = *k.in
	}
	if u.Stages != nil && u.StageLevels != nil {
		p.fail("unroll.stage_levels", "stages = %d says already where registers are", *u.Stages).Hint =
			"leave stage_levels out, or stages"
	}
	fold.AutoUnroll = u.Auto != nil && *u.Auto
	p.balanceOnly(fold.Mode, "unroll", "auto", fold.AutoUnroll)
	if *u != (unrollFile{}) {
		fold.SumsFrom = p.at.pos("unroll") + " [unroll]"
	}
	if out.LUT = p.fpga.Family.Inputs; u.Family != nil {
		out.LUT = []int{6, 4}[p.word("unroll.family", u.Family, familyWords)]
	}
}

// unrolled writes them.
func (t *planText) unrolled(s *ir.Sums, auto bool) {
	t.line("\n[unroll]")
	t.key(auto, "auto", auto, "in the balance mode, unroll the layers that then cost less")
	if s.Depth > 0 {
		t.key(true, "depth", s.Depth, "levels of logic of a sum, at most")
	}
	if s.Stages > 0 {
		t.key(true, "stages", s.Stages, "rows of registers in a layer")
	} else {
		t.key(s.StageLevels != usualSums.StageLevels, "stage_levels", s.StageLevels, "levels of logic between registers")
	}
	t.key(s.Effort != usualSums.Effort, "effort", s.Effort, "ways of adding up that are tried for each sum")
	word := familyWords[0]
	if s.LUT == 4 {
		word = familyWords[1]
	}
	t.key(s.LUT == 4, "family", word, "LUTs in front of carries")
}

// unrolls says whether weights of n are wired into sums. Of a node that keeps multipliers although a rule or the mode
// asks for sums, a note names the cause; lanes beside the wish are a wish of their own.
func (l *laner) unrolls(n *ir.Node, a asked, d *ir.Lanes, in, out int) bool {
	n.HW.Style = d.StyleOf(a.style, in, out)
	ruled := l.ruled(n)
	wished := a.style == ir.StyleUnroll || a.shared
	if n.HW.Style == ir.StyleUnroll || !wished || ruled.in > 0 || ruled.out > 0 ||
		!n.Op.Traits.Weighted || n.Op.Traits.PerChannel {
		return n.HW.Style == ir.StyleUnroll
	}
	cause := ""
	switch {
	case a.shared:
		cause = "layers with weights of their own share its unit"
	case dot.KindsOf(n).Window():
		cause = "there is no unrolled unit of sums over blocks"
	case !slices.Contains(d.Styles, ir.StyleUnroll):
		cause = "of convolutions in groups, only depthwise ones have an unrolled unit"
	default:
		return false
	}
	l.notes = append(l.notes, fmt.Sprintf("%s is not unrolled: %s; it multiplies with in_lanes = %d and out_lanes = %d",
		n.Name, cause, n.HW.InLanes, n.HW.OutLanes))
	return false
}
