// SPDX-License-Identifier: Apache-2.0

package cmvm

// A bid is what a pattern may save if it still occurs n times. An exact one has counted those that do not overlap.
type bid struct {
	gain  float64
	key   uint64
	n     int32
	exact bool
}

// A queue gives the highest bid first; of equal ones, the one that occurs most, then the earlier pattern in an order
// that tie decides. Bids lie apart by the whole cells that they save, and only those that save most are a heap: most of
// the others are never asked for.
type queue struct {
	lists [][]bid
	top   int // the heap, above which lists are empty
	tie   uint64
}

// settle makes a heap of the highest bids, and says whether there are any.
func (q *queue) settle() bool {
	if q.top < len(q.lists) && len(q.lists[q.top]) > 0 {
		return true
	}
	for q.top--; q.top >= 0; q.top-- {
		if list := q.lists[q.top]; len(list) > 0 {
			for i := len(list)/2 - 1; i >= 0; i-- {
				q.sink(list, i)
			}
			return true
		}
	}
	q.top = 0
	return false
}

// highest is the gain of the next bid, after settle.
func (q *queue) highest() float64 { return q.lists[q.top][0].gain }

func (q *queue) push(b bid) {
	at := int(b.gain)
	if at >= len(q.lists) {
		q.lists = append(q.lists, make([][]bid, at+1-len(q.lists))...)
	}
	q.lists[at] = append(q.lists[at], b)
	if at < q.top {
		return
	}
	list := q.lists[at]
	if at > q.top {
		q.top = at // whose list was empty
		return
	}
	for i := len(list) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.above(&list[i], &list[up]) {
			return
		}
		list[i], list[up] = list[up], list[i]
		i = up
	}
}

// pop takes the highest bid, after settle.
func (q *queue) pop() bid {
	list := q.lists[q.top]
	best, last := list[0], len(list)-1
	list[0] = list[last]
	q.lists[q.top] = list[:last]
	q.sink(list[:last], 0)
	return best
}

// sink moves bid i of a heap down to its place.
func (q *queue) sink(list []bid, i int) {
	for {
		next := 2*i + 1
		if next+1 < len(list) && q.above(&list[next+1], &list[next]) {
			next++
		}
		if next >= len(list) || !q.above(&list[next], &list[i]) {
			return
		}
		list[i], list[next] = list[next], list[i]
		i = next
	}
}

func (q *queue) above(a, b *bid) bool {
	switch {
	case a.gain != b.gain:
		return a.gain > b.gain
	case a.n != b.n:
		return a.n > b.n
	}
	return a.key^q.tie < b.key^q.tie
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
