// SPDX-License-Identifier: Apache-2.0

// Package model is what is trained: a graph whose parameters have become arguments. Of a quantized graph it prints the
// forward pass that hardware computes, code for code, with the gradients of the operations that the codes stand for.
package model

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/lower/float/simplify"
	"lathe/lower/plan"
	"lathe/lower/quantize/formats"
)

// Param is one parameter.
type Param struct {
	// Name is that of the constant in the model.
	Name  string
	Shape []int
	// Start is what training begins with.
	Start []float32
	// Decays says that weight decay applies: to matrices and kernels, not to biases and gains.
	Decays bool
	// Weighted says that a layer multiplies by it; Contracted is the axis along which its products are summed.
	Weighted   bool
	Contracted int
	// Bias says that a layer adds it to its sums, Table that rows of it are looked up.
	Bias, Table bool
	// Steps are the least steps of the codes, one for each index of axis 0 or one for all; nil where codes are no
	// numbers of steps, and in float graphs. DataBits are the bits of what a layer multiplies by it.
	Steps    []float64
	DataBits int
	// Narrow says that these data are value Reads of Model.Each, whose channels lie along axis Along of the weights, again
	// and again where that is longer.
	Narrow       bool
	Reads, Along int
	// Node names the first node that reads the parameter, Pos its place in the source model.
	Node, Pos string
}

// Named says that a name with * for any text is that of the parameter, or of the node that reads it.
func (p *Param) Named(pattern string) bool {
	return plan.Glob(pattern, p.Name) || plan.Glob(pattern, p.Node)
}

// slot is an argument of a node that is a parameter.
type slot struct {
	node, arg int // in the graph
	param     int
	grid      format.Format // what it is encoded in, nil in a float graph
}

// Model is a graph that is trained.
type Model struct {
	// Params are the parameters, in the order in which nodes read them.
	Params []Param
	// Buffers are the statistics of batch normalizations in a float graph, mean and variance of each in turn.
	Buffers []Param
	// Each are the values of a quantized graph whose channels have widths of their own.
	Each []Each
	// Approximate names nodes whose sums have no step in common that floats hold: their codes may differ from those of
	// hardware by rounding.
	Approximate []string
	// Scales are the steps that are trained; see LearnScales.
	Scales []Scale

	graph *ir.Graph // as it ships, but for the values of parameters
	slots []slot
	// coded are the constants of graph that are parameters, by name.
	coded map[string]slot

	run   *ir.Graph // a copy of graph that is printed: layers with a state are their steps
	float *ir.Graph // a copy of run in which all values are float32
	// places are the arguments of float that stand for parameters.
	places map[*ir.Node]place
	// norms are the batch normalizations, by node of float, and the place of their mean in Buffers.
	norms map[*ir.Node]int
	sums  map[*ir.Node]sumType
	// learned are Scales by the nodes of graph that have them, learnedWeights by constants, weighings the steps that
	// layers meet, by node.
	learned, learnedWeights map[string]int
	weighings               map[string]weighing
}

// place is a parameter as a node of float reads it.
type place struct {
	param int
	typ   ir.Type // of its codes
	grid  format.Format
	// constant is the name of the constant, scale its step in Scales, -1 where that stands.
	constant string
	scale    int
}

func begin(g *ir.Graph) *Model {
	return &Model{graph: g, coded: map[string]slot{}, places: map[*ir.Node]place{}, norms: map[*ir.Node]int{},
		sums: map[*ir.Node]sumType{}}
}

// Float is the model of a float graph.
func Float(g *ir.Graph) (*Model, error) {
	if g.Stage != ir.StageFloat {
		return nil, diag.New(diag.WrongStage, g.Name, "the graph is %s already; training starts from a float graph", g.Stage)
	}
	m := begin(g)
	if err := m.find(g, nil); err != nil {
		return nil, err
	}
	return m, m.findNorms()
}

// Quantized is the model of a quantized graph. lowered is the float graph that it was made of, from which parameters
// start; grids are the formats that constants were encoded in.
func Quantized(g, lowered *ir.Graph, grids map[*ir.Node]format.Format) (*Model, error) {
	m := begin(g)
	if err := m.find(lowered, grids); err != nil {
		return nil, err
	}
	if err := m.findEach(); err != nil {
		return nil, err
	}
	return m, m.widen()
}

// find makes parameters of the constants of source that nodes of the graph have under the same name.
func (m *Model) find(source *ir.Graph, grids map[*ir.Node]format.Format) error {
	params := map[*ir.Node]int{}
	for at, n := range m.graph.Nodes {
		from := source.Find(n.Name)
		if n.IsConst() || from == nil || from.Op != n.Op || len(from.Args) != len(n.Args) {
			continue
		}
		for i, a := range from.Args {
			if !n.Args[i].IsConst() || !trained(a) || !slices.Equal(a.Type.Shape, n.Args[i].Type.Shape) {
				continue
			}
			p, known := params[a]
			if !known {
				t, err := a.Value()
				if err != nil {
					return n.Errorf(diag.ConstantNotFinite, "%v", err)
				}
				p = len(m.Params)
				params[a] = p
				m.Params = append(m.Params, Param{Name: a.Name, Shape: a.Type.Shape, Start: slices.Clone(t.Floats),
					Decays: len(a.Type.Shape) > 1, Node: n.Name, Pos: n.Pos, Weighted: n.Op.Traits.Weighted && i == 1,
					Bias:       n.Op.Traits.Weighted && i == 2,
					Table:      i == 0 && looksUp(n),
					Contracted: contracted(n, a.Type.Shape)})
			}
			if g := grids[n.Args[i]]; g != nil && i == 1 {
				m.Params[p].Steps, m.Params[p].DataBits = channelSteps(n.Args[i].Type), n.Args[0].Type.Format.Width()
			}
			s := slot{at, i, p, grids[n.Args[i]]}
			m.slots, m.coded[n.Args[i].Name] = append(m.slots, s), s
		}
	}
	if len(m.Params) == 0 {
		return diag.New(diag.NothingToTrain, m.graph.Name, "the model has no parameters that could be trained")
	}
	return m.open()
}

// contracted is the axis of the weights of n, of a shape, along which products are summed.
func contracted(n *ir.Node, shape []int) int {
	if last := n.LastOf(); last != nil && !*last {
		return min(1, len(shape)-1)
	}
	return max(len(shape)-1, 0)
}

// trained says that a constant of a float graph is a parameter, or is computed from one.
func trained(a *ir.Node) bool {
	c, ok := a.Attrs.(*ir.Const)
	if !ok || !a.Type.IsFloat() || a.Type.Elems() == 0 {
		return false
	}
	return slices.ContainsFunc(c.Sources(), func(s *ir.Const) bool { return s.Role == ir.Parameter })
}

// open puts an input in place of each argument that is a parameter, and makes all other values floats.
func (m *Model) open() error {
	m.run = m.graph.Clone()
	if m.run.Stage != ir.StageFloat {
		if err := simplify.Steps(m.run); err != nil {
			return err
		}
	}
	m.float = m.run.Clone()
	for _, n := range m.float.Nodes {
		n.Args = slices.Clone(n.Args)
		for i, a := range n.Args {
			s, param := m.coded[a.Name]
			if !param || !a.IsConst() {
				continue
			}
			in := &ir.Node{Name: fmt.Sprintf("%s.%d", n.Name, i), Op: leaf.Input, Attrs: &ir.Input{},
				Type: ir.Float(a.Type.Shape...), Pos: n.Pos}
			n.Args[i], m.places[in] = in, place{s.param, a.Type, s.grid, a.Name, -1}
		}
	}
	for _, n := range m.float.Nodes {
		if _, whole := ir.WholeOf(n.Type.Format); whole || n.Type.Format == ir.Bool || n.Type.IsFloat() {
			continue
		}
		if n.IsConst() {
			v, err := n.Value()
			if err != nil {
				return n.Errorf(diag.ConstantNotFinite, "%v", err)
			}
			wide, err := v.Decode()
			if err != nil {
				return n.Errorf(diag.ConstantNotFinite, "%v", err)
			}
			single := make([]float32, len(wide))
			for i, x := range wide {
				single[i] = float32(x)
			}
			n.Attrs = ir.Computed(ir.FloatBlob(single), n)
		}
		n.Type = ir.Float(n.Type.Shape...)
	}
	return nil
}

// Parameter is the parameter that a constant of Graph is, as an index of Params.
func (m *Model) Parameter(constant *ir.Node) (param int, ok bool) {
	s, ok := m.coded[constant.Name]
	return s.param, ok
}

// HoldsZero says that 0 has a code wherever parameter i is encoded.
func (m *Model) HoldsZero(i int) bool {
	for _, s := range m.slots {
		if s.param != i || s.grid == nil {
			continue
		}
		old := m.graph.Nodes[s.node].Args[s.arg].Type
		typ, data, ok := formats.Again(old, s.grid, make([]float32, old.Elems()))
		if !ok {
			return false
		}
		v, err := data.Tensor(typ)
		if err != nil {
			return false
		}
		values, err := v.Decode()
		if err != nil || slices.ContainsFunc(values, func(x float64) bool { return x != 0 }) {
			return false
		}
	}
	return true
}

// Graph is the graph as it is trained: formats stand, parameters have the values of the start.
func (m *Model) Graph() *ir.Graph { return m.graph }

// looksUp says that n takes rows of its first argument, at whole numbers.
func looksUp(n *ir.Node) bool {
	return !n.Op.Traits.Weighted && len(n.Args) > 1 && n.Args[0].Type.IsFloat() && !n.Args[1].Type.IsFloat()
}

// Elements is the number of all parameters.
func (m *Model) Elements() int {
	n := 0
	for i := range m.Params {
		n += len(m.Params[i].Start)
	}
	return n
}
