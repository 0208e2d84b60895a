// SPDX-License-Identifier: Apache-2.0

// Package custom holds the operation whose hardware is a module that a user wrote.
package custom

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/composite"
	"lathe/ir/op/draw"
	"lathe/ir/op/pointwise"
	"lathe/rtl"
)

// ModuleAttrs are a module of SystemVerilog, in the style of the library, and what it means.
type ModuleAttrs struct {
	// Source is the text of the module, Parameters are "NAME=VALUE".
	Source     string
	Parameters []string
	// Exact is a quantized graph that computes the same codes, in the formats of the ports; Float is a float graph of the
	// function that is meant.
	Exact, Float *ir.Graph
}

// Module is a module that a user wrote. Its meaning is a graph, beside which every engine but the simulator computes.
var Module = composite.New(ir.Op{
	Name: "module", Doc: "a Verilog module of the user, whose meaning is a graph", Attrs: ModuleAttrs{},
	Arity: [2]int{1, 2},
	Infer: infer, Expand: expand, RTL: unit, Lanes: lanes, Legal: legal, Gen: gen,
})

// meant is the graph that states the codes of n.
func meant(n *ir.Node) *ir.Graph { return n.Attrs.(*ModuleAttrs).Exact }

// Check says what is wrong with the attributes: graphs of one result, alike but for their formats, and a module whose
// streams carry them.
func (a *ModuleAttrs) Check() error {
	if a.Exact == nil || a.Float == nil || a.Exact.Stage != ir.StageQuantized || a.Float.Stage != ir.StageFloat {
		return fmt.Errorf("a module has a quantized graph that states its codes, and a float one")
	}
	for _, g := range []*ir.Graph{a.Exact, a.Float} {
		if len(g.Out) != 1 || len(g.In) < 1 || len(g.In) > 2 {
			return fmt.Errorf("a module has one or two inputs and one result, not %d and %d", len(g.In), len(g.Out))
		}
	}
	if len(a.Float.In) != len(a.Exact.In) ||
		!slices.Equal(a.Float.Out[0].Node.Type.Shape, a.Exact.Out[0].Node.Type.Shape) {
		return fmt.Errorf("the graphs of a module differ in inputs or shapes")
	}
	own, params, err := a.read()
	if err != nil {
		return err
	}
	_, err = a.lanesOf(own, params)
	return err
}

// read reads the module and its parameters.
func (a *ModuleAttrs) read() (*rtl.Own, []rtl.Param, error) {
	own, err := rtl.ReadOwn(a.Source)
	if err != nil {
		return nil, nil, err
	}
	var params []rtl.Param
	for _, p := range a.Parameters {
		name, value, _ := strings.Cut(p, "=")
		params = append(params, rtl.Param{Name: name, Value: value})
	}
	_, err = own.Header.Values(params)
	return own, params, err
}

// lanesOf are the elements in a beat of each input stream, and last of the result.
func (a *ModuleAttrs) lanesOf(own *rtl.Own, params []rtl.Param) ([]int, error) {
	streams, cause := own.Streams()
	if cause != "" {
		return nil, fmt.Errorf("module %s: %s", own.Header.Name, cause)
	}
	if len(streams) != len(a.Exact.In) {
		return nil, fmt.Errorf("module %s takes %d streams, its graph %d inputs", own.Header.Name, len(streams),
			len(a.Exact.In))
	}
	values, err := own.Header.Values(params)
	if err != nil {
		return nil, err
	}
	var lanes []int
	for i, s := range append(streams, "out") {
		n := a.Exact.Out[0].Node
		if i < len(a.Exact.In) {
			n = a.Exact.In[i]
		}
		width, err := own.Header.Width(s+"_data", values)
		if err != nil {
			return nil, err
		}
		w := n.Type.Format.Width()
		if width < w || width%w != 0 || n.Type.Elems()%(width/w) != 0 {
			return nil, fmt.Errorf("module %s: %s_data has %d bits, which are no beat of %s", own.Header.Name, s, width, n.Type)
		}
		lanes = append(lanes, width/w)
	}
	return lanes, nil
}

func infer(n *ir.Node) ([]int, error) {
	a := n.Attrs.(*ModuleAttrs)
	if err := a.Check(); err != nil {
		return nil, fmt.Errorf("%s", diag.Message(err))
	}
	if len(n.Args) != len(a.Exact.In) {
		return nil, fmt.Errorf("%d arguments; its graph takes %d", len(n.Args), len(a.Exact.In))
	}
	for i, x := range n.Args {
		if want := a.Exact.In[i].Type.Shape; !slices.Equal(x.Type.Shape, want) {
			return nil, fmt.Errorf("argument %d is %s; its module takes %s", i, ir.ShapeString(x.Type.Shape),
				ir.ShapeString(want))
		}
	}
	return slices.Clone(a.Exact.Out[0].Node.Type.Shape), nil
}

// Ports are the formats that arguments and result of n have, where its unit takes no others.
func Ports(n *ir.Node) (args []format.Format, result format.Format, ok bool) {
	if _, ok := n.Attrs.(*ModuleAttrs); !ok {
		return nil, nil, false
	}
	g := meant(n)
	for _, in := range g.In {
		args = append(args, in.Type.Format)
	}
	return args, g.Out[0].Node.Type.Format, true
}

func legal(n *ir.Node) error {
	args, result, _ := Ports(n)
	for i, f := range append(args, result) {
		x := n
		if i < len(args) {
			x = n.Args[i]
		}
		if x.IsConst() {
			return fmt.Errorf("a module takes streams, and argument %d is a constant", i)
		}
		if !format.SameType(x.Type.Format, f) {
			return fmt.Errorf("its module has ports of %s, not of %s", f, x.Type.Format)
		}
	}
	return nil
}

// expand is the graph in the place of n.
func expand(n *ir.Node) ([]*ir.Node, error) {
	g := n.Attrs.(*ModuleAttrs).Exact
	if n.Type.IsFloat() {
		g = n.Attrs.(*ModuleAttrs).Float
	}
	made := map[*ir.Node]*ir.Node{}
	for i, in := range g.In {
		made[in] = n.Args[i]
	}
	var parts []*ir.Node
	for _, p := range g.Nodes {
		if p.IsInput() {
			continue
		}
		c := *p
		c.Name, c.Pos, c.Args, c.Attrs = n.Name+"."+p.Name, n.Pos, slices.Clone(p.Args), ir.CloneAttrs(p.Attrs)
		for i, a := range c.Args {
			c.Args[i] = made[a]
		}
		made[p] = &c
		parts = append(parts, &c)
	}
	last := made[g.Out[0].Node]
	i := slices.Index(parts, last)
	if i < 0 {
		return nil, fmt.Errorf("its graph returns an input")
	}
	last.Name = n.Name
	return append(append(parts[:i:i], parts[i+1:]...), last), nil
}

func unit(n *ir.Node) (*rtl.Unit, error) {
	own, params, err := n.Attrs.(*ModuleAttrs).read()
	if err != nil {
		return nil, err
	}
	in, _ := own.Streams()
	return &rtl.Unit{Module: own.Header.Name, Own: own, In: in, Params: params}, nil
}

// lanes are those of the ports.
func lanes(n *ir.Node) (*ir.Lanes, error) {
	a := n.Attrs.(*ModuleAttrs)
	own, params, err := a.read()
	if err != nil {
		return nil, err
	}
	all, err := a.lanesOf(own, params)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	l := &ir.Lanes{In: ir.Count{Legal: all[:1], Size: n.Args[0].Type.Elems(), Things: "elements, as its module says"},
		Tie: func(int) (in, out int) { return all[0], all[len(all)-1] }}
	if len(all) == 3 {
		l.Second = func(int, int) int { return all[1] }
	}
	return l, nil
}

// gen is a relu that a user wrote.
func gen(r *rand.Rand, o *ir.Op) *ir.Graph {
	w := draw.Between(r, 2, 9)
	f := format.Fixed{W: w, F: draw.Between(r, -2, w+2), Signed: true}
	count := draw.Between(r, 1, 3)
	t := ir.Type{Shape: []int{1, count * draw.Between(r, 1, 4)}, Format: f}
	a := &ModuleAttrs{Source: ReluText, Parameters: []string{fmt.Sprint("LANES=", count), fmt.Sprint("W=", w),
		fmt.Sprint("BEATS=", t.Elems()/count)}}
	a.Exact = draw.Graph(pointwise.Relu, nil, ir.Type{Format: f}, draw.Input("x", t))
	a.Float = draw.Graph(pointwise.Relu, nil, ir.Float(), draw.Input("x", ir.Float(t.Shape...)))
	return draw.Graph(o, a, ir.Type{Format: f}, draw.Input("x", t))
}

// ReluText is a module as users write them, for tests.
const ReluText = `// my_relu: y = max(x, 0), element by element.
//   parameters  LANES   elements a beat
//               W       bits of an element
//               BEATS   beats of a frame
//   latency: 1   ii: BEATS   order: as it comes
module my_relu #(
    parameter integer LANES = 1,
    parameter integer W     = 8,
    /* verilator lint_off UNUSEDPARAM */
    parameter integer BEATS = 1
    /* verilator lint_on UNUSEDPARAM */
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [LANES*W-1:0] in_data,
    input  wire               in_valid,
    output wire               in_ready,
    output wire [LANES*W-1:0] out_data,
    output wire               out_valid,
    input  wire               out_ready
);
  wire [LANES*W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      assign y[W*i+:W] = in_data[W*i+W-1] ? {W{1'b0}} : in_data[W*i+:W];
    end
  endgenerate
  stream_skid #(
      .WIDTH(LANES * W)
  ) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`
