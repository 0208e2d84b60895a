// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// reader takes the harness's records apart: tag, port, length, payload.
type reader struct {
	in       Input
	kinds    []byte // i, o or t of each port
	index    []int  // its number among those of its kind
	result   *Result
	firstIn  [][]int
	firstOut [][]int
	lastOut  [][]int
	deadlock string
	done     bool
	perKind  map[byte]int
}

func newReader(m *Model, in Input) *reader {
	r := &reader{in: in, result: &Result{}, perKind: map[byte]int{}}
	for _, w := range m.spec.wires() {
		r.kinds = append(r.kinds, w.kind)
		r.index = append(r.index, r.perKind[w.kind])
		r.perKind[w.kind]++
	}
	r.result.Streams = make([][]byte, r.perKind['o'])
	r.result.Taps = make([][]byte, r.perKind['t'])
	r.result.In = make([]PortStats, r.perKind['i'])
	r.result.Out = make([]PortStats, r.perKind['o'])
	r.result.Tap = make([]PortStats, r.perKind['t'])
	return r
}

// read takes the records of one run.
func (r *reader) read(buffered *bufio.Reader) error {
	for !r.done {
		var head [11]byte
		if _, err := io.ReadFull(buffered, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		payload, err := io.ReadAll(io.LimitReader(buffered, int64(binary.LittleEndian.Uint64(head[3:]))))
		if err != nil {
			return err
		}
		if err := r.take(head[0], int(binary.LittleEndian.Uint16(head[1:])), payload); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) take(tag byte, port int, payload []byte) error {
	if port >= len(r.kinds) {
		return fmt.Errorf("record of unknown port %d", port)
	}
	kind, n := r.kinds[port], r.index[port]
	switch tag {
	case 'D':
		if kind == 'o' {
			r.result.Streams[n] = payload
		} else {
			r.result.Taps[n] = payload
		}
	case 'S':
		stats := map[byte][]PortStats{'i': r.result.In, 'o': r.result.Out, 't': r.result.Tap}[kind]
		return stats[n].decode(words(payload))
	case 'F':
		if kind == 'i' {
			r.firstIn = append(r.firstIn, words(payload))
		} else if kind == 'o' {
			r.firstOut = append(r.firstOut, words(payload))
		} else {
			r.result.Tap[n].First = words(payload)
		}
	case 'L':
		if kind == 'o' {
			r.lastOut = append(r.lastOut, words(payload))
		} else if kind == 't' {
			r.result.Tap[n].Last = words(payload)
		}
	case 'C':
		r.result.Cycles = words(payload)[0]
	case 'P':
		if r.in.Progress != nil {
			r.in.Progress(words(payload)[0])
		}
	case 'X':
		r.deadlock = string(payload)
	case 'Z':
		r.done = true
	default:
		return fmt.Errorf("record of unknown tag %q", tag)
	}
	return nil
}

// decode reads the harness's struct Stats; a number that stands for "never" becomes -1.
func (s *PortStats) decode(w []int) error {
	if len(w) != 6 {
		return fmt.Errorf("record of %d statistics", len(w))
	}
	*s = PortStats{Starved: w[0], Blocked: w[1], Unstable: w[2], WrongLast: w[3], Surplus: w[4], ValidByReady: w[5]}
	return nil
}

// words reads little-endian 64-bit numbers; all ones become -1.
func words(payload []byte) []int {
	w := make([]int, len(payload)/8)
	for i := range w {
		w[i] = int(binary.LittleEndian.Uint64(payload[8*i:]))
	}
	return w
}

// finish computes what follows from the recorded cycles.
func (r *reader) finish() {
	res := r.result
	for i := range r.firstIn {
		res.In[i].First = r.firstIn[i]
	}
	for i := range r.firstOut {
		res.Out[i].First, res.Out[i].Last = r.firstOut[i], r.lastOut[i]
	}
	res.FirstIn = merge(r.firstIn, func(a, b int) bool { return a < b })
	res.FirstOut = merge(r.firstOut, func(a, b int) bool { return a < b })
	res.LastOut = merge(r.lastOut, func(a, b int) bool { return a > b })
	if len(res.FirstOut) == 0 {
		return
	}
	if len(res.FirstIn) > 0 {
		res.LatencyCycles = res.FirstOut[0] - res.FirstIn[0]
	}
	res.IICycles = Interval(res.Out)
}

// Interval is the mean distance of frames in the second half of a run, of that port where it is the greatest; 0 for
// fewer than two frames.
func Interval(out []PortStats) (cycles float64) {
	for _, p := range out {
		if end := len(p.First) - 1; end > 0 {
			from := end / 2
			cycles = max(cycles, float64(p.First[end]-p.First[from])/float64(end-from))
		}
	}
	return cycles
}

// merge takes, frame by frame, the best cycle over the ports.
func merge(ports [][]int, better func(a, b int) bool) []int {
	if len(ports) == 0 {
		return nil
	}
	best := append([]int(nil), ports[0]...)
	for _, p := range ports[1:] {
		for f, c := range p {
			if better(c, best[f]) {
				best[f] = c
			}
		}
	}
	return best
}

// Occupancy returns the most beats that each stream_fifo held at once, by its path in the simulation, of a run with
// Input.Occupancy.
func (r *Result) Occupancy() map[string]int {
	seen := map[string]int{}
	for _, line := range strings.Split(r.Log, "\n") {
		var path string
		var most, depth int
		if n, _ := fmt.Sscanf(line, "occupancy %s %d of %d", &path, &most, &depth); n == 3 {
			seen[path] = most
		}
	}
	return seen
}

// InCore says that a path of Occupancy is that of an instance in the core of an emitted design.
func InCore(path, instance string) bool { return strings.HasSuffix(path, ".core."+instance) }
