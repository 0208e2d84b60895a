// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/pointwise"
)

// Scale is the step of integer codes, which is trained: that of a value, or those of the weights of a layer.
type Scale struct {
	// Node names the node whose result it is, or which multiplies by the weights; Pos is its place in the source model.
	Node, Pos string
	// Weights says that it is of weights. Those with powers of two have one for each index of axis 0.
	Weights bool
	// Powers says that steps stay powers of two: what is trained are fraction bits.
	Powers bool
	// Start are the steps that training begins with, float32 numbers.
	Start []float64

	codes format.Integers
	elems int   // of each step
	nodes []int // of the graph, whose results have it
}

const (
	// reach is by how many fraction bits a trained step moves at most.
	reach = 3
	// stepBits are those of trained steps that are no powers of two: factors of two steps are exact in float32.
	stepBits = 8
	// widestTrained is the width of the widest codes whose steps are trained.
	widestTrained = 16
	// biasBits are those of biases in steps of products, where steps are no powers of two.
	biasBits = 24
)

// LearnScales makes the steps of values and weights Scales of the model. Means are the mean magnitudes of values, by
// the name of their node: steps that are no powers of two begin at 2 mean/sqrt(greatest code) (Esser et al. 2020). The
// formats of inputs and outputs stay, as do those of values that anything but layers and what moves or cuts off values
// reads; kept names these nodes.
func (m *Model) LearnScales(means map[string]float64) (kept []string, err error) {
	m.learned, m.learnedWeights = map[string]int{}, map[string]int{}
	m.learnWeights()
	for _, set := range m.sameCodes() {
		if s, ok := m.scaleOf(set, means); ok {
			for _, at := range set {
				m.learned[m.graph.Nodes[at].Name] = len(m.Scales)
			}
			m.Scales = append(m.Scales, s)
		} else if n := m.graph.Nodes[set[0]]; integerCodes(n.Type) && !n.IsInput() && !m.isPort(set) {
			kept = append(kept, n.Name)
		}
	}
	if len(m.Scales) == 0 {
		return nil, diag.New(diag.NothingToTrain, m.graph.Name, "no layer has weights or values in integer codes whose "+
			"step could be trained").WithHint("leave scales out of [train], or quantize in fixed formats")
	}
	for in, p := range m.places {
		p.scale = -1
		if k, ok := m.learnedWeights[p.constant]; ok {
			p.scale = k
		}
		m.places[in] = p
	}
	return kept, m.widenLearned()
}

// learnWeights makes the steps of weights Scales.
func (m *Model) learnWeights() {
	for _, s := range m.slots {
		n := m.graph.Nodes[s.node]
		a := n.Args[s.arg]
		if _, known := m.learnedWeights[a.Name]; known || !m.onlyWeighs(a.Name) {
			continue
		}
		if of, ok := m.weightScale(n, s); ok {
			m.learnedWeights[a.Name] = len(m.Scales)
			m.Scales = append(m.Scales, of)
		}
	}
}

// sameCodes are the results of the graph that share their codes, since one moves or cuts off those of another: the
// first of each makes them.
func (m *Model) sameCodes() [][]int {
	at := map[*ir.Node]int{}
	of := map[*ir.Node]int{} // the set
	var sets [][]int
	for i, n := range m.graph.Nodes {
		at[n] = i
		if n.IsConst() {
			continue
		}
		if joined(n) {
			if k, ok := of[n.Args[0]]; ok {
				of[n], sets[k] = k, append(sets[k], i)
				continue
			}
		}
		of[n], sets = len(sets), append(sets, []int{i})
	}
	return sets
}

// joined says that n has the codes of its argument.
func joined(n *ir.Node) bool {
	return (n.Op.Traits.KeepsCodes || pointwise.Cuts(n.Op)) && len(n.Args) == 1 && n.Args[0].Type.SameFormat(n.Type)
}

// integerCodes says that a type is integers of one step.
func integerCodes(t ir.Type) bool {
	_, ok := trainable(t)
	return ok
}

// trainable is the view of a type as integers of one step, of a width and with rules that training follows.
func trainable(t ir.Type) (format.Integers, bool) {
	v, ok := format.IntegersOf(t.Format)
	return v, ok && format.StepIn(t.Format) != format.NoStep && v.Codes.W <= widestTrained &&
		v.Codes.Over != format.Wrap && v.Codes.Round <= format.RoundOutward
}

// isPort says that some result of a set leaves the graph.
func (m *Model) isPort(set []int) bool {
	return slices.ContainsFunc(set, func(at int) bool { return m.graph.IsOutput(m.graph.Nodes[at]) })
}

// scaleOf is the step of a set of results, if it can be trained.
func (m *Model) scaleOf(set []int, means map[string]float64) (s Scale, ok bool) {
	first := m.graph.Nodes[set[0]]
	v, ok := trainable(first.Type)
	if !ok || m.isPort(set) || !makesSteps(first) {
		return s, false
	}
	member := map[*ir.Node]bool{}
	for _, at := range set {
		member[m.graph.Nodes[at]] = true
	}
	for _, n := range m.graph.Nodes {
		for i, a := range n.Args {
			if member[a] && !member[n] && !m.readsStep(n, i) {
				return s, false
			}
		}
	}
	if !same(m.run, first) {
		return s, false
	}
	s = Scale{Node: first.Name, Pos: first.Pos, codes: v, elems: first.Type.Elems(), nodes: set}
	if s.Powers = format.StepIn(first.Type.Format) == format.PowerStep; !s.Powers && !m.regridsReaders(member, first) {
		return s, false
	}
	s.Start = []float64{v.Step.Float64()}
	if mean := means[first.Name]; !s.Powers && mean > 0 {
		s.Start[0] = s.from(mean)
	}
	return s, true
}

// makesSteps says that n rounds what it computes once, to steps of any size, and reads steps of any size.
func makesSteps(n *ir.Node) bool {
	t := n.Op.Traits
	if t.Weighted {
		return len(n.Args) > 1 && n.Args[1].IsConst() && !n.Args[1].Type.InBlocks() && constStep(n.Args[1].Type) > 0 &&
			integerCodes(n.Args[0].Type)
	}
	return n.Op.Each == nil && (t.Casts || pointwise.Cuts(n.Op)) && integerCodes(n.Args[0].Type)
}

// constStep is the step of which all values of constants are multiples, 0 where there is none.
func constStep(t ir.Type) float64 {
	if v, ok := trainable(t); ok {
		return v.Step.Float64()
	}
	if s := channelSteps(t); s != nil {
		return slices.Min(s)
	}
	return 0
}

// readsStep says that n reads argument i in steps of any size.
func (m *Model) readsStep(n *ir.Node, i int) bool {
	return i == 0 && makesSteps(n) && same(m.run, n) && integerCodes(n.Type)
}

// same says that a graph has n as it is.
func same(g *ir.Graph, n *ir.Node) bool {
	c := g.Find(n.Name)
	return c != nil && c.Op == n.Op && len(c.Args) == len(n.Args) && c.Type.SameFormat(n.Type)
}

// regridsReaders says that layers which make or read such results have biases that can be encoded in steps of products.
func (m *Model) regridsReaders(member map[*ir.Node]bool, first *ir.Node) bool {
	for _, n := range m.graph.Nodes {
		if !n.Op.Traits.Weighted || n != first && !member[n.Args[0]] {
			continue
		}
		if _, known := m.learnedWeights[n.Args[1].Name]; !m.regrids(n) || !known && len(n.Args[1].Type.Scales) > 0 {
			return false
		}
	}
	return true
}

// regrids says that the bias of n can be encoded anew, or that there is none.
func (m *Model) regrids(n *ir.Node) bool {
	if len(n.Args) < 3 {
		return true
	}
	_, param := m.coded[n.Args[2].Name]
	return param && m.readers(n.Args[2].Name) == 1
}

// readers counts arguments that are a constant.
func (m *Model) readers(constant string) int {
	count := 0
	for _, n := range m.graph.Nodes {
		for _, a := range n.Args {
			if a.Name == constant {
				count++
			}
		}
	}
	return count
}

// onlyWeighs says that layers alone read a constant, as weights.
func (m *Model) onlyWeighs(constant string) bool {
	for _, n := range m.run.Nodes {
		for i, a := range n.Args {
			if a.Name == constant && (i != 1 || !n.Op.Traits.Weighted || !makesSteps(n) || !same(m.graph, n) ||
				!integerCodes(n.Type)) {
				return false
			}
		}
	}
	return true
}

// weightScale is the step of the weights of n, if it can be trained.
func (m *Model) weightScale(n *ir.Node, of slot) (s Scale, ok bool) {
	t := n.Args[of.arg].Type
	if of.arg != 1 || of.grid != t.Format {
		return s, false
	}
	s = Scale{Node: n.Name, Pos: n.Pos, Weights: true, Powers: true, elems: t.Elems() / max(t.Shape[0], 1)}
	if kind := format.StepIn(t.Format); kind != format.NoStep {
		if s.codes, ok = trainable(t); !ok || s.codes.Zero != 0 {
			return s, false
		}
		s.Start = slices.Repeat([]float64{s.codes.Step.Float64()}, t.Shape[0])
		if s.Powers = kind == format.PowerStep; !s.Powers {
			s.elems, s.Start = t.Elems(), []float64{s.from(meanOf(m.Params[of.param].Start))}
			ok = m.regrids(n) && m.readers(n.Args[of.arg].Name) == 1
		}
		return s, ok
	}
	ints, channels := format.OutputChannels(t.Format)
	one := ir.Type{Format: ints}
	if s.codes, ok = trainable(one); !ok || !channels || len(t.Scales) != t.Shape[0] {
		return s, false
	}
	for _, v := range t.Scales {
		if _, power := format.Log2(v); !power {
			return s, false
		}
		s.Start = append(s.Start, float64(v))
	}
	return s, true
}

// from is the step for values of a mean magnitude.
func (s *Scale) from(mean float64) float64 {
	_, hi := s.limits()
	if mean == 0 {
		return s.codes.Step.Float64()
	}
	return float64(significant(float32(2 * mean / math.Sqrt(max(hi, 1)))))
}

func meanOf(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Abs(float64(v))
	}
	return sum / float64(max(len(x), 1))
}

// limits are the least and the greatest code, without the zero point.
func (s *Scale) limits() (lo, hi float64) {
	return float64(s.codes.Codes.Min() - s.codes.Zero), float64(s.codes.Codes.Max() - s.codes.Zero)
}

// Leaf is what is trained of the steps in the beginning: by how many fraction bits they are coarser than Start, or in
// parts of it.
func (s *Scale) Leaf() []float32 {
	out := make([]float32, len(s.Start))
	for i := range out {
		if !s.Powers {
			out[i] = 1
		}
	}
	return out
}

// Steps are the steps where training has come to leaf.
func (s *Scale) Steps(leaf []float32) []float32 {
	out := make([]float32, len(leaf))
	for i, v := range leaf {
		if s.Powers {
			e := math.RoundToEven(math.Min(math.Max(float64(v), -reach), reach))
			out[i] = float32(math.Ldexp(s.Start[i], int(e)))
			continue
		}
		v = min(max(v, 1.0/(1<<reach)), 1<<reach)
		out[i] = significant(v * float32(s.Start[i]))
	}
	return out
}

// significant is x > 0 rounded to stepBits bits, halves up.
func significant(x float32) float32 {
	const rest = 24 - stepBits
	bits := math.Float32bits(x) + 1<<(rest-1)
	return math.Float32frombits(bits >> rest << rest)
}

// String names a step in messages.
func (s *Scale) String() string {
	if s.Weights {
		return fmt.Sprintf("the weights of %s", s.Node)
	}
	return s.Node
}
