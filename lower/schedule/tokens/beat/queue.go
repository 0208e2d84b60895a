// SPDX-License-Identifier: Apache-2.0

package beat

// cycles is a queue of cycles, the earliest first.
type cycles struct {
	list []int
	head int
}

func (q *cycles) push(c int) { q.list = append(q.list, c) }
func (q *cycles) len() int   { return len(q.list) - q.head }
func (q *cycles) first() int { return q.list[q.head] }

func (q *cycles) pop() int {
	c := q.list[q.head]
	switch q.head++; {
	case q.head == len(q.list):
		q.list, q.head = q.list[:0], 0
	case q.head > 1<<10 && 2*q.head > len(q.list): // what has left makes room
		q.list, q.head = q.list[:copy(q.list, q.list[q.head:])], 0
	}
	return c
}
