// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"slices"

	"lathe/internal/ptx/lane"
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
		if f := w.members(in, mask, in.e); f != nil {
			return f
		}
		return w.shuffle(in, mask, mode, pred)
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
			return newFault("L0966", w, in, 1<<i, "shfl reads lane %d, which does not take part", j)
		}
		out[i] = a[j]
	}
	merge(&w.rows[in.d], &out, mask)
	if pred > 0 {
		w.preds[pred] = w.preds[pred]&^mask | got&mask
	}
	return nil
}
