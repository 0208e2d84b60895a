// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"lathe/cuda"
	"lathe/emit/cuda/generic"
	"lathe/emit/cuda/kernel"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/group"
)

// Options of an emission.
type Options struct {
	Version string
	// Name of the design; that of the graph where it is empty.
	Name string
	// Trace keeps the values of all outputs of groups.
	Trace bool
	// Arch, Samples and BatchInvariant guide the choice of configurations: the architecture of that name and so many
	// samples together; "sm_90" and 1 if not given. BatchInvariant makes the choice, and with it every bit of a sample,
	// independent of Samples.
	Arch           string
	Samples        int
	BatchInvariant bool
	// Hopper chooses for sm_90a, kernels that run nowhere else among them; Arch does not matter then.
	Hopper bool
	// Generic uses no kernel of the library.
	Generic bool
	// KeepInputs leaves inputs as they are: the caller's memory. Without it a kernel may put its result where an input of
	// the graph lies.
	KeepInputs bool
	// AllowSlow takes sums of more than SlowFlops operations by a thread a result.
	AllowSlow bool
}

// defaultArch is the architecture whose sizes guide where none is named.
const defaultArch = "sm_90"

// Target is what kernels are chosen for. Error L0934 for an unknown architecture.
func (o Options) Target() (cuda.Target, error) {
	if o.Arch == "" {
		o.Arch = defaultArch
	}
	if o.Hopper {
		o.Arch = cuda.HopperArch
	}
	a, err := cuda.FindArch(o.Arch)
	return cuda.Target{Arch: a, Samples: max(o.Samples, 1), BatchInvariant: o.BatchInvariant, Hopper: o.Hopper}, err
}

// Emit makes the kernels of a float or quantized graph in which constants are computed, in the groups that lowering
// chooses. Its error lists every group that has no kernels: L0310 and L0317 where it has no StableHLO form, L0945 where
// its operations have no kernels, L0946 for values that no buffer holds, L0948 for a large sum without a kernel of the
// library, unless AllowSlow. Also L0934 for an unknown architecture.
func Emit(g *ir.Graph, o Options) (*Design, error) {
	groups, err := group.Of(g)
	if err != nil {
		return nil, err
	}
	return EmitGroups(g, groups, o)
}

// EmitGroups is Emit with groups of the caller's choice, in an order in which they can be computed, of a graph in which
// no operation has constants alone for arguments. Also error L0947 for a value that no group gives.
func EmitGroups(g *ir.Graph, groups []*ir.Group, o Options) (*Design, error) {
	e, err := newEmitter(o)
	if err != nil {
		return nil, err
	}
	d, err := e.emit(g, groups, o)
	if err != nil {
		return nil, err
	}
	return d, e.finish(d)
}

func newEmitter(o Options) (*emitter, error) {
	target, err := o.Target()
	return &emitter{tables: map[[sha256.Size]byte]int64{}, lengths: map[int64]int64{}, target: target, generic: o.Generic,
		keepInputs: o.KeepInputs}, err
}

// emit makes the design of a graph, yet without what all designs of the emitter share.
func (e *emitter) emit(g *ir.Graph, groups []*ir.Group, o Options) (*Design, error) {
	d := &Design{Name: cmp.Or(o.Name, g.Name), Version: o.Version, Stage: g.Stage, GPU: cuda.PeakOf(e.target.Arch).GPU,
		Samples: e.target.Samples}
	e.d, e.at, e.readers, e.slow = d, map[*ir.Node]place{}, g.Readers(), nil
	e.buffer("tables", 0)
	for _, n := range g.In {
		e.at[n] = e.place(n)
		e.d.Inputs = append(e.d.Inputs, e.port(n.Name, n))
	}
	var errs diag.List
	for _, group := range groups {
		err := e.group(group)
		if diag.CodeOf(err) == diag.NoCacheKernel { // and so in every layer
			return nil, err
		}
		if err != nil {
			errs = append(errs, group.Anchor.Diag(diag.ReferenceOnly, err))
		}
	}
	if !o.AllowSlow {
		errs = append(errs, e.refuseSlow()...)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	for _, out := range g.Out {
		if err := e.have(out.Node); err != nil {
			return nil, err
		}
		p := e.port(out.Name, out.Node)
		p.Perm = out.Perm
		e.d.Outputs = append(e.d.Outputs, p)
	}
	for _, n := range g.Nodes {
		if _, known := e.at[n]; known && o.Trace && !n.IsConst() {
			e.d.Traced = append(e.d.Traced, e.port(n.Name, n))
		}
	}
	return d, nil
}

// finish gives designs their source and tables, and lets buffers share their place.
func (e *emitter) finish(designs ...*Design) error {
	source, err := e.source()
	only := ""
	for _, d := range designs {
		only = max(only, d.Only)
	}
	for _, d := range designs {
		d.Source, d.Tables, d.Only = source, e.data, only
		d.Buffers[0].Bytes = int64(len(e.data))
		d.stride()
		d.share()
	}
	return err
}

// place is where the value of a node lies.
type place struct{ codes, scales int }

// refs are the buffers of a place, in the order of a program's arguments.
func (p place) refs() []int {
	if p.scales < 0 {
		return []int{p.codes}
	}
	return []int{p.codes, p.scales}
}

type emitter struct {
	d       *Design
	at      map[*ir.Node]place
	readers map[*ir.Node]int
	tables  map[[sha256.Size]byte]int64 // offsets of tables by their data
	lengths map[int64]int64             // of tables by their offsets
	data    []byte                      // of all tables
	kernels []*kernel.Kernel
	groups  int // that have kernels of their own

	target     cuda.Target
	generic    bool
	keepInputs bool
	instances  []cuda.Instance // kernels of the library
	users      []string        // comments on which node runs which of them
	slow       []slow
}

func (e *emitter) buffer(name string, bytes int64) int {
	e.d.Buffers = append(e.d.Buffers, Buffer{name, bytes})
	return len(e.d.Buffers) - 1
}

// place makes the buffers for the value of n.
func (e *emitter) place(n *ir.Node) place { return placed(n, e.buffer) }

// placed is the place of n in buffers that are asked for by name and size: codes, then scales if there are any.
func placed(n *ir.Node, buffer func(name string, bytes int64) int) place {
	p := place{buffer(n.Name, int64(n.Type.Elems())*int64(storeOf(n.Type).Bytes())), -1}
	if s, ok := scaleStore(n.Type); ok {
		p.scales = buffer(n.Name+" scales", int64(n.Type.Blocks())*int64(s.Bytes()))
	}
	return p
}

func (e *emitter) port(name string, n *ir.Node) Port {
	at := e.at[n]
	p := Port{Name: name, Node: n, Codes: at.codes, Scales: at.scales, Store: storeOf(n.Type)}
	p.ScaleStore, _ = scaleStore(n.Type)
	return p
}

// have demands that the value of n has a place.
func (e *emitter) have(n *ir.Node) error {
	if _, ok := e.at[n]; !ok {
		return n.Errorf(diag.KernelGroups, "no group before gives %s", n.Name)
	}
	return nil
}

// group appends the units of g: kernels of the library, or those made of its operations.
func (e *emitter) group(g *ir.Group) error {
	for _, n := range g.Inputs {
		if err := e.have(n); err != nil {
			return err
		}
	}
	for _, n := range g.Members {
		if elems := n.Type.Elems(); elems > ir.MaxValue {
			return n.Errorf(diag.KernelValueTooLarge, "%s has %d elements, a buffer of a sample holds up to %d", n.Type, elems,
				ir.MaxValue)
		}
	}
	done, why, err := e.library(g)
	if done || err != nil {
		return err
	}
	if at := slices.IndexFunc(g.Anchor.Args, inBlocks); at >= 0 && g.Anchor.Op.Traits.FloatOnly {
		return g.Anchor.Errorf(diag.NoCacheKernel, "no kernel takes the cache %s in %s: %s", g.Anchor.Args[at].Name,
			g.Anchor.Args[at].Type.Format, cmp.Or(why, "the library is not asked")).
			WithHint("--kv bf16 has kernels for more head dimensions, and --past leaves the caches to the caller")
	}
	c, err := compile(g, fmt.Sprintf("k%d_%s", e.groups, Identifier(g.Anchor.Name)))
	if err != nil {
		return err
	}
	e.check(g, why)
	if len(c.kernels.Steps) > 0 {
		e.groups++
	}
	var notes []string
	if why != "" {
		notes = append(notes, "no kernel of the library: "+why)
	}
	return e.own(g, c, append(notes, c.kernels.Notes...))
}

// own appends the kernels that were made for g, the first of them with notes.
func (e *emitter) own(g *ir.Group, c *compiled, notes []string) error {
	var inputs []int
	for _, a := range g.Inputs {
		inputs = append(inputs, e.at[a].refs()...)
	}
	outputs := e.results(g, c, inputs)
	var scratch []int
	for i, s := range c.kernels.Scratch {
		name := fmt.Sprintf("%s scratch %d", g.Anchor.Name, i)
		scratch = append(scratch, e.buffer(name, s.Elems*int64(s.Type.Bytes())))
	}
	work := flops(g, c.program)
	for i, s := range c.kernels.Steps {
		u := unitOf(g, s.Kernel.Name)
		u.Blocks, u.Threads, u.MaxSamples = s.Kernel.Blocks(), s.Kernel.Threads(), cuda.MaxGridY
		if i == 0 {
			u.Notes, u.Flops = notes, work
		}
		// Of a table no more is read than there are results and operations: a row that is picked, and not all of them.
		reads := work
		for k, r := range s.Args {
			if r.Kind == generic.Output || r.Kind == generic.Scratch {
				reads += s.Kernel.Params[k].Stride
			}
		}
		for k, r := range s.Args {
			p := s.Kernel.Params[k]
			a := Arg{}
			switch r.Kind {
			case generic.Input:
				a.Buffer = inputs[r.Index]
			case generic.Output:
				a.Buffer = outputs[r.Index]
			case generic.Scratch:
				a.Buffer = scratch[r.Index]
			default:
				t := c.kernels.Tables[r.Index]
				a.Offset = e.table(t.Data)
				u.Bytes += min(int64(len(t.Data)), reads*int64(p.Type.Bytes()))
			}
			u.Args = append(u.Args, a)
			u.Bytes += p.Stride * int64(p.Type.Bytes())
		}
		if err := e.predict(&u, nil, g); err != nil {
			return err
		}
		e.kernels = append(e.kernels, s.Kernel)
		e.d.Units = append(e.d.Units, u)
	}
	return nil
}

// results gives the outputs of g their places, and returns the buffers that its kernels write: those of results that
// are no input as it is.
func (e *emitter) results(g *ir.Group, c *compiled, inputs []int) (written []int) {
	aliases := c.alias
	buffer := func(name string, bytes int64) int {
		alias := aliases[0]
		aliases = aliases[1:]
		if alias >= 0 {
			return inputs[alias]
		}
		written = append(written, e.buffer(name, bytes))
		return written[len(written)-1]
	}
	for _, n := range g.Outputs {
		e.at[n] = placed(n, buffer)
	}
	return written
}

// align is the alignment of tables: that of a device allocation.
const align = 256

// table stores constant data once and returns its offset.
func (e *emitter) table(data []byte) int64 {
	key := sha256.Sum256(data)
	at, ok := e.tables[key]
	if !ok {
		for len(e.data)%align != 0 {
			e.data = append(e.data, 0)
		}
		at = int64(len(e.data))
		e.data = append(e.data, data...)
		e.tables[key], e.lengths[at] = at, int64(len(data))
	}
	return at
}

// unitOf is a unit of g with what is known of it whatever kernel it runs.
func unitOf(g *ir.Group, kernel string) Unit {
	n, out := g.Anchor, g.Outputs[len(g.Outputs)-1]
	u := Unit{Kernel: kernel, Node: n.Name, Op: n.Op.Name, Source: n.Pos, Format: out.Type.Format.String(),
		Shape: out.Type.Shape}
	if len(g.Members) > 1 {
		for _, m := range g.Members {
			u.Members = append(u.Members, m.Name)
		}
	}
	return u
}

// Identifier makes a part of a C name, of 40 characters at most.
func Identifier(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s)
	const longest = 40
	if len(s) > longest {
		s = s[:longest]
	}
	return s
}

// source prints the translation unit: kernels of the library, then those made for nodes.
func (e *emitter) source() (string, error) {
	var b strings.Builder
	if len(e.instances) > 0 {
		text, err := cuda.Print(e.instances...)
		if err != nil {
			return "", err
		}
		b.WriteString(text + "\n// Which node runs which kernel of the library:\n" + strings.Join(e.users, "\n") + "\n\n")
	}
	b.WriteString(kernel.Prelude)
	for _, k := range e.kernels {
		b.WriteString("\n" + kernel.Print(k))
	}
	return b.String(), nil
}
