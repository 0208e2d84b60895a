// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"strings"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/pass"
)

// lostFeatures warns of features of inputs, along the last axis, that vary by less than fewest steps of the format that
// all of them share: the model does not see them. before is the float graph of after.
func lostFeatures(s *stage, before, after *ir.Graph) {
	for i, n := range after.In {
		v, ok := format.IntegersOf(n.Type.Format)
		if !ok || len(s.Samples) < 2 || len(n.Type.Shape) == 0 || i >= len(before.In) {
			continue
		}
		if text := lostOf(before, s.Samples, i, v.Step.Float64(), n.Type.Format); text != "" {
			s.Report.Warn("input %q: %s", n.Name, text)
		}
	}
}

// A feature has to vary by fewest steps to be seen at all, and by enough to be seen well; named is how many are named.
const fewest, enough, named = 2, 64, 8

// lostOf says which features of input i of g are lost in steps of such a size, and what brings them, and those that
// little is left of, to the size of the largest; "" where none is lost.
func lostOf(g *ir.Graph, samples []ref.Sample, i int, step float64, f format.Format) string {
	features := pass.Channels(g.In[i].Type.Shape)
	lo, hi := make([]float64, features), make([]float64, features)
	for c := range lo {
		lo[c], hi[c] = math.Inf(1), math.Inf(-1)
	}
	for _, sample := range samples {
		for k, x := range pass.Enter(g, sample)[i].Floats {
			c := k % features
			lo[c], hi[c] = min(lo[c], float64(x)), max(hi[c], float64(x))
		}
	}
	size := func(c int) float64 { return max(math.Abs(lo[c]), math.Abs(hi[c])) }
	loudest, lost := 0, 0
	for c := range lo {
		if size(c) > size(loudest) {
			loudest = c
		}
		if hi[c] > lo[c] && hi[c]-lo[c] < fewest*step {
			lost++
		}
	}
	if lost == 0 || lost == features {
		return ""
	}
	var mend []string
	for c := range lo {
		if hi[c] > lo[c] && hi[c]-lo[c] < enough*step && len(mend) < named {
			mend = append(mend, fmt.Sprintf("feature %d by 2^%d", c, int(math.Log2(size(loudest)/size(c)))))
		}
	}
	return fmt.Sprintf("%d of %d features vary by less than %d steps of %s, %s, since feature %d reaches %s: they are "+
		"lost; where samples are made, multiply %s, and divide their weights by as much", lost, features, fewest, f,
		diag.Number(fewest*step, 3), loudest, diag.Number(size(loudest), 3), strings.Join(mend, ", "))
}
