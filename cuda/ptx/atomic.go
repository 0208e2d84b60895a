// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math/bits"
	"slices"

	"lathe/cuda/ptx/lane"
)

// atomic is what atom and red do with one value of memory.
type atomic struct {
	f    func(old, b, c uint64) uint64
	srcs []int32
	dest int32
	typ  lane.Type
}

var atomicNames = []string{"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"}

// atomicOp is the function of an operation on a type; nil if there is none.
func atomicOp(name string, t lane.Type) func(old, b, c uint64) uint64 {
	switch name {
	case "exch":
		return func(_, b, _ uint64) uint64 { return b }
	case "cas":
		return func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		}
	case "inc":
		return func(old, b, _ uint64) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		}
	case "and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case "or":
		return func(old, b, _ uint64) uint64 { return old | b }
	case "xor":
		return func(old, b, _ uint64) uint64 { return old ^ b }
	}
	mods := []string{typeName(t)}
	if name == "add" && t.Float() {
		mods = []string{"rn", typeName(t)}
	}
	op, _, ok := lane.Lookup(name, mods)
	if !ok {
		return nil
	}
	return func(old, b, _ uint64) uint64 {
		var d, x, y, none lane.Row
		x[0], y[0] = old, b
		op.Fn(&d, &x, &y, &none, &none)
		return d[0]
	}
}

func typeName(t lane.Type) string {
	for _, n := range []string{"u32", "s32", "u64", "s64", "b32", "b64", "b16", "f16", "bf16", "f32", "f64",
		"f16x2", "bf16x2"} {
		if have, _ := lane.ParseType(n); have == t {
			return n
		}
	}
	return ""
}

func buildAtom(d *decoder, mods []string) (bool, error) {
	a := access{atomic: true, reads: true}
	a.acquire, a.release = orders(mods)
	op := ""
	var t lane.Type
	for i, m := range mods {
		switch {
		case m == "global":
			a.space = spaceGlobal
		case m == "shared" || m == "shared::cta" || m == "shared::cluster":
			a.space = spaceShared
		case slices.Contains(atomicNames, m):
			op = m
		case i == len(mods)-1:
			t, _ = lane.ParseType(m)
		case m != "noftz" && !hint(m):
			return false, nil
		}
	}
	if op == "" || typeName(t) == "" {
		return false, nil
	}
	x := &atomic{f: atomicOp(op, t), typ: t}
	if x.f == nil {
		return false, nil
	}
	at, want := 0, 2
	if d.in.Op == "atom" {
		at, want = 1, 3
	}
	if op == "cas" {
		want++
	}
	if err := d.count(want); err != nil {
		return true, err
	}
	return true, d.atom(x, &a, at)
}

// atom decodes the operands, of which the address is that at index at.
func (d *decoder) atom(x *atomic, a *access, at int) error {
	var err error
	x.dest = d.sink()
	if at == 1 {
		if x.dest, err = d.dest(&d.in.Args[0], x.typ.Bits, false); err != nil {
			return err
		}
	}
	if err := d.point(a, &d.in.Args[at]); err != nil {
		return err
	}
	for i := at + 1; i < len(d.in.Args); i++ {
		row, err := d.source(&d.in.Args[i], x.typ, false)
		if err != nil {
			return err
		}
		x.srcs = append(x.srcs, row)
	}
	if len(x.srcs) == 1 {
		x.srcs = append(x.srcs, 0)
	}
	a.size, a.rows = x.typ.Bits/8, []int32{x.dest}
	d.prog.ordered = d.prog.ordered || a.space != spaceShared
	d.emit(inst{kind: kindRun, visible: true, mem: a, more: x, run: runAtom})
	return nil
}

// runAtom takes the lanes in ascending order.
func runAtom(w *warp, in *inst, mask uint32) *fault {
	a, x := in.mem, in.more.(*atomic)
	base := w.rows[a.base]
	if w.cta.watching(a.space) {
		if f := w.watch(in, mask, &base, a.size, true); f != nil {
			return f
		}
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		v, f := w.locate(in, i, base[i]+a.add, a.space, a.size, true)
		if f != nil {
			return f
		}
		if w.cta.history != nil && a.global(base[i]+a.add) {
			if f := w.touch(in, i, base[i]+a.add, v, v); f != nil {
				return f
			}
		}
		old := getBytes(v)
		putBytes(v, x.f(old, w.rows[x.srcs[0]][i], w.rows[x.srcs[1]][i]))
		w.rows[x.dest][i] = old
	}
	return nil
}
