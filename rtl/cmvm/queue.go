// SPDX-License-Identifier: Apache-2.0

package cmvm

// A bid is what a pattern may save if it still occurs n times. An exact one has counted those that do not overlap.
type bid struct {
	gain  float64
	key   uint64
	n     int32
	exact bool
}

// A queue has the highest bid first; of equal ones, the one that occurs most, then the earlier pattern.
type queue []bid

func (q *queue) push(b bid) {
	*q = append(*q, b)
	list := *q
	for i := len(list) - 1; i > 0; {
		up := (i - 1) / 2
		if !list[i].above(&list[up]) {
			return
		}
		list[i], list[up] = list[up], list[i]
		i = up
	}
}

func (q *queue) pop() bid {
	list := *q
	best, last := list[0], len(list)-1
	list[0] = list[last]
	list = list[:last]
	*q = list
	for i := 0; ; {
		next := 2*i + 1
		if next+1 < last && list[next+1].above(&list[next]) {
			next++
		}
		if next >= last || !list[next].above(&list[i]) {
			return best
		}
		list[i], list[next] = list[next], list[i]
		i = next
	}
}

func (a *bid) above(b *bid) bool {
	switch {
	case a.gain != b.gain:
		return a.gain > b.gain
	case a.n != b.n:
		return a.n > b.n
	}
	return a.key < b.key
}

// A slot of a tally: how often a pattern occurs, and with which count it stands in the queue.
type slot struct {
	key       uint64 // plus one; 0: empty
	n, queued int32
}

// A tally is a hash table of patterns. The order in which it is asked decides nothing.
type tally struct {
	slots []slot
	used  int
}

// slot finds or makes the slot of a key; it is valid until the next call.
func (t *tally) slot(key uint64) *slot {
	if 2*t.used >= len(t.slots) {
		t.grow()
	}
	s := t.find(key + 1)
	if s.key == 0 {
		s.key = key + 1
		t.used++
	}
	return s
}

func (t *tally) find(key uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 20 & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.key == key || s.key == 0 {
			return s
		}
	}
}

func (t *tally) grow() {
	old := t.slots
	t.slots = make([]slot, max(1024, 2*len(old)))
	for _, s := range old {
		if s.key != 0 {
			*t.find(s.key) = s
		}
	}
}
