// SPDX-License-Identifier: Apache-2.0

// Package verilog prints scheduled graphs as hardware: a core with one library instance a node, a Verilog-2001 wrapper
// with AXI4-Stream ports, and memory images. Operations say by their RTL column what they are.
package verilog

import (
	"fmt"
	"slices"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// Options of emission.
type Options struct {
	// Top names the wrapper; empty: the graph's name, sanitized.
	Top string
	// Version is written into the file headers.
	Version string
	// Part and ClockMHz are what the plan wishes for; design.json hands them on to whoever builds the design.
	Part     string
	ClockMHz float64
	// StreamMHz, if not 0, gives the streams a clock of their own.
	StreamMHz float64
	// Balance is what the choice of foldings aimed at and reached, for design.json; nil where nothing was balanced.
	Balance *unit.Balance
	// BadFrame is that of emit.Design.
	BadFrame string
	// Tokens, if not 0, makes a decoder of the design: sequences of up to that many tokens, see emit.Design.
	Tokens int
	// Units, if not nil, has what was planned of the units already.
	Units *unit.Cache
}

// instance is one node on its way into the core.
type instance struct {
	node *ir.Node
	name string // of the instance, empty where the node is only a wire
	unit *rtl.Unit
	// module is that of the library, or the one that the unit's body becomes.
	module string
	// images are the memory images as files, bound the parameters that name them.
	images []rtl.File
	bound  []rtl.Param
	sealed []rtl.Param // of the ROM beside it, whose weights are checked
	// memory is the name of the instance that brings weights, or keys and values, from outside, region their place among
	// all regions of weights or of caches.
	memory string
	region int
	// in are the streams that it reads. out is the prefix of the wires that carry the result, width the bits of its beats.
	in    []handshake
	out   string
	back  string // the prefix of a stream that leads back to it
	width int
	// result is the stream of the result; that of a fork has one valid and one ready a branch.
	result handshake
}

// builder collects a design.
type builder struct {
	graph  *ir.Graph
	units  *unit.Cache
	design *emit.Design
	byNode map[*ir.Node]*instance
	order  []*instance
	// read counts the readers that have a stream already, and so the branches of forks that are given out.
	read map[*ir.Node]int
	// turns are the nodes of units that layers share, by the first; back the prefixes of the wires that lead back to the
	// units that take results again.
	turns map[string][]string
	back  map[string]string
	// results are the streams of the outputs.
	results []handshake
	// regions counts the weights that lie outside, cached the keys and values.
	regions, cached int
}

// Emit prints a scheduled graph. All nodes that hardware cannot do are reported at once.
func Emit(g *ir.Graph, o Options) (*emit.Design, error) {
	if g.Stage != ir.StageScheduled {
		return nil, diag.New(diag.NotScheduled, g.Name, "the graph is %s; only scheduled graphs become hardware", g.Stage)
	}
	top := sanitize(g.Name)
	if taken(top) || taken(top+"_core") {
		top += "_top"
	}
	if o.Top != "" {
		if err := CheckTop(o.Top); err != nil {
			return nil, err
		}
		top = o.Top
	}
	units := ring.Units(g)
	b := &builder{graph: units, turns: turnsOf(g, units), back: map[string]string{}, units: o.Units,
		byNode: map[*ir.Node]*instance{}, read: map[*ir.Node]int{}}
	if b.units == nil {
		b.units = unitsFor(o.Part)
	}
	b.design = &emit.Design{Name: g.Name, Top: top, Single: singleOf(top, o), Core: top + "_core",
		Version: o.Version, Part: o.Part, ClockMHz: o.ClockMHz, StreamMHz: o.StreamMHz, Balance: o.Balance,
		Tokens: o.Tokens, Group: ring.Images(units), BadFrame: o.BadFrame}
	if err := b.instances(); err != nil {
		return nil, err
	}
	if err := b.ports(); err != nil {
		return nil, err
	}
	if err := decodes(b.design); err != nil {
		return nil, err
	}
	if err := checks(b.design); err != nil {
		return nil, err
	}
	if err := b.sources(o); err != nil {
		return nil, err
	}
	return b.design, Describe(b.design)
}

// instances asks every node for its unit and names the wires.
func (b *builder) instances() error {
	ids := newNames(b.reserved()...)
	var errs diag.List
	units, failed := make([]*rtl.Unit, len(b.graph.Nodes)), make([]error, len(b.graph.Nodes))
	workers.Each(len(units), func(i int) {
		if n := b.graph.Nodes[i]; n.Op.RTL != nil && !n.IsConst() && !slices.Contains(b.graph.In, n) {
			units[i], failed[i] = b.units.Of(n)
		}
	})
	for i, n := range b.graph.Nodes {
		if n.IsConst() || b.behindFailed(n) {
			continue
		}
		inst := &instance{node: n, unit: units[i], width: n.BeatWidth()}
		err := failed[i]
		if err == nil {
			err = b.instance(inst, ids)
		}
		if err != nil {
			errs = append(errs, n.Diag(diag.UnitFault, err))
			continue
		}
		b.byNode[n] = inst
		b.order = append(b.order, inst)
	}
	if err := errs.Err(); err != nil {
		return err
	}
	for _, o := range b.graph.Out {
		if o.Node.IsConst() {
			return o.Node.Errorf(diag.ConstantOutput, "output %q is a constant, which needs no hardware", o.Name)
		}
		b.results = append(b.results, b.reads(o.Node))
	}
	return b.graph.CheckReaders()
}

// instance names the wires of one node, whose unit is known; inputs are the core's own ports.
func (b *builder) instance(inst *instance, ids *names) error {
	n := inst.node
	if slices.Contains(b.graph.In, n) {
		inst.out, inst.unit = b.coreName("in", slices.Index(b.graph.In, n), len(b.graph.In)), &rtl.Unit{}
		inst.result = wiresOf(inst.out)
		return nil
	}
	if n.Op.RTL == nil {
		return n.Errorf(diag.NoHardware, "%s has no hardware in this version", n.Op.Name)
	}
	unit := inst.unit
	for _, a := range n.Args {
		if !a.IsConst() {
			inst.in = append(inst.in, b.reads(a))
		}
	}
	again := n.Op.Traits.Ring == ir.Enters && len(prefixes(unit)) == 2
	if again {
		inst.back = "r__" + ids.pick(n.Name+"_back")
		b.back[n.Name] = inst.back
		inst.in = append(inst.in, wiresOf(inst.back))
	}
	if names := prefixes(unit); len(names) != len(inst.in) {
		return n.Errorf(diag.FewPorts, "reads %d streams; the unit of %s takes %d", len(inst.in), n.Op.Name, len(names)).
			WithHint("run the model with --engine ref or pjrt")
	}
	if unit.Wire() {
		inst.out, inst.result = b.byNode[n.Args[0]].out, inst.in[0]
		return nil
	}
	if unit.Body == nil && unit.Own == nil {
		if _, err := rtl.Lookup(unit.Module); err != nil {
			return err
		}
	}
	inst.name, inst.module = ids.pick(n.Name), unit.Module
	if unit.Body != nil {
		inst.module = b.design.Core + "_" + inst.name
	}
	switch {
	case unit.Weights != nil:
		inst.memory = ids.pick(n.Name + "_memory")
	case unit.Cache != nil:
		inst.memory = ids.pick(n.Name + "_cache")
	}
	if inst.out = "s__" + inst.name; n.HW.Back != "" { // instance names have no double underscore
		inst.out = b.back[n.HW.Back]
	}
	inst.result = wiresOf(inst.out)
	return nil
}

// reserved lists the identifiers of the core that no instance may have.
func (b *builder) reserved() []string {
	names := []string{"clk", "rst", b.design.Core, b.design.Top, b.design.Single, readerName, writerName, emit.AXIBase,
		emit.AXICache, emit.AXIFailed, portReset, cacheIdle, sealsFine}
	for _, side := range []struct {
		base  string
		count int
	}{{"in", len(b.graph.In)}, {"out", len(b.graph.Out)}} {
		for i := range side.count {
			stream := b.coreName(side.base, i, side.count)
			names = append(names, stream+"_data", stream+"_valid", stream+"_ready")
		}
	}
	return names
}

// coreName numbers streams when there are several: in, or in0, in1, ...
func (b *builder) coreName(base string, i, count int) string {
	if count == 1 {
		return base
	}
	return fmt.Sprintf("%s%d", base, i)
}

func (b *builder) ports() error {
	add := func(base, axis string, i, count int, name string, input bool, n *ir.Node, lanes int, perm, exps []int) {
		ends := input && slices.ContainsFunc(b.graph.In, func(n *ir.Node) bool { return n.HW.Ends })
		w := n.Type.BeatWidth(lanes)
		p := emit.Port{Name: name, Input: input, Type: n.Type, Perm: perm, Exponents: exps, Lanes: lanes,
			Width: w, Beats: n.Type.Elems() / lanes, TData: (w + 7) / 8 * 8,
			CoreStream: b.coreName(base, i, count), Stream: axis, Tokens: n.HW.Tokens}
		if n.HW.Ends {
			b.design.Ends, b.design.Lengths = &p, n.HW.Tokens
			return
		}
		if count > 1 && !ends {
			p.Stream = fmt.Sprintf("%s_%d", axis, i)
		}
		b.design.Ports = append(b.design.Ports, p)
	}
	for i, n := range b.graph.In {
		a := n.Attrs.(*ir.Input)
		add("in", "s_axis", i, len(b.graph.In), n.Name, true, n, n.HW.OutLanes, a.Perm, a.Exponents)
	}
	for i, o := range b.graph.Out {
		add("out", "m_axis", i, len(b.graph.Out), o.Name, false, o.Node, o.Node.HW.OutLanes, o.Perm, nil)
	}
	for _, p := range b.design.Ports {
		if p.Type.Elems()%p.Lanes != 0 {
			return diag.New(diag.LanesDivide, b.graph.Name, "%d lanes do not divide the %d elements of %q", p.Lanes,
				p.Type.Elems(), p.Name)
		}
	}
	return nil
}

// sources fills Files and Units.
func (b *builder) sources(o Options) error {
	modules := []string{"stream_last", "stream_reset"}
	if b.design.Group > 1 {
		modules = append(modules, "stream_group", "stream_follow", "stream_ungroup")
	}
	if b.design.Lengths > 0 {
		modules = append(modules, "stream_frames")
	}
	if b.design.Tokens > 0 {
		modules = []string{"stream_session", "stream_answer", "stream_reset"}
	}
	modules = append(modules, checkers(b.design)...)
	if b.design.StreamMHz > 0 {
		modules = append(modules, "stream_cross", "stream_restart")
	}
	var images []rtl.File
	units, failed := make([]*emit.Unit, len(b.order)), make([]error, len(b.order))
	workers.Each(len(b.order), func(i int) { units[i], failed[i] = b.describe(b.order[i]) })
	for i := range b.order {
		if failed[i] != nil {
			return failed[i]
		}
	}
	regions, err := b.memory(units)
	if err != nil {
		return err
	}
	b.regions = len(regions)
	b.caches(units)
	if err := b.portCost(); err != nil {
		return err
	}
	if b.design.Memory != nil {
		modules = append(modules, "axi_read")
	}
	if b.cached > 0 {
		modules = append(modules, "axi_write")
	}
	for i, inst := range b.order {
		b.design.Units = append(b.design.Units, *units[i])
		modules = append(modules, inst.leaves()...)
		images = append(images, inst.images...)
	}
	slices.Sort(modules)
	library, err := rtl.Files(slices.Compact(modules)...)
	if err != nil {
		return err
	}
	generated, err := b.generated(o)
	b.design.Files = slices.Concat(library, generated, images)
	if b.regions > 0 {
		b.design.Files = append(b.design.Files, regions.File(weightsFile))
	}
	return err
}

// leaves are the library modules of an instance.
func (inst *instance) leaves() (modules []string) {
	switch {
	case inst.unit.Body != nil:
		for _, part := range inst.unit.Body.Module.Instances() {
			modules = append(modules, part.Module)
		}
	case inst.unit.Own != nil:
		modules = append(modules, inst.unit.Own.Header.Deps...)
	case inst.unit.Module != "":
		modules = append(modules, inst.unit.Module)
	}
	if w := inst.unit.Weights; w != nil {
		modules = append(modules, w.Module)
	}
	if inst.unit.Cache != nil {
		modules = append(modules, "mem_cache")
	}
	return modules
}

// generated prints the bodies of units, the core and the wrapper, in an order in which each comes after its parts.
// Whatever does not fit together is an error of Lathe.
func (b *builder) generated(o Options) ([]rtl.File, error) {
	known := map[string][]netlist.Port{}
	signature := func(module string, params []netlist.Param) ([]netlist.Port, error) {
		if ports, ok := known[module]; ok {
			return ports, nil
		}
		if own := b.ownNamed(module); own != nil {
			return own.Signature(params)
		}
		return rtl.Signature(module, params)
	}
	files, err := b.own()
	if err != nil {
		return nil, err
	}
	add := func(m *netlist.Module, extension string) error {
		known[m.Name] = m.Ports
		files = append(files, rtl.File{Name: m.Name + extension, Data: m.Print()})
		return m.Check(signature)
	}
	for _, inst := range b.order {
		if inst.unit.Body == nil {
			continue
		}
		body, err := b.body(inst, o)
		if err == nil {
			err = add(body, ".sv")
		}
		if err != nil {
			return nil, inst.node.Diag(diag.UnitFault, err)
		}
	}
	if err := add(b.core(o), ".sv"); err != nil {
		return nil, err
	}
	single := b.wrapper(o)
	if b.design.StreamMHz == 0 {
		return files, add(single, ".v")
	}
	top := b.clocks(o, single)
	if err := add(single, ".v"); err != nil {
		return nil, err
	}
	return files, add(top, ".v")
}
