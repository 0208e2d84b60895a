// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"slices"

	"lathe/cuda/ptx/lane"
	"lathe/cuda/ptx/parse"
)

// join is the boolean operation between a comparison and a predicate; nil for none, false for an unknown one.
type join func(a, b uint32) uint32

func joined(mods []string) (join, []string) {
	ops := []struct {
		name string
		f    join
	}{
		{"and", func(a, b uint32) uint32 { return a & b }},
		{"or", func(a, b uint32) uint32 { return a | b }},
		{"xor", func(a, b uint32) uint32 { return a ^ b }},
	}
	if len(mods) > 1 {
		for _, o := range ops {
			if mods[1] == o.name {
				return o.f, slices.Concat(mods[:1], mods[2:])
			}
		}
	}
	return nil, mods
}

// comparison is what setp, set and testp have in common.
type comparison struct {
	in   inst // a, b and cmp are set
	join join
	with int32 // the predicate behind the operands
	not  uint32
	typ  lane.Type
}

// value is the result of the comparison, and of its opposite, each joined with the predicate.
func (c *comparison) value(w *warp, in *inst, opposite bool) uint32 {
	v := in.cmp(&w.rows[in.a], &w.rows[in.b])
	if opposite {
		v = ^v
	}
	if c.join != nil {
		v = c.join(v, w.preds[c.with]^c.not)
	}
	return v
}

// compare decodes the operands behind the destination.
func (d *decoder) compare(mods []string) (*comparison, bool, error) {
	c := &comparison{}
	c.join, mods = joined(mods)
	var ok bool
	if c.in.cmp, c.typ, ok = lane.Compare(mods); !ok {
		return nil, false, nil
	}
	want := 3
	if c.join != nil {
		want = 4
	}
	err := d.count(want)
	if err == nil {
		c.in.a, err = d.source(&d.in.Args[1], c.typ, false)
	}
	if err == nil {
		c.in.b, err = d.source(&d.in.Args[2], c.typ, false)
	}
	if err == nil && c.join != nil {
		c.with, err = d.predicate(&d.in.Args[3])
		if d.in.Args[3].Not {
			c.not = ^c.not
		}
	}
	return c, true, err
}

func buildSetp(d *decoder, mods []string) (bool, error) {
	c, ok, err := d.compare(mods)
	if !ok || err != nil {
		return ok, err
	}
	to := &d.in.Args[0]
	if to.Kind == parse.KindReg && to.Pair < 0 && c.join == nil {
		in := c.in
		in.kind = kindCompare
		in.d, err = d.predicate(to)
		if err == nil {
			d.emit(in)
		}
		return true, err
	}
	p, q, err := d.predicates(to)
	if err != nil {
		return true, err
	}
	in := c.in
	in.kind, in.d, in.e = kindRun, p, q
	in.run = func(w *warp, in *inst, mask uint32) *fault {
		yes, no := c.value(w, in, false), uint32(0)
		if in.e > 0 {
			no = c.value(w, in, true)
			w.preds[in.e] = w.preds[in.e]&^mask | no&mask
		}
		if in.d > 0 {
			w.preds[in.d] = w.preds[in.d]&^mask | yes&mask
		}
		return nil
	}
	d.emit(in)
	return true, nil
}

// predicates are the masks of p or p|q, 0 where there is none or a sink.
func (d *decoder) predicates(o *parse.Operand) (p, q int32, err error) {
	switch {
	case o.Kind == parse.KindSink:
	case o.Kind == parse.KindReg && d.typeOf(o.Reg).Kind == 'p':
		p = d.pred(o.Reg)
	default:
		return 0, 0, d.unknown("the destination of %s is not a predicate", d.text())
	}
	if o.Pair >= 0 {
		if d.typeOf(o.Pair).Kind != 'p' {
			return 0, 0, d.unknown("the second destination of %s is not a predicate", d.text())
		}
		q = d.pred(o.Pair)
	}
	return p, q, nil
}

func buildTestp(d *decoder, mods []string) (bool, error) {
	cmp, t, ok := lane.Test(mods)
	if !ok {
		return false, nil
	}
	in := inst{kind: kindCompare, cmp: cmp}
	err := d.count(2)
	if err == nil {
		in.a, err = d.source(&d.in.Args[1], t, false)
	}
	if err == nil {
		in.d, err = d.predicate(&d.in.Args[0])
	}
	if err == nil {
		d.emit(in)
	}
	return true, err
}

func buildSet(d *decoder, mods []string) (bool, error) {
	if len(mods) < 3 {
		return false, nil
	}
	at := len(mods) - 2 // the type of the result stands before that of the operands
	to, ok := lane.ParseType(mods[at])
	if !ok || to.Bits != 32 || to.Pair || to.Kind == 'b' {
		return false, nil
	}
	c, ok, err := d.compare(slices.Concat(mods[:at], mods[at+1:]))
	if !ok || err != nil {
		return ok, err
	}
	yes := uint64(1<<32 - 1)
	if to.Kind == 'f' {
		yes = 0x3F800000
	}
	in := c.in
	in.kind = kindRun
	in.run = func(w *warp, in *inst, mask uint32) *fault {
		v := c.value(w, in, false)
		for i := range lane.Width {
			if mask>>i&1 == 1 {
				w.rows[in.d][i] = yes * uint64(v>>i&1)
			}
		}
		return nil
	}
	if in.d, err = d.dest(&d.in.Args[0], 32, false); err == nil {
		d.emit(in)
	}
	return true, err
}

// buildLogic decodes and, or, xor and not of predicates.
func buildLogic(d *decoder, mods []string) (bool, error) {
	if len(mods) != 1 || mods[0] != "pred" {
		return false, nil
	}
	f, _ := joined([]string{"", d.in.Op})
	want := 3
	if d.in.Op == "not" {
		f, want = func(a, _ uint32) uint32 { return ^a }, 2
	}
	err := d.count(want)
	var p [3]int32
	var not [3]uint32
	for i := range d.in.Args {
		if err == nil {
			p[i], err = d.predicate(&d.in.Args[i])
			if d.in.Args[i].Not {
				not[i] = ^not[i]
			}
		}
	}
	if err != nil {
		return true, err
	}
	d.emit(inst{kind: kindRun, d: p[0], a: p[1], b: p[2], run: func(w *warp, in *inst, mask uint32) *fault {
		v := f(w.preds[in.a]^not[1], w.preds[in.b]^not[2])
		w.preds[in.d] = w.preds[in.d]&^mask | v&mask
		return nil
	}})
	return true, nil
}
