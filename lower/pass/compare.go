// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"lathe/ir"
	"lathe/ir/ref"
)

// StructureDiff names the first difference of two graphs but for metadata (HW, Stats, stage); empty if there is none.
func StructureDiff(a, b *ir.Graph) string {
	if len(a.Nodes) != len(b.Nodes) {
		return fmt.Sprintf("the number of nodes from %d to %d", len(a.Nodes), len(b.Nodes))
	}
	for _, n := range a.Nodes {
		m := b.Find(n.Name)
		switch {
		case m == nil:
			return fmt.Sprintf("node %q, which is gone", n.Name)
		case m.Op != n.Op || !reflect.DeepEqual(m.Attrs, n.Attrs):
			return fmt.Sprintf("the operation of node %q", n.Name)
		case m.Type.String() != n.Type.String():
			return fmt.Sprintf("the type of node %q from %s to %s", n.Name, n.Type, m.Type)
		case !slices.Equal(argNames(m), argNames(n)):
			return fmt.Sprintf("the arguments of node %q", n.Name)
		}
	}
	return ""
}

func argNames(n *ir.Node) []string {
	var names []string
	for _, a := range n.Args {
		names = append(names, a.Name)
	}
	return names
}

// Loss is the difference of two runs on the same samples.
type Loss struct {
	// Same says that all codes, or all float values, are equal bit for bit.
	Same bool
	// MaxErr is the greatest difference, Relative the greatest one divided by the largest magnitude of its output, and
	// Output the index of the output that has it. SQNR is the signal to error ratio of all outputs in dB (see Signal),
	// +Inf if equal.
	MaxErr, Relative, SQNR float64
	Output                 int
}

// Compare compares outputs sample by sample: bits where both are of one type, values in any case.
func Compare(a, b []ref.Sample) (Loss, error) {
	diff := Loss{Same: true}
	var signal, noise float64
	outputs := 0
	if len(a) > 0 {
		outputs = len(a[0])
	}
	for k := range outputs {
		var peak, worst float64
		var all Signal
		for i := range a {
			x, y := a[i][k], b[i][k]
			if !slices.Equal(x.Type.Shape, y.Type.Shape) {
				return diff, fmt.Errorf("output %d has shape %s, before it had %s", k, ir.ShapeString(y.Type.Shape),
					ir.ShapeString(x.Type.Shape))
			}
			diff.Same = diff.Same && sameBits(x, y)
			u, err := x.Decode()
			if err != nil {
				return diff, err
			}
			v, err := y.Decode()
			if err != nil {
				return diff, err
			}
			for j := range u {
				d := math.Abs(u[j] - v[j])
				if u[j] == v[j] || math.IsNaN(u[j]) && math.IsNaN(v[j]) {
					d = 0 // infinite, or no number, in both
				}
				if !(d <= worst) { // NaN counts as worst
					worst = d
				}
				if !math.IsInf(u[j], 0) && !math.IsNaN(u[j]) {
					peak = max(peak, math.Abs(u[j]))
				}
			}
			all.Add(u, v, Channels(x.Type.Shape))
		}
		signal, noise = signal+all.Power(), noise+all.Noise
		if r := worst / max(peak, math.SmallestNonzeroFloat32); !(r <= diff.Relative) {
			diff.Relative, diff.MaxErr, diff.Output = r, worst, k
		}
	}
	diff.SQNR = Decibels(signal, noise)
	return diff, nil
}

// Decibels is 10*log10(signal/noise): +Inf without noise.
func Decibels(signal, noise float64) float64 {
	if noise == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(signal/noise)
}

// formatDiff names the first output of two runs that has another format; empty if there is none.
func formatDiff(g *ir.Graph, a, b []ref.Sample) string {
	for i := range a {
		for k, x := range a[i] {
			if y := b[i][k]; !x.Type.SameFormat(y.Type) {
				return fmt.Sprintf("the format of output %q from %s to %s", g.Out[k].Name, x.Type.Format, y.Type.Format)
			}
		}
	}
	return ""
}

// sameBits says that x and y hold the same codes of the same format, or the same floats bit for bit.
func sameBits(x, y *ir.Tensor) bool {
	return x.Type.SameFormat(y.Type) && slices.Equal(x.Codes, y.Codes) &&
		slices.EqualFunc(x.Floats, y.Floats, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}
