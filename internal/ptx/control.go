// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math/bits"
	"slices"

	"lathe/internal/ptx/parse"
)

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
		return true, d.unknown("there is no table of labels %s", d.in.Args[1].Name)
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
			return newFault("L0964", w, in, 1<<i, "index %d of %d labels", v, len(targets))
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
		return newFault("L0971", w, in, mask, "trap")
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
			return d.unknown("an argument of %s is no parameter variable", f.Name)
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
