// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math"
	"math/bits"
	"slices"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/parse"
	"lathe/cuda/ptx/race"
	"lathe/internal/diag"
)

const full = math.MaxUint32

// warp is the state of 32 threads.
type warp struct {
	cta  *cta
	id   int
	rows []lane.Row
	// preds are the predicates, a bit a lane.
	preds []uint32
	carry uint32 // the flag of add.cc, a bit a lane
	// live are the lanes that have not ended, active those at pc. The others stand at pcs, of which next is the lowest.
	live, active uint32
	pc, next     int32
	pcs          [lane.Width]int32
	tmp          lane.Row
	local        []byte // of all lanes, one after the other
	wait         *barrier
	reduces      *barOp // the instruction by which it waits
	copies       copyQueue
	clock        []uint32 // of each warp, what this one knows to have happened (race detector)
	count        int64
	syncs, all   uint32 // how often lanes have come together, and the last time that all of them did
	met          *race.Met
	story        story
	// polls is the mbarrier whose phase the warp waits for; toldNo says that it must go on without.
	polls  *object
	toldNo bool
	// stores are the bulk copies to global memory that are under way, groups the numbers of groups of each lane.
	stores  []*bulk
	groups  [lane.Width]int
	flights flights
	// unfenced are the lanes that have written shared memory since the last fence for the asynchronous proxy.
	unfenced uint32
}

// turn says what ended a turn.
type turn int

const (
	turnOver turn = iota // something visible was done
	turnWait             // the warp waits
	turnDone             // all lanes have ended
)

const never = math.MaxInt32

// turnLimit is the number of instructions after which a turn is over even if nothing visible was done.
const turnLimit = 1 << 20

// run executes instructions until other warps may notice. A fault ends the launch.
func (w *warp) run() (turn, *fault) {
	insts := w.cta.prog.insts
	for stop := w.count + min(turnLimit, w.cta.m.opt.Limit+1); ; {
		if w.count >= stop {
			return turnOver, nil
		}
		in := &insts[w.pc]
		w.count++
		mask := w.active
		if in.guard >= 0 {
			mask &= w.preds[in.guard] ^ in.unless
		}
		if w.cta.counting {
			w.cta.stats.note(w, in, mask)
		}
		if in.uses != nil && mask != 0 && w.guard(in) {
			return turnOver, w.inFlight(in, mask)
		}
		switch in.kind {
		case kindLane:
			w.laneOp(in, mask)
		case kindCompare:
			w.preds[in.d] = w.preds[in.d]&^mask | in.cmp(&w.rows[in.a], &w.rows[in.b])&mask
		case kindSelect:
			w.selp(in, mask)
		case kindBranch:
			if mask != 0 {
				w.branch(in.target, mask)
				continue
			}
		case kindExit:
			if mask != 0 {
				if w.exit(mask) {
					return turnDone, nil
				}
				continue
			}
		default:
			if mask == 0 {
				break
			}
			if in.together && mask != w.live {
				return turnOver, w.divergent(in, mask)
			}
			if f := in.run(w, in, mask); f != nil {
				return turnOver, f
			}
			if in.visible {
				return w.passes(), nil
			}
		}
		w.pc++
		if w.pc >= w.next {
			w.regroup()
		}
	}
}

// passes ends a turn behind an instruction that others can notice.
func (w *warp) passes() turn {
	if w.polls != nil { // it tries again
		return turnWait
	}
	if w.advance(); w.wait != nil {
		return turnWait
	}
	return turnOver
}

func (w *warp) advance() {
	w.pc++
	if w.pc >= w.next {
		w.regroup()
	}
}

func (w *warp) laneOp(in *inst, mask uint32) {
	r := w.rows
	if mask == full {
		in.fn(&r[in.d], &r[in.a], &r[in.b], &r[in.c], &r[in.e])
		return
	}
	if mask == 0 {
		return
	}
	in.fn(&w.tmp, &r[in.a], &r[in.b], &r[in.c], &r[in.e])
	merge(&r[in.d], &w.tmp, mask)
}

// merge copies the lanes of mask.
func merge(d, s *lane.Row, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		d[i] = s[i]
	}
}

func (w *warp) selp(in *inst, mask uint32) {
	d, a, b, p := &w.rows[in.d], &w.rows[in.a], &w.rows[in.b], w.preds[in.c]
	for i := range d {
		if mask>>i&1 == 0 {
			continue
		}
		if p>>i&1 == 1 {
			d[i] = a[i]
		} else {
			d[i] = b[i]
		}
	}
}

// branch sends the lanes of mask to target, and the other active ones to the next instruction.
func (w *warp) branch(target int32, mask uint32) {
	if mask == w.active {
		w.pc = target
		if w.pc >= w.next {
			w.regroup()
		}
		return
	}
	w.cta.stats.Divergent++
	for m := mask; m != 0; m &= m - 1 {
		w.pcs[bits.TrailingZeros32(m)] = target
	}
	w.active &^= mask
	if target < w.next {
		w.next = target
	}
	w.advance()
}

// regroup picks the lanes with the lowest counter, after the active ones have moved on to pc.
func (w *warp) regroup() {
	for m := w.active; m != 0; m &= m - 1 {
		w.pcs[bits.TrailingZeros32(m)] = w.pc
	}
	low, next := int32(never), int32(never)
	active := uint32(0)
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		switch pc := w.pcs[i]; {
		case pc < low:
			low, next, active = pc, low, 1<<i
		case pc == low:
			active |= 1 << i
		case pc < next:
			next = pc
		}
	}
	w.pc, w.next, w.active = low, next, active
}

// exit ends lanes; it says whether that was the end of the warp.
func (w *warp) exit(mask uint32) bool {
	w.live &^= mask
	w.active &^= mask
	if w.live == 0 {
		return true
	}
	if w.active != 0 {
		w.pc++
		if w.pc < w.next {
			return false
		}
	}
	w.regroup()
	return false
}

// divergent is the fault of a collective that some live lanes do not execute.
func (w *warp) divergent(in *inst, mask uint32) *fault {
	return newFault(diag.Diverged, w, in, mask,
		"%s is executed by the lanes %#x of the live lanes %#x: the warp has diverged",
		in.src.Op, mask, w.live)
}

// only says that all modifiers are among names.
func only(mods []string, names ...string) bool {
	return !slices.ContainsFunc(mods, func(m string) bool { return !slices.Contains(names, m) })
}

func buildBranch(d *decoder, mods []string) (bool, error) {
	if !only(mods, "uni") || d.count(1) != nil || d.in.Args[0].Kind != parse.KindSymbol {
		return false, nil
	}
	d.fixes = append(d.fixes, fix{inst: len(d.prog.insts), label: d.in.Args[0].Name, table: -1, line: d.in.Line})
	d.emit(inst{kind: kindBranch})
	return true, nil
}

// buildIndexed decodes brx.idx: a jump through a table of labels.
func buildIndexed(d *decoder, mods []string) (bool, error) {
	if len(mods) == 0 || mods[0] != "idx" || !only(mods[1:], "uni") || d.count(2) != nil {
		return false, nil
	}
	list, ok := d.fn.Tables[d.in.Args[1].Name]
	if !ok {
		return true, d.unknown("unknown table of labels %s", d.in.Args[1].Name)
	}
	index, err := d.source(&d.in.Args[0], typeU32, false)
	if err != nil {
		return true, err
	}
	targets := make([]int32, len(list))
	for i, label := range list {
		d.fixes = append(d.fixes, fix{inst: len(d.prog.insts), label: label, table: i, line: d.in.Line})
	}
	d.emit(inst{kind: kindRun, a: index, more: targets, run: runIndexed})
	return true, nil
}

func runIndexed(w *warp, in *inst, mask uint32) *fault {
	targets := in.more.([]int32)
	// The lanes that do not jump stay where they are; the loop of the warp moves on by one.
	for m := w.active; m != 0; m &= m - 1 {
		w.pcs[bits.TrailingZeros32(m)] = w.pc + 1
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		v := w.rows[in.a][i]
		if v >= uint64(len(targets)) {
			return newFault(diag.OutOfBounds, w, in, 1<<i, "index %d of %d labels", v, len(targets))
		}
		w.pcs[i] = targets[v]
	}
	w.active = 0
	w.regroup()
	w.pc-- // the loop adds it again
	return nil
}

func buildExit(d *decoder, mods []string) (bool, error) {
	if !only(mods, "uni") || len(d.in.Args) != 0 {
		return false, nil
	}
	if d.depth > 0 && d.in.Op == "ret" {
		d.fixes = append(d.fixes, fix{inst: len(d.prog.insts), table: -1, line: d.in.Line})
		d.emit(inst{kind: kindBranch})
		return true, nil
	}
	d.emit(inst{kind: kindExit})
	return true, nil
}

func buildTrap(d *decoder, mods []string) (bool, error) {
	d.emit(inst{kind: kindRun, run: func(w *warp, in *inst, mask uint32) *fault {
		return newFault(diag.Trap, w, in, mask, "trap")
	}})
	return len(mods) == 0, nil
}

// buildNothing decodes what has no effect that can be seen here: fences (memory is sequentially consistent), hints.
func buildNothing(d *decoder, _ []string) (bool, error) {
	d.emit(inst{kind: kindRun, visible: d.in.Op == "nanosleep", run: func(*warp, *inst, uint32) *fault { return nil }})
	return true, nil
}

// call decodes a call of a function of the module in its place: PTX has no recursion here.
func (d *decoder) call() error {
	in := d.in
	args := in.Args
	var rets, params []parse.Operand
	if len(args) > 0 && args[0].Kind == parse.KindList {
		rets, args = args[0].Elems, args[1:]
	}
	if len(args) == 0 || args[0].Kind != parse.KindSymbol {
		return d.unknown("a call through a register")
	}
	if len(args) > 1 {
		params = args[1].Elems
	}
	at := slices.IndexFunc(d.mod.text.Funcs, func(f *parse.Func) bool { return f.Name == args[0].Name && !f.Entry })
	if at < 0 {
		return d.unknown("the module has no function %s", args[0].Name)
	}
	f := d.mod.text.Funcs[at]
	if len(f.Params) != len(params) || len(f.Returns) != len(rets) || d.depth >= 16 {
		return d.unknown("the call does not fit function %s", f.Name)
	}
	inner := *d
	inner.vars, inner.fixes, inner.depth = map[string]place{}, nil, d.depth+1
	for i, p := range append(slices.Clone(params), rets...) {
		formal := append(slices.Clone(f.Params), f.Returns...)[i]
		v, ok := d.vars[p.Name]
		if !ok || p.Kind != parse.KindSymbol {
			return d.unknown("an argument of %s is not a parameter variable", f.Name)
		}
		inner.vars[formal.Name] = v
	}
	return d.inline(&inner, f)
}

// inline decodes f where d stands; a guard of the call becomes a branch around it.
func (d *decoder) inline(inner *decoder, f *parse.Func) error {
	skip := -1
	if d.in.Guard >= 0 {
		skip = len(d.prog.insts)
		d.emit(inst{kind: kindBranch, guard: d.pred(d.in.Guard), unless: flip(!d.in.Unless)})
	}
	for _, v := range d.mod.globals() {
		if p, ok := d.vars[v.Name]; ok {
			inner.vars[v.Name] = p
		}
	}
	inner.locals(f)
	for _, v := range f.Vars {
		if v.Space == "shared" {
			return d.unknown("function %s declares shared memory", f.Name)
		}
	}
	if err := inner.function(f); err != nil {
		return err
	}
	d.names = inner.names
	if skip >= 0 {
		d.prog.insts[skip].target = int32(len(d.prog.insts))
	}
	return nil
}
