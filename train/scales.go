// SPDX-License-Identifier: Apache-2.0

package train

import "lathe/ir/hlo"

// How much faster than weights steps move: a fraction bit is half a unit away, a step that is no power of two is
// counted in parts of what it began with.
const (
	powersRate = 10
	stepsRate  = 1
)

// steps adds leaves for the steps of the model that are trained.
func (l *leaves) steps() {
	for i := range l.model.Scales {
		s := &l.model.Scales[i]
		of := leaf{param: -1, rate: stepsRate}
		if s.Powers {
			of.rate = powersRate
		}
		of.Start, of.Node, of.Pos, of.Param.Name = s.Leaf(), s.Node, s.Pos, s.Node+".step"
		if s.Weights {
			of.Param.Name = s.Node + ".weight.step"
		}
		of.Shape = []int{len(of.Start)}
		l.scales = append(l.scales, len(l.all))
		l.all = append(l.all, of)
	}
}

// scaleValues are the leaves of steps among all leaves.
func scaleValues[T hlo.Value | []float32](l *leaves, now []T) []T {
	var out []T
	for _, k := range l.scales {
		out = append(out, now[k])
	}
	return out
}
