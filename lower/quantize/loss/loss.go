// SPDX-License-Identifier: Apache-2.0

// Package loss measures what quantization costs: the error of each value of a quantized graph against the float graph
// that it was made from.
package loss

import (
	"context"
	"math"

	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/pass"
	"lathe/lower/quantize/calib"
)

// Value is the error of one value against the float model.
type Value struct {
	Name, Op, Format, Pos string
	// SQNR is in dB (see pass.Signal), +Inf where there is no error; MaxErr and Peak are the greatest error and the
	// greatest float value, Spread is what that varies by. The error is accumulated: that of the value in the quantized
	// network, from the inputs on.
	SQNR, MaxErr, Peak, Spread float64
	// Alone is the error that the node makes by itself: its quantized operation on the values of the float graph, encoded
	// in the formats of its arguments. nil where that was not asked for, or where the float graph lacks an argument.
	Alone *Error
	// Place says that the value of an output is a position, such as the number of a class, whose ratio means nothing.
	Place bool
	// Sizes counts the float values by size, nil where errors alone were not asked for: [0] are zeros, [1+i] those with
	// 2^(i+LeastExp) <= |v| < 2^(i+LeastExp+1), smaller ones with the first and larger ones with the last.
	Sizes []int
}

// LeastExp and mostExp bound the exponents that Sizes tells apart.
const LeastExp, mostExp = -40, 40

// Error is a ratio in dB, +Inf where there is no error, and the greatest error.
type Error struct{ SQNR, MaxErr float64 }

// sum collects the error of one value over samples.
type sum struct {
	signal      pass.Signal
	worst, peak float64
	sizes       []int // as Value.Sizes; nil: not counted
}

// add compares y with the values of x, or with the nearest that matter.
func (e *sum) add(x *ir.Tensor, y []float64, matters calib.Range) error {
	values, err := x.Decode()
	if err != nil {
		return err
	}
	near := make([]float64, len(values))
	for i, v := range values {
		near[i] = min(max(v, matters.Min), matters.Max)
		e.one(near[i], y[i])
	}
	e.signal.Add(near, y, pass.Channels(x.Type.Shape))
	return nil
}

func (e *sum) one(v, got float64) {
	e.worst, e.peak = max(e.worst, math.Abs(v-got)), max(e.peak, math.Abs(v))
	if e.sizes == nil {
		return
	}
	place := 0
	if v != 0 {
		_, exp := math.Frexp(v) // 1/2 <= |fraction| < 1
		place = 1 + max(LeastExp, min(exp-1, mostExp)) - LeastExp
	}
	e.sizes[place]++
}

func (e *sum) join(o sum) {
	e.signal.Join(&o.signal)
	e.worst, e.peak = max(e.worst, o.worst), max(e.peak, o.peak)
	if o.sizes == nil {
		return
	}
	if e.sizes == nil {
		e.sizes = make([]int, len(o.sizes))
	}
	for i, n := range o.sizes {
		e.sizes[i] += n
	}
}

// match is a value that both graphs have: positions in their node lists, and how it is reported.
type match struct {
	from, to int
	value    Value
	matters  calib.Range
	// args are the positions in the float graph of the arguments of node to, -1 for constants; nil: not measured alone.
	args       []int
	all, alone sum
}

// Meter compares two graphs. It is not safe for concurrent use.
type Meter struct {
	before, after *ir.Graph
	float, exact  *ref.Program
	matches       []match
	nodes         int  // the first of matches are nodes, the others outputs
	counts        bool // values by size
}

// Nodes is what is known of some nodes of a quantized graph, by name.
type Nodes struct {
	// Cut are the bounds of what matters of them: quantized, they cut off the rest for those that read them.
	Cut map[string]calib.Range
	// Of names the nodes of the float graph whose values they have, where those have other names.
	Of map[string]string
}

// New prepares the comparison of a quantized graph with the float graph that it came from: of nodes of the same name,
// or of the name that known has, and of outputs of the same index. alone asks for the error of each node by itself too,
// and for the sizes of values.
func New(before, after *ir.Graph, known Nodes, alone bool) (*Meter, error) {
	m := &Meter{before: before, after: after, counts: alone}
	everything := calib.Range{Min: math.Inf(-1), Max: math.Inf(1)}
	var err error
	if m.float, err = ref.New(before); err != nil {
		return nil, err
	}
	if m.exact, err = ref.New(after); err != nil {
		return nil, err
	}
	at := make(map[*ir.Node]int)
	named := make(map[string]int)
	for i, n := range before.Nodes {
		at[n], named[n.Name] = i, i
	}
	for name, of := range known.Of {
		if i, ok := named[of]; ok {
			named[name] = i
		}
	}
	for i, n := range after.Nodes {
		at[n] = i
		if from, ok := named[n.Name]; ok && !n.IsConst() && n.Type.Elems() == before.Nodes[from].Type.Elems() {
			p := match{from: from, to: i, value: value(n.Name, n), matters: everything}
			if r, ok := known.Cut[n.Name]; ok {
				p.matters = r
			}
			m.matches = append(m.matches, p)
		}
	}
	m.nodes = len(m.matches)
	for i, o := range after.Out {
		m.matches = append(m.matches, match{from: at[before.Out[i].Node], to: at[o.Node], value: value(o.Name, o.Node),
			matters: everything})
	}
	if alone {
		for k := range m.matches {
			m.matches[k].args = m.counterparts(after.Nodes[m.matches[k].to], named)
		}
	}
	return m, nil
}

func value(name string, n *ir.Node) Value {
	return Value{Name: name, Op: n.Op.Name, Format: n.Type.Format.String(), Pos: n.Pos}
}

// heldSamples and heldValues bound the samples whose values in the float graph are held at once.
const (
	heldSamples = 16
	heldValues  = 1 << 25
)

// chunkOf is how many samples are held at once.
func chunkOf(g *ir.Graph) int {
	values := 1
	for _, n := range g.Nodes {
		if !n.IsConst() {
			values += n.Type.Elems()
		}
	}
	return max(1, min(heldSamples, heldValues/values))
}

// Add runs both graphs on the same samples; enter turns one into the values of a graph's inputs.
func (m *Meter) Add(ctx context.Context, samples []ref.Sample, enter func(*ir.Graph, ref.Sample) ref.Sample) error {
	for held := chunkOf(m.before); len(samples) > 0; {
		chunk := samples[:min(len(samples), held)]
		samples = samples[len(chunk):]
		x, y := make([]ref.Sample, len(chunk)), make([]ref.Sample, len(chunk))
		for i, sample := range chunk {
			x[i], y[i] = enter(m.before, sample), enter(m.after, sample)
		}
		if err := m.chunk(ctx, x, y); err != nil {
			return err
		}
	}
	return nil
}

// chunk adds the errors of each match, sample by sample in their order, so that sums do not depend on the machine.
func (m *Meter) chunk(ctx context.Context, x, y []ref.Sample) error {
	want := make([][]*ir.Tensor, len(x))
	all, alone := make([][]sum, len(x)), make([][]sum, len(x))
	err := m.float.Trace(ctx, x, func(i int, values []*ir.Tensor) error {
		want[i], alone[i] = values, make([]sum, len(m.matches))
		for k := range m.matches {
			p := &m.matches[k]
			if p.args == nil {
				continue
			}
			got, err := m.single(p, values)
			if err != nil {
				return err
			}
			if err := alone[i][k].add(values[p.from], got, p.matters); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	of := map[int][]int{} // the matches of a node
	for k, p := range m.matches {
		of[p.to] = append(of[p.to], k)
	}
	for i := range all {
		all[i] = make([]sum, len(m.matches))
		for k := range all[i] {
			if m.counts {
				all[i][k].sizes = make([]int, 2+mostExp-LeastExp)
			}
		}
	}
	err = m.exact.Each(ctx, y, func(i, node int, value *ir.Tensor) error {
		if of[node] == nil {
			return nil
		}
		got, err := value.Decode()
		for _, k := range of[node] {
			if err == nil {
				err = all[i][k].add(want[i][m.matches[k].from], got, m.matches[k].matters)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range x {
		for k := range m.matches {
			m.matches[k].all.join(all[i][k])
			m.matches[k].alone.join(alone[i][k])
		}
	}
	return nil
}

// Values are the errors over all samples added, of nodes in graph order, and of outputs.
func (m *Meter) Values() (nodes, outputs []Value) {
	for k, p := range m.matches {
		v := p.value
		v.SQNR, v.MaxErr, v.Peak = p.all.signal.Decibels(), p.all.worst, p.all.peak
		v.Sizes, v.Spread = p.all.sizes, p.all.signal.Spread()
		if p.args != nil {
			v.Alone = &Error{p.alone.signal.Decibels(), p.alone.worst}
		}
		if k < m.nodes {
			nodes = append(nodes, v)
		} else {
			outputs = append(outputs, v)
		}
	}
	return nodes, outputs
}
