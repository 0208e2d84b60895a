// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"math/bits"
	"slices"

	"lathe/cuda/ptx/lane"
	"lathe/internal/diag"
)

// buildShuffle decodes shfl.sync: d|p, a, b, c, membermask.
func buildShuffle(d *decoder, mods []string) (bool, error) {
	if len(mods) != 3 || mods[0] != "sync" || mods[2] != "b32" || d.count(5) != nil ||
		!slices.Contains([]string{"up", "down", "bfly", "idx"}, mods[1]) {
		return false, nil
	}
	mode := mods[1]
	in := inst{kind: kindRun}
	var rows [4]int32
	for i := range rows {
		var err error
		if rows[i], err = d.source(&d.in.Args[i+1], typeB32, false); err != nil {
			return true, err
		}
	}
	to := d.in.Args[0]
	pred := int32(0)
	if to.Pair >= 0 {
		pred = d.pred(to.Pair)
		to.Pair = -1
	}
	var err error
	if in.d, err = d.dest(&to, 32, false); err != nil {
		return true, err
	}
	in.a, in.b, in.c, in.e = rows[0], rows[1], rows[2], rows[3]
	in.run = func(w *warp, in *inst, mask uint32) *fault {
		return w.meet(in, mask, in.e, func(w *warp, in *inst, group uint32) *fault {
			return w.shuffle(in, group, mode, pred)
		})
	}
	d.emit(in)
	return true, nil
}

// shuffle is the pseudo-code of the PTX manual. A lane that reads one which does not take part gets an error, as its
// value would be undefined.
func (w *warp) shuffle(in *inst, mask uint32, mode string, pred int32) *fault {
	a, b, c := w.rows[in.a], &w.rows[in.b], &w.rows[in.c]
	got := uint32(0)
	var out lane.Row
	for i := range lane.Width {
		if mask>>i&1 == 0 {
			continue
		}
		by, clamp, seg := int(b[i]&31), int(c[i]&31), int(c[i]>>8&31)
		top := i&seg | clamp&^seg
		low := i & seg
		j, ok := 0, false
		switch mode {
		case "up":
			j = i - by
			ok = j >= top
		case "down":
			j = i + by
			ok = j <= top
		case "bfly":
			j = i ^ by
			ok = j <= top
		default:
			j = low | by&^seg
			ok = j <= top
		}
		if !ok {
			j = i
		} else {
			got |= 1 << i
		}
		if mask>>j&1 == 0 {
			return newFault(diag.Diverged, w, in, 1<<i, "shfl reads lane %d, which does not take part", j)
		}
		out[i] = a[j]
	}
	merge(&w.rows[in.d], &out, mask)
	if pred > 0 {
		w.preds[pred] = w.preds[pred]&^mask | got&mask
	}
	return nil
}

// collective decodes an instruction whose last operand is the mask of the lanes that take part.
func (d *decoder) collective(in inst, typ lane.Type, run func(w *warp, in *inst, mask uint32)) error {
	n := len(d.in.Args)
	var err error
	if in.a == 0 && typ.Kind != 'p' {
		in.a, err = d.source(&d.in.Args[n-2], typ, false)
	}
	if err == nil {
		in.e, err = d.source(&d.in.Args[n-1], typeB32, false)
	}
	in.kind = kindRun
	in.run = func(w *warp, in *inst, mask uint32) *fault {
		return w.meet(in, mask, in.e, func(w *warp, in *inst, group uint32) *fault {
			run(w, in, group)
			return nil
		})
	}
	d.emit(in)
	return err
}

func (w *warp) spread(row int32, mask uint32, v uint64) {
	for m := mask; m != 0; m &= m - 1 {
		w.rows[row][bits.TrailingZeros32(m)] = v
	}
}

func buildVote(d *decoder, mods []string) (bool, error) {
	if len(mods) != 3 || mods[0] != "sync" || d.count(3) != nil {
		return false, nil
	}
	mode := mods[1]
	pred := mods[2] == "pred" && slices.Contains([]string{"all", "any", "uni"}, mode)
	if !pred && (mode != "ballot" || mods[2] != "b32") {
		return false, nil
	}
	var in inst
	var err error
	if pred {
		in.d, err = d.predicate(&d.in.Args[0])
	} else {
		in.d, err = d.dest(&d.in.Args[0], 32, false)
	}
	if err == nil {
		in.b, err = d.predicate(&d.in.Args[1])
	}
	if err != nil {
		return true, err
	}
	not := flip(d.in.Args[1].Not)
	return true, d.collective(in, lane.Type{Kind: 'p'}, func(w *warp, in *inst, mask uint32) {
		v := (w.preds[in.b] ^ not) & mask
		yes := uint32(0)
		switch {
		case mode == "ballot":
			w.spread(in.d, mask, uint64(v))
			return
		case mode == "all" && v == mask, mode == "any" && v != 0, mode == "uni" && (v == 0 || v == mask):
			yes = mask
		}
		w.preds[in.d] = w.preds[in.d]&^mask | yes
	})
}

func buildActive(d *decoder, mods []string) (bool, error) {
	if len(mods) != 1 || mods[0] != "b32" || d.count(1) != nil {
		return false, nil
	}
	to, err := d.dest(&d.in.Args[0], 32, false)
	d.emit(inst{kind: kindRun, d: to, run: func(w *warp, in *inst, mask uint32) *fault {
		w.spread(in.d, mask, uint64(mask))
		return nil
	}})
	return true, err
}

// buildElect decodes elect.sync d|p, mask: the lowest lane is the leader.
func buildElect(d *decoder, mods []string) (bool, error) {
	if len(mods) != 1 || mods[0] != "sync" || d.count(2) != nil || d.in.Args[0].Pair < 0 {
		return false, nil
	}
	pred := d.pred(d.in.Args[0].Pair)
	to := d.in.Args[0]
	to.Pair = -1
	row, err := d.dest(&to, 32, false)
	if err != nil {
		return true, err
	}
	return true, d.collective(inst{d: row, b: pred}, lane.Type{Kind: 'p'}, func(w *warp, in *inst, mask uint32) {
		w.spread(in.d, mask, uint64(bits.TrailingZeros32(mask)))
		w.preds[in.b] = w.preds[in.b]&^mask | mask&-mask
	})
}

func buildMatch(d *decoder, mods []string) (bool, error) {
	if len(mods) != 3 || mods[1] != "sync" && mods[0] != "any" && mods[0] != "all" || d.count(3) != nil {
		return false, nil
	}
	t, ok := lane.ParseType(mods[2])
	if !ok || t.Kind != 'b' || t.Bits < 32 || t.Bits > 64 || mods[0] != "any" && mods[0] != "all" || mods[1] != "sync" {
		return false, nil
	}
	all := mods[0] == "all"
	to, pred := d.in.Args[0], int32(0)
	if to.Pair >= 0 {
		pred, to.Pair = d.pred(to.Pair), -1
	}
	row, err := d.dest(&to, 32, false)
	if err != nil {
		return true, err
	}
	return true, d.collective(inst{d: row}, t, func(w *warp, in *inst, mask uint32) {
		a := w.rows[in.a]
		whole := mask
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			same := uint32(0)
			for k := mask; k != 0; k &= k - 1 {
				if j := bits.TrailingZeros32(k); a[j] == a[i] {
					same |= 1 << j
				}
			}
			if same != mask {
				whole = 0
			}
			w.rows[in.d][i] = uint64(same)
		}
		if all {
			w.spread(in.d, mask, uint64(whole))
		}
		if pred > 0 {
			w.preds[pred] = w.preds[pred]&^mask | whole
		}
	})
}

func buildRedux(d *decoder, mods []string) (bool, error) {
	if len(mods) != 3 || mods[0] != "sync" || d.count(3) != nil {
		return false, nil
	}
	t, ok := lane.ParseType(mods[2])
	logic := slices.Contains([]string{"and", "or", "xor"}, mods[1])
	if !ok || t.Bits != 32 || t.Float() || logic != (t.Kind == 'b') ||
		!logic && !slices.Contains([]string{"add", "min", "max"}, mods[1]) {
		return false, nil
	}
	f := atomicOp(mods[1], t)
	row, err := d.dest(&d.in.Args[0], 32, false)
	if err != nil || f == nil {
		return f != nil, err
	}
	return true, d.collective(inst{d: row}, t, func(w *warp, in *inst, mask uint32) {
		v := w.rows[in.a][bits.TrailingZeros32(mask)]
		for m := mask & (mask - 1); m != 0; m &= m - 1 {
			v = f(v, w.rows[in.a][bits.TrailingZeros32(m)], 0)
		}
		w.spread(in.d, mask, v)
	})
}

// buildMapa decodes mapa: the address of a variable in another block of the cluster, which here is this block.
func buildMapa(d *decoder, mods []string) (bool, error) {
	if len(mods) < 1 || d.count(3) != nil {
		return false, nil
	}
	t, ok := lane.ParseType(mods[len(mods)-1])
	if !ok || !only(mods[:len(mods)-1], "shared::cluster") {
		return false, nil
	}
	in := inst{kind: kindRun}
	var err error
	if in.d, err = d.dest(&d.in.Args[0], t.Bits, false); err != nil {
		return true, err
	}
	if in.a, err = d.source(&d.in.Args[1], t, false); err != nil {
		return true, err
	}
	if in.b, err = d.source(&d.in.Args[2], typeU32, false); err != nil {
		return true, err
	}
	in.run = func(w *warp, in *inst, mask uint32) *fault {
		for m := mask; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m); w.rows[in.b][i] != 0 {
				return newFault(diag.OutOfBounds, w, in, 1<<i, "block %d of a cluster: clusters are of one block here",
					w.rows[in.b][i])
			}
		}
		from := w.rows[in.a]
		merge(&w.rows[in.d], &from, mask)
		return nil
	}
	d.emit(in)
	return true, nil
}
