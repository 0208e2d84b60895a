// SPDX-License-Identifier: Apache-2.0

package board

import (
	"context"
	"slices"
	"time"

	"lathe/internal/diag"
)

// flight is a sample on its way.
type flight struct {
	sample   int
	number   uint32
	deadline time.Time
}

// run is the state of Run.
type run struct {
	*Link
	frames  [][]byte
	tries   []int
	waiting []int    // samples to be sent, in this order
	flights []flight // in the order in which they were sent
	results [][]byte
	left    int
}

// Run has the board compute samples, each the bytes of its frames, and returns the bytes of their results. Errors:
// L1204 where the port fails, L1207 where a sample stays without an answer, L1206 where the board has become another
// one.
func (l *Link) Run(ctx context.Context, frames [][]byte, progress func(done int)) ([][]byte, error) {
	r := &run{Link: l, frames: frames, tries: make([]int, len(frames)), results: make([][]byte, len(frames)),
		left: len(frames)}
	for i := range frames {
		r.waiting = append(r.waiting, i)
	}
	before := l.info
	for r.left > 0 {
		if err := r.fill(); err != nil {
			return nil, err
		}
		list, err := l.receive(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if err := r.answer(p); err != nil {
				return nil, err
			}
		}
		if err := r.overdue(); err != nil {
			return nil, err
		}
		if progress != nil && len(list) > 0 {
			progress(len(frames) - r.left)
		}
	}
	if err := l.Ask(ctx); err != nil {
		return nil, err
	}
	if l.info.ID != before.ID {
		return nil, diag.New(diag.BoardDesign, l.Name, "the board was configured with another design while it ran: %016x "+
			"became %016x", before.ID, l.info.ID).WithHint("run again: the results may be of either")
	}
	return r.results, nil
}

// fill sends samples as long as the board has buffers for them.
func (r *run) fill() error {
	for len(r.flights) < r.Window && len(r.waiting) > 0 {
		i := r.waiting[0]
		if r.tries[i] >= r.Tries {
			return diag.New(diag.BoardFailed, r.Name, "sample %d has no answer after it was sent %d times", i, r.Tries).
				WithHint("see the cable and the lights of the board, allow more --timeout, or reset it by its button")
		}
		r.waiting = r.waiting[1:]
		if r.tries[i]++; r.tries[i] > 1 {
			r.Again++
		}
		r.number++
		if err := r.send(packet{askRun, r.number, r.frames[i]}); err != nil {
			return err
		}
		r.flights = append(r.flights, flight{i, r.number, r.Now().Add(r.Timeout)})
	}
	return nil
}

// answer takes in a packet. Samples that were sent before the one that it answers have been lost: answers keep the
// order.
func (r *run) answer(p packet) error {
	at := slices.IndexFunc(r.flights, func(f flight) bool { return f.number == p.number })
	cut := p.kind == tellResult && len(p.payload) != r.info.OutBytes
	if at < 0 || cut || p.kind != tellResult && p.kind != tellFailed {
		return nil
	}
	sample := r.flights[at].sample
	var lost []int
	for _, f := range r.flights[:at] {
		lost = append(lost, f.sample)
	}
	if p.kind == tellFailed {
		lost = append(lost, sample)
		if r.tries[sample] >= r.Tries {
			return diag.New(diag.BoardFailed, r.Name, "the core was reset %d times for sample %d: %s", r.Tries, sample,
				reason(p.payload)).
				WithHint("see board_session in rtl/board; a routed clock without margin, or a bitstream of another version")
		}
	} else {
		r.results[sample] = p.payload
		r.left--
	}
	if r.flights = r.flights[at+1:]; len(r.flights) > 0 { // the board computes one after the other
		r.flights[0].deadline = r.Now().Add(r.Timeout)
	}
	r.waiting = append(lost, r.waiting...)
	return nil
}

// reason says why a core was reset.
func reason(payload []byte) string {
	if len(payload) == 1 && payload[0] == 1 {
		return "no result came in time"
	}
	return "its results did not end where they should"
}

// overdue has samples sent again whose answer is overdue.
func (r *run) overdue() error {
	now := r.Now()
	if len(r.flights) == 0 || now.Before(r.flights[0].deadline) {
		return nil
	}
	var lost []int
	for _, f := range r.flights {
		lost = append(lost, f.sample)
	}
	r.flights, r.waiting = nil, append(lost, r.waiting...)
	return nil
}
