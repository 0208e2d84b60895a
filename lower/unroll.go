// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"math"

	"lathe/ir"
)

// The sums of unrolled layers where the plan says nothing: the least hardware, in paths of so many levels, of as many
// ways of adding up as lower effort takes.
const (
	usualStageLevels = 4.0
	usualEffort      = 64
	mostEffort       = 1024
	mostStages       = 64
)

// familyWords are the LUTs that stand in front of carries: of six inputs in the series that the plan's parts belong to,
// of four in ECP5 and iCE40.
var familyWords = []string{"lut6", "lut4"}

// unrolled reads how the sums of unrolled layers are built.
func (p *planParser) unrolled(f *planFile, out *ir.Sums) {
	u := &f.Unroll
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
	out.LUT = []int{6, 4}[p.word("unroll.family", u.Family, familyWords)]
}

// unrolled writes them.
func (t *planText) unrolled(s *ir.Sums) {
	t.line("\n[unroll]")
	if s.Depth > 0 {
		t.key(true, "depth", s.Depth, "levels of logic of a sum, at most")
	}
	if s.Stages > 0 {
		t.key(true, "stages", s.Stages, "rows of registers in a layer")
	} else {
		t.key(s.StageLevels != usualStageLevels, "stage_levels", s.StageLevels, "levels of logic between registers")
	}
	t.key(s.Effort != usualEffort, "effort", s.Effort, "ways of adding up that are tried for each sum")
	word := familyWords[0]
	if s.LUT == 4 {
		word = familyWords[1]
	}
	t.key(s.LUT == 4, "family", word, "LUTs in front of carries")
}
