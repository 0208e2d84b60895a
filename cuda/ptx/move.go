// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math/bits"
	"slices"

	"lathe/cuda/ptx/global"
	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/parse"
)

func copyRow(d, a, _, _, _ *lane.Row) { *d = *a }

func buildMov(d *decoder, mods []string) (bool, error) {
	if len(mods) != 1 || d.count(2) != nil {
		return false, nil
	}
	t, ok := lane.ParseType(mods[0])
	if !ok || t.Kind != 'p' && (t.Bits < 16 || t.Pair) {
		return false, nil
	}
	to, from := &d.in.Args[0], &d.in.Args[1]
	switch {
	case t.Kind == 'p':
		return d.movePred(to, from)
	case to.Kind == parse.KindVector:
		return true, d.unpack(to, from, t)
	case from.Kind == parse.KindVector:
		return true, d.pack(to, from, t)
	}
	in := inst{kind: kindLane, fn: copyRow}
	var err error
	if in.d, err = d.dest(to, t.Bits, false); err != nil {
		return true, err
	}
	if in.a, err = d.source(from, t, false); err != nil {
		return true, err
	}
	d.emit(in)
	return true, nil
}

// movePred moves a predicate, or sets one to a constant.
func (d *decoder) movePred(to, from *parse.Operand) (bool, error) {
	p, err := d.predicate(to)
	if err != nil {
		return true, err
	}
	if from.Kind == parse.KindInt {
		all := uint32(0)
		if from.Val != 0 {
			all = ^all
		}
		d.emit(inst{kind: kindRun, d: p, run: func(w *warp, in *inst, mask uint32) *fault {
			w.preds[in.d] = w.preds[in.d]&^mask | all&mask
			return nil
		}})
		return true, nil
	}
	q, err := d.predicate(from)
	if err != nil {
		return true, err
	}
	d.emit(inst{kind: kindRun, d: p, a: q, run: func(w *warp, in *inst, mask uint32) *fault {
		w.preds[in.d] = w.preds[in.d]&^mask | w.preds[in.a]&mask
		return nil
	}})
	return true, nil
}

// parts are the rows of a vector operand whose elements have bits each.
func (d *decoder) parts(o *parse.Operand, bits int, write bool) ([]int32, error) {
	rows := make([]int32, len(o.Elems))
	for i := range o.Elems {
		var err error
		if write {
			rows[i], err = d.dest(&o.Elems[i], bits, false)
		} else {
			rows[i], err = d.source(&o.Elems[i], lane.Type{Kind: 'b', Bits: bits}, false)
		}
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (d *decoder) unpack(to, from *parse.Operand, t lane.Type) error {
	n := len(to.Elems)
	if n != 2 && n != 4 || t.Bits > 64 {
		return d.unknown("%s with %d parts", d.text(), n)
	}
	bits := t.Bits / n
	rows, err := d.parts(to, bits, true)
	if err != nil {
		return err
	}
	src, err := d.source(from, t, false)
	if err != nil {
		return err
	}
	if slices.Contains(rows, src) {
		return d.unknown("%s writes the register that it reads", d.text())
	}
	mask := lane.Type{Bits: bits}.Mask()
	for i, r := range rows {
		shift := i * bits
		d.emit(inst{kind: kindLane, d: r, a: src, fn: func(d, a, _, _, _ *lane.Row) {
			for i := range d {
				d[i] = a[i] >> shift & mask
			}
		}})
	}
	return nil
}

func (d *decoder) pack(to, from *parse.Operand, t lane.Type) error {
	n := len(from.Elems)
	if n != 2 && n != 4 || t.Bits > 64 {
		return d.unknown("%s with %d parts", d.text(), n)
	}
	bits := t.Bits / n
	rows, err := d.parts(from, bits, false)
	if err != nil {
		return err
	}
	in := inst{kind: kindLane, a: rows[0], b: rows[1]}
	in.fn = func(d, a, b, _, _ *lane.Row) {
		for i := range d {
			d[i] = a[i] | b[i]<<bits
		}
	}
	if n == 4 {
		in.c, in.e = rows[2], rows[3]
		in.fn = func(d, a, b, c, e *lane.Row) {
			for i := range d {
				d[i] = a[i] | b[i]<<bits | c[i]<<(2*bits) | e[i]<<(3*bits)
			}
		}
	}
	if in.d, err = d.dest(to, t.Bits, false); err != nil {
		return err
	}
	d.emit(in)
	return nil
}

func buildSelp(d *decoder, mods []string) (bool, error) {
	if len(mods) != 1 || d.count(4) != nil {
		return false, nil
	}
	t, ok := lane.ParseType(mods[0])
	if !ok || t.Kind == 'p' || t.Bits < 16 || t.Bits > 64 {
		return false, nil
	}
	in := inst{kind: kindSelect}
	var err error
	if in.d, err = d.dest(&d.in.Args[0], t.Bits, false); err != nil {
		return true, err
	}
	if in.a, err = d.source(&d.in.Args[1], t, false); err != nil {
		return true, err
	}
	if in.b, err = d.source(&d.in.Args[2], t, false); err != nil {
		return true, err
	}
	if in.c, err = d.predicate(&d.in.Args[3]); err != nil {
		return true, err
	}
	if d.in.Args[3].Not {
		in.a, in.b = in.b, in.a
	}
	d.emit(in)
	return true, nil
}

// window is the first generic address of a space.
func window(name string) (space, uint64, bool) {
	switch name {
	case "global", "const":
		return spaceGlobal, 0, true
	case "shared", "shared::cta", "shared::cluster":
		return spaceShared, global.SharedBase, true
	case "local":
		return spaceLocal, global.LocalBase, true
	case "param", "param::entry":
		return spaceParam, global.ParamBase, true
	}
	return 0, 0, false
}

// buildCvta decodes the conversion between generic addresses and those of a space.
func buildCvta(d *decoder, mods []string) (bool, error) {
	to := len(mods) > 0 && mods[0] == "to"
	if to {
		mods = mods[1:]
	}
	if len(mods) != 2 || mods[1] != "u64" || d.count(2) != nil {
		return false, nil
	}
	_, base, ok := window(mods[0])
	if !ok {
		return false, nil
	}
	if to {
		base = -base
	}
	in := inst{kind: kindLane, fn: func(d, a, _, _, _ *lane.Row) {
		for i := range d {
			d[i] = a[i] + base
		}
	}}
	var err error
	if in.d, err = d.dest(&d.in.Args[0], 64, false); err != nil {
		return true, err
	}
	if in.a, err = d.source(&d.in.Args[1], typeB64, false); err != nil {
		return true, err
	}
	d.emit(in)
	return true, nil
}

func buildIsSpace(d *decoder, mods []string) (bool, error) {
	if len(mods) != 1 || d.count(2) != nil {
		return false, nil
	}
	want, _, ok := window(mods[0])
	if !ok {
		return false, nil
	}
	in := inst{kind: kindCompare, cmp: func(a, _ *lane.Row) (mask uint32) {
		for i, v := range a {
			if sp, _ := windowOf(v); sp == want {
				mask |= 1 << i
			}
		}
		return mask
	}}
	var err error
	if in.d, err = d.predicate(&d.in.Args[0]); err != nil {
		return true, err
	}
	if in.a, err = d.source(&d.in.Args[1], typeB64, false); err != nil {
		return true, err
	}
	d.emit(in)
	return true, nil
}

// carry computes a result and the carry (or borrow) out of it, in bits of the type.
type carry func(a, b, c, in uint64, t lane.Type) (sum, out uint64)

// addCarry is a + b + in.
func addCarry(a, b, in uint64, t lane.Type) (sum, out uint64) {
	lo, c1 := bits.Add64(a, b, in)
	if t.Bits == 32 {
		return lo & t.Mask(), lo >> 32
	}
	return lo, c1
}

// carries is the function of an instruction on the carry flag.
func carries(op string, hi bool) carry {
	switch op {
	case "add", "addc":
		return func(a, b, _, in uint64, t lane.Type) (uint64, uint64) { return addCarry(a, b, in, t) }
	case "sub", "subc":
		return func(a, b, _, in uint64, t lane.Type) (uint64, uint64) {
			d, out := bits.Sub64(a, b, in)
			return d & t.Mask(), out
		}
	}
	return func(a, b, c, in uint64, t lane.Type) (uint64, uint64) {
		up, lo := bits.Mul64(a, b)
		if t.Kind == 's' && hi {
			up -= uint64(int64(a<<(64-t.Bits))>>63)&b + uint64(int64(b<<(64-t.Bits))>>63)&a
		}
		switch {
		case t.Bits == 32 && t.Kind == 's' && hi:
			x := int64(int32(a)) * int64(int32(b))
			lo = uint64(x) >> 32
		case t.Bits == 32 && hi:
			lo >>= 32
		case hi:
			lo = up
		}
		return addCarry(lo&t.Mask(), c, in, t)
	}
}

// buildCarry decodes add.cc, addc, sub.cc, subc, mad.cc and madc, which share one flag a lane.
func buildCarry(d *decoder, mods []string) (bool, error) {
	op := d.in.Op
	reads := op == "addc" || op == "subc" || op == "madc"
	hi := len(mods) > 0 && mods[0] == "hi"
	n := 3
	if op == "mad" || op == "madc" {
		if n = 4; len(mods) == 0 || !hi && mods[0] != "lo" {
			return false, nil
		}
		mods = mods[1:]
	}
	writes := len(mods) > 0 && mods[0] == "cc"
	if writes {
		mods = mods[1:]
	}
	if !reads && !writes || len(mods) != 1 {
		return false, nil
	}
	t, ok := lane.ParseType(mods[0])
	if !ok || t.Kind != 'u' && t.Kind != 's' || t.Pair || t.Bits < 32 || t.Bits > 64 {
		return false, nil
	}
	if err := d.count(n); err != nil {
		return true, err
	}
	in := inst{kind: kindRun}
	var err error
	if in.d, err = d.dest(&d.in.Args[0], t.Bits, false); err != nil {
		return true, err
	}
	for i, into := range []*int32{&in.a, &in.b, &in.c}[:n-1] {
		if *into, err = d.source(&d.in.Args[i+1], t, false); err != nil {
			return true, err
		}
	}
	f := carries(op, hi)
	in.run = func(w *warp, in *inst, mask uint32) *fault {
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			flag := uint64(0)
			if reads {
				flag = uint64(w.carry >> i & 1)
			}
			sum, out := f(w.rows[in.a][i], w.rows[in.b][i], w.rows[in.c][i], flag, t)
			w.rows[in.d][i] = sum
			if writes {
				w.carry = w.carry&^(1<<i) | uint32(out&1)<<i
			}
		}
		return nil
	}
	d.emit(in)
	return true, nil
}
