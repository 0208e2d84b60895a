// SPDX-License-Identifier: Apache-2.0

package cuda

import "slices"

// slotAlign is the alignment of the parts of shared buffers: that of the widest access.
const slotAlign = 16

// stride tells every address how far samples lie apart, which is less than the buffer has where larger values share it.
func (d *Design) stride() {
	for _, u := range d.Units {
		for k, a := range u.Args {
			if a.Buffer > 0 {
				u.Args[k].Each = d.Buffers[a.Buffer].Bytes
			}
		}
	}
}

// share lets values that are never needed at the same time take the same buffer. Tables, inputs, outputs and traced
// values keep their own.
func (d *Design) share() {
	last := make([]int, len(d.Buffers)) // unit that uses a buffer last
	for i, u := range d.Units {
		for _, a := range u.Args {
			if a.Buffer != scalar {
				last[a.Buffer] = i
			}
		}
	}
	fixed := make([]bool, len(d.Buffers))
	fixed[0] = true
	for _, p := range slices.Concat(d.Inputs, d.Outputs, d.Traced) {
		fixed[p.Codes] = true
		if p.Scales >= 0 {
			fixed[p.Scales] = true
		}
	}
	s := slots{to: make([]int, len(d.Buffers))}
	for i, b := range d.Buffers {
		if s.to[i] = -1; fixed[i] {
			s.to[i] = len(s.buffers)
			s.buffers = append(s.buffers, b)
		}
	}
	for i, u := range d.Units {
		for _, a := range u.Args {
			if a.Buffer != scalar && s.to[a.Buffer] < 0 {
				s.take(a.Buffer, d.Buffers[a.Buffer])
			}
		}
		for k, a := range u.Args {
			if a.Buffer == scalar {
				continue
			}
			if last[a.Buffer] == i && !fixed[a.Buffer] {
				s.free = append(s.free, s.to[a.Buffer])
				fixed[a.Buffer] = true // an argument may stand twice
			}
			d.Units[i].Args[k].Buffer = s.to[a.Buffer]
		}
	}
	for _, ports := range [][]Port{d.Inputs, d.Outputs, d.Traced} {
		for i := range ports {
			ports[i].Codes = s.to[ports[i].Codes]
			if ports[i].Scales >= 0 {
				ports[i].Scales = s.to[ports[i].Scales]
			}
		}
	}
	d.Buffers = s.buffers
}

// slots are the buffers that are left: to maps old buffers to them, free are those that hold nothing at the moment.
type slots struct {
	buffers []Buffer
	to      []int
	free    []int
}

// take finds the free slot that fits best, or makes the largest one larger, or makes a new one.
func (s *slots) take(old int, b Buffer) {
	b.Bytes = (b.Bytes + slotAlign - 1) / slotAlign * slotAlign
	best := -1
	for k, at := range s.free {
		have := s.buffers[at].Bytes
		if best < 0 {
			best = k
		} else if top := s.buffers[s.free[best]].Bytes; top < b.Bytes && have > top || have >= b.Bytes && have < top {
			best = k
		}
	}
	if best < 0 {
		s.to[old] = len(s.buffers)
		s.buffers = append(s.buffers, b)
		return
	}
	at := s.free[best]
	s.free = slices.Delete(s.free, best, best+1)
	s.to[old] = at
	s.buffers[at].Bytes = max(s.buffers[at].Bytes, b.Bytes)
	s.buffers[at].Name += ", " + b.Name
}
