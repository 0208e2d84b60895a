// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"slices"
	"strconv"
	"strings"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/parse"
	"lathe/internal/diag"
)

// decoder turns the instructions of a kernel, and of the functions that it calls, into a program.
type decoder struct {
	prog *program
	mod  *Module
	fn   *parse.Func
	in   *parse.Inst
	// rows and preds give the place of each register of fn, -1 while it has none.
	rows, preds []int32
	consts      map[uint64]int32
	names       map[string]int32 // special registers and addresses of variables
	// vars holds the places of variables: offsets in shared, local or parameter space.
	vars  map[string]place
	fixes []fix
	depth int
	// ops are the opcodes by name; laneOps keeps what package lane was asked.
	ops     map[string][]opcode
	laneOps map[string]lane.Op
}

// place is where a variable stands within its space.
type place struct {
	space  space
	offset int64
}

// fix is a branch whose label is not decoded yet.
type fix struct {
	inst  int
	label string
	table int // index within a table of brx, else -1
	line  int
}

func decode(mod *Module, f *parse.Func) (*program, error) {
	prog := &program{name: f.Name, mod: mod}
	d := &decoder{prog: prog, mod: mod, consts: map[uint64]int32{}, names: map[string]int32{}, vars: map[string]place{},
		ops: map[string][]opcode{}, laneOps: map[string]lane.Op{}}
	for _, o := range opcodes() {
		d.ops[o.name] = append(d.ops[o.name], o)
	}
	for _, p := range f.Params {
		at := alignUp(prog.paramSize, p.Align)
		prog.params = append(prog.params, Param{Name: p.Name, Offset: at, Size: p.Size, Align: p.Align})
		prog.paramSize = at + p.Size
		d.vars[p.Name] = place{spaceParam, at}
	}
	for _, body := range mod.text.Funcs {
		prog.grouped = prog.grouped || (body == f || !body.Entry) &&
			slices.ContainsFunc(body.Body, func(in parse.Inst) bool { return in.Op == "wgmma" })
	}
	if err := d.shared(f); err != nil {
		return nil, err
	}
	d.addRow(lane.Row{}) // row 0 is what operands that are absent name
	if err := d.function(f); err != nil {
		return nil, err
	}
	if len(prog.insts) == 0 || prog.insts[len(prog.insts)-1].kind != kindExit || prog.insts[len(prog.insts)-1].guard >= 0 {
		d.emit(inst{kind: kindExit, guard: -1, src: &parse.Inst{Op: "ret", Guard: -1, Line: f.Line}})
	}
	if prog.grouped {
		prog.flightRegisters()
	}
	return prog, nil
}

func alignUp(v, align int64) int64 { return (v + align - 1) / align * align }

// shared lays out the shared memory that the kernel and the module declare; arrays without a length begin behind it.
func (d *decoder) shared(f *parse.Func) error {
	at := int64(sharedStart)
	var open []*parse.Var
	align := int64(16)
	for _, list := range [][]*parse.Var{d.mod.globals(), f.Vars} {
		for _, v := range list {
			if v.Space != "shared" {
				continue
			}
			if v.Size == 0 {
				open = append(open, v)
				align = max(align, v.Align)
				continue
			}
			at = alignUp(at, v.Align)
			d.vars[v.Name] = place{spaceShared, at}
			at += v.Size
		}
	}
	d.prog.static = at - sharedStart
	d.prog.dynamic = alignUp(at, align)
	for _, v := range open {
		d.vars[v.Name] = place{spaceShared, d.prog.dynamic}
	}
	if at > 1<<30 {
		return diag.New(diag.PTXSyntax, d.mod.Name+":"+strconv.Itoa(f.Line), "%s declares %d bytes of shared memory",
			f.Name, at)
	}
	return nil
}

// locals places the variables of a function in the memory of the thread.
func (d *decoder) locals(f *parse.Func, lists ...[]*parse.Var) {
	for _, list := range append(lists, f.Vars) {
		for _, v := range list {
			if v.Space != "local" && v.Space != "param" {
				continue
			}
			at := alignUp(d.prog.local, max(v.Align, 1))
			d.vars[v.Name] = place{spaceLocal, at}
			d.prog.local = at + v.Size
		}
	}
}

// function decodes a body behind what has been decoded.
func (d *decoder) function(f *parse.Func) error {
	d.fn = f
	d.rows, d.preds = make([]int32, len(f.Regs)), make([]int32, len(f.Regs))
	for i := range f.Regs {
		d.rows[i], d.preds[i] = -1, -1
	}
	if f.Entry {
		d.locals(f)
	}
	starts := make([]int32, len(f.Body)+1)
	for i := range f.Body {
		starts[i] = int32(len(d.prog.insts))
		d.in = &f.Body[i]
		if err := d.instruction(); err != nil {
			return err
		}
		if len(d.prog.insts) > 1<<22 {
			return d.unknown("more than 2^22 instructions")
		}
	}
	starts[len(f.Body)] = int32(len(d.prog.insts))
	for _, x := range d.fixes {
		to := starts[f.Labels[x.label]]
		if x.label == "" {
			to = starts[len(f.Body)]
		}
		if x.table >= 0 {
			d.prog.insts[x.inst].more.([]int32)[x.table] = to
		} else {
			d.prog.insts[x.inst].target = to
		}
	}
	d.fixes = nil
	return nil
}

// instruction decodes d.in.
func (d *decoder) instruction() error {
	guard := int32(-1)
	if d.in.Guard >= 0 {
		guard = d.pred(d.in.Guard)
	}
	at := len(d.prog.insts)
	if err := d.opcode(); err != nil {
		return err
	}
	var registers *uses
	if d.prog.grouped && d.in.Op != "call" {
		registers = d.operands()
	}
	for i := at; i < len(d.prog.insts); i++ {
		in := &d.prog.insts[i]
		if registers != nil {
			in.uses = registers
		}
		if in.guard == 0 { // what a call brings in keeps its own
			in.guard, in.unless, in.src = guard, flip(d.in.Unless), d.in
		}
		in.index = int32(i)
	}
	return nil
}

// opcode finds the opcode in the tables.
func (d *decoder) opcode() error {
	if d.in.Op == "call" {
		return d.call()
	}
	for _, o := range d.ops[d.in.Op] {
		if ok, err := o.build(d, d.in.Mods); err != nil || ok {
			return err
		}
	}
	key := d.text()
	if op, ok := d.laneOps[key]; ok {
		return d.laneOp(op)
	}
	op, known, ok := lane.Lookup(d.in.Op, d.in.Mods)
	switch {
	case ok:
		d.laneOps[key] = op
		return d.laneOp(op)
	case known || d.ops[d.in.Op] != nil:
		return d.unknown("the interpreter does not execute the modifiers of %s", key)
	}
	return d.unknown("the interpreter does not execute the opcode %s", d.in.Op)
}

func (d *decoder) text() string { return strings.Join(append([]string{d.in.Op}, d.in.Mods...), ".") }

func (d *decoder) unknown(msg string, args ...any) error {
	return diag.New(diag.PTXUnsupported, d.mod.Name+":"+strconv.Itoa(d.in.Line), msg, args...).WithNote("in %s: %s",
		d.fn.Name, line(d.mod.text, d.in.Line))
}

// line is the text of a line without the white space around it.
func line(m *parse.Module, n int) string {
	if n < 1 || n > len(m.Lines) {
		return ""
	}
	return strings.Join(strings.Fields(m.Lines[n-1]), " ")
}

// emit appends an instruction.
func (d *decoder) emit(in inst) *inst {
	in.index = int32(len(d.prog.insts))
	if in.src == nil {
		in.src = d.in
	}
	d.prog.insts = append(d.prog.insts, in)
	return &d.prog.insts[len(d.prog.insts)-1]
}

// laneOp decodes an instruction that acts on each lane by itself.
func (d *decoder) laneOp(op lane.Op) error {
	if len(d.in.Args) != 1+len(op.Src) {
		return d.unknown("%s has %d operands, not %d", d.text(), len(d.in.Args), 1+len(op.Src))
	}
	in := inst{kind: kindLane, fn: op.Fn}
	loose := d.in.Op == "cvt" || d.in.Op == "szext"
	var err error
	if in.d, err = d.dest(&d.in.Args[0], op.Dst.Bits, loose); err != nil {
		return err
	}
	for i, into := range []*int32{&in.a, &in.b, &in.c, &in.e}[:len(op.Src)] {
		if *into, err = d.source(&d.in.Args[i+1], op.Src[i], loose); err != nil {
			return err
		}
	}
	if bits := d.width(&d.in.Args[0]); loose && op.Dst.Kind == 's' && bits > op.Dst.Bits {
		in.fn = extended(op.Fn, op.Dst.Bits, bits)
	}
	d.emit(in)
	return nil
}

// extended spreads the sign of a result over a wider register.
func extended(fn lane.Func, from, to int) lane.Func {
	mask := lane.Type{Kind: 's', Bits: to}.Mask()
	return func(d, a, b, c, e *lane.Row) {
		fn(d, a, b, c, e)
		for i := range d {
			d[i] = uint64(int64(d[i]<<(64-from))>>(64-from)) & mask
		}
	}
}

// flip is the mask that a negation exchanges.
func flip(not bool) uint32 {
	if not {
		return full
	}
	return 0
}
