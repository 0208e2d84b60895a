// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
	"lathe/lower/pass"
)

// lostFeatures warns of features of inputs, along the last axis, of which the steps of the format that all share leave
// next to nothing: the model does not see them. before is the float graph of after.
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

// A feature is lost where its variance is less than seen times the mean square of what rounding changes, and worth
// mending where it is less than seenWell times as much: uniform values of 2 and of 64 steps. named is how many are
// named.
const seen, seenWell, named = 4, 1 << 12, 8

// feature is what samples have of a feature: extremes, and sums of values, of their squares, and of the squares of what
// rounding changes.
type feature struct{ lo, hi, count, sum, squares, rounded float64 }

func (f *feature) add(x, step float64) {
	f.lo, f.hi = min(f.lo, x), max(f.hi, x)
	f.count++
	f.sum += x
	f.squares += x * x
	d := x - step*math.RoundToEven(x/step)
	f.rounded += d * d
}

func (f *feature) size() float64 { return max(math.Abs(f.lo), math.Abs(f.hi)) }

// below says that the variance is less than times what rounding changes; values that are codes, as those of masks and
// one-hot vectors, lose nothing.
func (f *feature) below(times float64) bool {
	mean := f.sum / f.count
	return f.hi > f.lo && f.squares/f.count-mean*mean < times*f.rounded/f.count
}

// lostOf says which features of input i of g are lost in steps of such a size, and what brings them, and those that
// little is left of, to the size of the largest; "" where none is lost.
func lostOf(g *ir.Graph, samples []ref.Sample, i int, step float64, f format.Format) string {
	features := make([]feature, pass.Channels(g.In[i].Type.Shape))
	for c := range features {
		features[c].lo, features[c].hi = math.Inf(1), math.Inf(-1)
	}
	for _, sample := range samples {
		for k, x := range pass.Enter(g, sample)[i].Floats {
			features[k%len(features)].add(float64(x), step)
		}
	}
	loudest, lost := 0, 0
	for c := range features {
		if features[c].size() > features[loudest].size() {
			loudest = c
		}
		if features[c].below(seen) {
			lost++
		}
	}
	if lost == 0 || lost == len(features) {
		return ""
	}
	var mend []string
	most := features[loudest].size()
	for c := range features {
		bits := math.Floor(math.Log2(most / features[c].size()))
		if features[c].below(seenWell) && bits > 0 && len(mend) < named {
			mend = append(mend, fmt.Sprintf("feature %d by 2^%.0f", c, bits))
		}
	}
	text := fmt.Sprintf("%d of %d features are lost in steps of %s (%s), since feature %d reaches %s; ", lost,
		len(features), diag.Number(step, 3), f, loudest, diag.Number(most, 3))
	if len(mend) == 0 {
		return text + "a wider format keeps them"
	}
	return text + fmt.Sprintf("where samples are made, multiply %s, and divide their weights by as much",
		strings.Join(mend, ", "))
}
