// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math"
	"slices"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/parse"
)

// kind says how the loop of a warp treats an instruction.
type kind uint8

const (
	kindLane    kind = iota // fn on rows
	kindCompare             // setp with one destination
	kindSelect              // selp
	kindBranch
	kindExit
	kindRun // run does it
)

// inst is a decoded instruction. Operands are indices of rows; predicates are indices of masks.
type inst struct {
	kind   kind
	unless uint32 // all ones turns the guard round
	// visible says that other warps can notice the instruction, so that the turn passes behind it.
	visible bool
	// together says that all live lanes must execute it at once.
	together      bool
	guard         int32
	d, a, b, c, e int32
	target        int32 // of a branch
	fn            lane.Func
	cmp           lane.Cmp
	run           func(w *warp, in *inst, mask uint32) *fault
	mem           *access
	uses          *uses // registers, where they may be those of a wgmma in flight
	more          any   // what rare instructions need besides
	src           *parse.Inst
	index         int32
}

// program is a kernel, decoded.
type program struct {
	name   string
	mod    *Module
	insts  []inst
	params []Param
	// paramSize is the length of the parameters; static that of declared shared memory; local that of a thread's own.
	paramSize, static, local int64
	// dynamic is the address at which dynamic shared memory begins.
	dynamic int64
	// init holds what the rows hold at the start of a warp: constants, and poison in registers.
	init     []lane.Row
	preds    int
	specials []special
	relocs   []reloc
	// ordered says that blocks may communicate through atomics, so that they run one after the other.
	ordered bool
	// proxied says that there is work for the asynchronous proxy, grouped that some of it is wgmma.
	proxied, grouped bool
}

// special is a row that holds a special register.
type special struct {
	row  int32
	name string
}

// reloc is a row that holds the address of a variable of module scope.
type reloc struct {
	row    int32
	symbol string
	add    uint64
}

func (m *Module) globals() []*parse.Var { return m.text.Vars }

func (d *decoder) addRow(r lane.Row) int32 {
	d.prog.init = append(d.prog.init, r)
	return int32(len(d.prog.init) - 1)
}

func splat(v uint64) (r lane.Row) {
	for i := range r {
		r[i] = v
	}
	return r
}

// typeOf is the type of a register.
func (d *decoder) typeOf(reg int) lane.Type {
	t, _ := lane.ParseType(d.fn.Regs[reg].Type)
	return t
}

// width is that of the register that an operand names, in bits; 0 of other operands.
func (d *decoder) width(o *parse.Operand) int {
	if o.Kind != parse.KindReg || o.Reg < 0 {
		return 0
	}
	return d.typeOf(o.Reg).Bits
}

// row is that of a register; it holds poison until it is written.
func (d *decoder) row(reg int) int32 {
	if d.rows[reg] < 0 {
		d.rows[reg] = d.addRow(splat(d.typeOf(reg).Mask()))
	}
	return d.rows[reg]
}

// pred is the mask of a predicate register.
func (d *decoder) pred(reg int) int32 {
	if d.preds[reg] < 0 {
		if d.prog.preds == 0 {
			d.prog.preds = 1 // index 0 says "no guard yet" while decoding
		}
		d.preds[reg] = int32(d.prog.preds)
		d.prog.preds++
	}
	return d.preds[reg]
}

// constant is a row whose lanes all hold v.
func (d *decoder) constant(v uint64) int32 {
	at, ok := d.consts[v]
	if !ok {
		at = d.addRow(splat(v))
		d.consts[v] = at
	}
	return at
}

// dest is the row of a destination of bits; loose lets the register be wider.
func (d *decoder) dest(o *parse.Operand, bits int, loose bool) (int32, error) {
	if o.Kind == parse.KindSink {
		return d.sink(), nil
	}
	if o.Kind != parse.KindReg || o.Pair >= 0 || o.Not {
		return 0, d.unknown("a destination of %s is not a register", d.text())
	}
	t := d.typeOf(o.Reg)
	if t.Kind == 'p' || t.Bits != bits && !(loose && t.Bits > bits) {
		return 0, d.unknown("register %s has %d bits, and %s writes %d", d.fn.Regs[o.Reg].Name, t.Bits, d.text(), bits)
	}
	return d.row(o.Reg), nil
}

// source is the row of a source of a type.
func (d *decoder) source(o *parse.Operand, t lane.Type, loose bool) (int32, error) {
	switch o.Kind {
	case parse.KindReg:
		if o.Pair >= 0 || o.Not {
			break
		}
		have := d.typeOf(o.Reg)
		if have.Kind == 'p' || have.Bits != t.Bits && !(loose && have.Bits > t.Bits) {
			return 0, d.unknown("register %s has %d bits, and %s reads %d", d.fn.Regs[o.Reg].Name, have.Bits, d.text(), t.Bits)
		}
		return d.row(o.Reg), nil
	case parse.KindInt:
		return d.constant(o.Val & t.Mask()), nil
	case parse.KindF32:
		if t.Bits == 64 && t.Kind == 'f' {
			return d.constant(math.Float64bits(float64(math.Float32frombits(uint32(o.Val))))), nil
		}
		return d.constant(o.Val & t.Mask()), nil
	case parse.KindF64:
		if t.Bits == 32 && t.Kind == 'f' && !t.Pair {
			return d.constant(uint64(math.Float32bits(float32(math.Float64frombits(o.Val))))), nil
		}
		return d.constant(o.Val & t.Mask()), nil
	case parse.KindSymbol:
		return d.address(o.Name, o.Val)
	case parse.KindSpecial:
		return d.special(o.Name)
	}
	return 0, d.unknown("an operand of %s is not a value", d.text())
}

// address is a row that holds the address of a variable in its own space.
func (d *decoder) address(name string, add uint64) (int32, error) {
	if name == "WARP_SZ" {
		return d.constant(lane.Width), nil
	}
	if p, ok := d.vars[name]; ok {
		return d.constant(uint64(p.offset) + add), nil
	}
	if !slices.ContainsFunc(d.mod.globals(), func(v *parse.Var) bool { return v.Name == name }) {
		return 0, d.unknown("unknown variable %s", name)
	}
	at := d.addRow(lane.Row{})
	d.prog.relocs = append(d.prog.relocs, reloc{row: at, symbol: name, add: add})
	return at, nil
}

// specials are the special registers.
var specials = []string{
	"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z",
	"%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid",
	"%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge",
	"%dynamic_smem_size", "%total_smem_size", "%clock", "%clock64", "%globaltimer",
	"%cluster_ctarank", "%cluster_nctarank", "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z",
	"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%is_explicit_cluster",
}

// special is the row of a special register.
func (d *decoder) special(name string) (int32, error) {
	if at, ok := d.names[name]; ok {
		return at, nil
	}
	if !slices.Contains(specials, name) {
		return 0, d.unknown("unknown register %s", name)
	}
	at := d.addRow(lane.Row{})
	d.names[name] = at
	d.prog.specials = append(d.prog.specials, special{row: at, name: name})
	return at, nil
}

// predicate is the mask of an operand that must be a predicate.
func (d *decoder) predicate(o *parse.Operand) (int32, error) {
	if o.Kind != parse.KindReg || o.Reg < 0 || d.typeOf(o.Reg).Kind != 'p' {
		return 0, d.unknown("an operand of %s is not a predicate", d.text())
	}
	return d.pred(o.Reg), nil
}

// count checks the number of operands.
func (d *decoder) count(n int) error {
	if len(d.in.Args) != n {
		return d.unknown("%s has %d operands, not %d", d.text(), len(d.in.Args), n)
	}
	return nil
}

// sink is the row that nobody reads.
func (d *decoder) sink() int32 {
	at, ok := d.names["_"]
	if !ok {
		at = d.addRow(lane.Row{})
		d.names["_"] = at
	}
	return at
}

// opcode is one way to write an instruction that needs more than the rows of one lane. build returns false where the
// modifiers are those of another way.
type opcode struct {
	name, forms string
	build       func(d *decoder, mods []string) (bool, error)
}

// opcodes are those that this package executes itself; package lane has the others.
func opcodes() []opcode { return append(plainOpcodes(), proxyOpcodes()...) }

// proxyOpcodes are those of sm_90 whose work the asynchronous proxy does.
func proxyOpcodes() []opcode {
	return []opcode{
		{"cp", ".async.bulk{.tensor.{1,2,3,4,5}d} between global and shared memory, .commit_group .wait_group{.read}, " +
			".prefetch; boxes of tensor maps, by mbarrier or in groups, one block", buildBulk},
		{"mbarrier", ".init .inval .expect_tx .complete_tx .arrive{.expect_tx} .arrive_drop .test_wait .try_wait {.parity} " +
			".pending_count", buildObject},
		{"wgmma", ".mma_async m64n{8 ... 256}k16 f32.{bf16,f16}, k32 s32.{u,s}8, A in registers or shared memory; " +
			".fence .commit_group .wait_group", buildGroup},
		{"setmaxnreg", "no effect", buildNothing},
		{"mapa", "no effect: a cluster is one block", buildMapa},
	}
}

func plainOpcodes() []opcode {
	return []opcode{
		{"mov", "pred {b,u,s}{16,32,64} f32 f64; packing and unpacking b32 b64", buildMov},
		{"setp", "", buildSetp}, // package lane has its forms
		{"testp", "", buildTestp},
		{"selp", "{b,u,s}{16,32,64} f16 bf16 f32 f64", buildSelp},
		{"set", ".eq ... .nan {.and .or .xor} {.ftz} {u,s,f}32 of what setp compares", buildSet},
		{"and", "pred", buildLogic},
		{"or", "pred", buildLogic},
		{"xor", "pred", buildLogic},
		{"not", "pred", buildLogic},
		{"add", ".cc {u,s}{32,64}", buildCarry},
		{"addc", "{.cc} {u,s}{32,64}", buildCarry},
		{"sub", ".cc {u,s}{32,64}", buildCarry},
		{"subc", "{.cc} {u,s}{32,64}", buildCarry},
		{"mad", ".lo.cc .hi.cc {u,s}{32,64}", buildCarry},
		{"madc", ".lo .hi {.cc} {u,s}{32,64}", buildCarry},
		{"bra", "{.uni}", buildBranch},
		{"brx", ".idx {.uni}", buildIndexed},
		{"ret", "{.uni}", buildExit},
		{"exit", "ends the thread", buildExit},
		{"trap", "an error", buildTrap},
		{"ld", "{.global .shared .local .param .const} {.v2 .v4 .v8}, memory order, caches", buildLoad},
		{"ldu", "as ld", buildLoad},
		{"st", "{.global .shared .local .param} {.v2 .v4 .v8}, memory order, caches", buildStore},
		{"cvta", "{.to} .global .shared .local .const .param {u32,u64}", buildCvta},
		{"isspacep", ".global .shared .local .const .param", buildIsSpace},
		{"bar", ".sync .arrive .red{.popc,.and,.or} .warp.sync", buildBar},
		{"barrier", "{.cta} .sync .arrive .red {.aligned}", buildBar},
		{"shfl", ".sync .up .down .bfly .idx b32", buildShuffle},
		{"atom", "{.global .shared} .add .min .max .and .or .xor .inc .dec .exch .cas {b,u,s,f}{16,32,64}, pairs", buildAtom},
		{"red", "as atom", buildAtom},
		{"vote", ".sync .all .any .uni pred, .ballot b32", buildVote},
		{"activemask", "b32", buildActive},
		{"elect", ".sync", buildElect},
		{"match", ".sync .any .all {b32,b64}", buildMatch},
		{"redux", ".sync .add .min .max {u,s}32, .and .or .xor b32", buildRedux},
		{"mma", ".sync.aligned m16n8k{8,16}.row.col {f32.bf16.bf16.f32, f32.f16.f16.f32, f16.f16.f16.f16}, " +
			"m16n8k{4,8} f32.tf32.tf32.f32, m16n8k{16,32} s32.{u,s}8.{u,s}8.s32, m16n8k{32,64} s32.{u,s}4.{u,s}4.s32", buildMMA},
		{"ldmatrix", ".sync.aligned.m8n8 .x1 .x2 .x4 {.trans} .shared.b16", buildMatrix},
		{"stmatrix", ".sync.aligned.m8n8 .x1 .x2 .x4 {.trans} .shared.b16", buildMatrix},
		{"cp", ".async .ca .cg .shared.global of 4, 8, 16 bytes, zeros after a source length", buildCopy},
		{"cp", ".async.commit_group .wait_group .wait_all", buildGroups},
		{"membar", ".cta .gl .sys", buildFence},
		{"fence", ".sc .acq_rel .proxy .mbarrier_init, any scope", buildFence},
		{"prefetch", ".global .local .L1 .L2", buildNothing},
		{"prefetchu", ".L1", buildNothing},
		{"discard", ".global.L2", buildNothing},
		{"applypriority", ".global.L2::evict_normal", buildNothing},
		{"nanosleep", "u32", buildNothing},
		{"griddepcontrol", ".launch_dependents .wait", buildNothing},
		{"pmevent", "no effect", buildNothing},
	}
}

// Form is an opcode and what may follow it, for the documentation.
type Form = lane.Form

// Forms lists every opcode that is executed, by name.
func Forms() []Form {
	var out []Form
	for _, o := range opcodes() {
		if o.forms != "" {
			out = append(out, Form{Name: o.name, Forms: o.forms})
		}
	}
	out = append(out, Form{Name: "call", Forms: "{.uni} of functions that stand in the module"})
	return append(out, lane.Forms()...)
}
