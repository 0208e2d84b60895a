// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/rtl"
)

// twin builds one random net twice: of parts that know their cycles, and of parts that a clock drives.
type twin struct {
	r       *rand.Rand
	net     *net
	wires   []*wire
	lines   []*line
	clocked []clocked
	now     int
	frames  int
	holds   func(cycle int) bool
	open    []flowing // results that nobody reads yet
	sources []*sourceAt
	sinks   []*sinkAt
	forks   [][2]any // *fork, *forkAt
	loads   map[*load]*fifoAt
	text    string
}

// flowing is a wire, by its number, and the beats of a frame on it.
type flowing struct{ wire, beats int }

func (w *twin) wire() int {
	w.wires, w.lines = append(w.wires, w.net.wire()), append(w.lines, &line{})
	return len(w.wires) - 1
}

// add makes a part of both nets.
func (w *twin) add(p part, c clocked, in, out []int, format string, args ...any) {
	var ins, outs []*wire
	for _, i := range in {
		ins = append(ins, w.wires[i])
	}
	for _, i := range out {
		outs = append(outs, w.wires[i])
	}
	w.net.add(p, ins, outs)
	w.clocked = append(w.clocked, c)
	w.text += fmt.Sprintf("%s: %v -> %v\n", fmt.Sprintf(format, args...), in, out)
}

func (w *twin) source(beats int) {
	out := w.wire()
	s := &source{out: w.wires[out], left: beats * w.frames, counts: counter{beats: beats}, holds: w.holds}
	c := &sourceAt{out: w.lines[out], left: beats * w.frames, beats: beats, now: &w.now, holds: w.holds}
	w.add(s, c, nil, []int{out}, "source(%d)", beats)
	w.wires[out].watch = append(w.wires[out].watch, &s.counts)
	w.net.sources, w.sources = append(w.net.sources, s), append(w.sources, c)
	w.open = append(w.open, flowing{out, beats})
}

func (w *twin) sink(from flowing) {
	s := &sink{in: w.wires[from.wire], counts: counter{beats: from.beats}, holds: w.holds}
	c := &sinkAt{in: w.lines[from.wire], beats: from.beats, now: &w.now, holds: w.holds}
	w.add(s, c, []int{from.wire}, nil, "sink(%d)", from.beats)
	w.wires[from.wire].watch = append(w.wires[from.wire].watch, &s.counts)
	w.net.sinks, w.sinks = append(w.net.sinks, s), append(w.sinks, c)
}

func (w *twin) fifo(x flowing, places int, late bool) flowing {
	out := w.wire()
	c := newFifoAt(w.lines[x.wire], w.lines[out], places, late)
	in := []int{x.wire}
	if places == 0 {
		w.add(&link{in: w.wires[x.wire], out: w.wires[out]}, c, in, []int{out}, "link")
		return flowing{out, x.beats}
	}
	f := newFifo(w.wires[x.wire], w.wires[out], places, late)
	f.load = &load{}
	w.loads[f.load] = c
	w.add(f, c, in, []int{out}, "fifo(%d, late %v)", places, late)
	return flowing{out, x.beats}
}

func (w *twin) fork(x flowing, n int) (list []flowing) {
	f := &fork{in: w.wires[x.wire], blocked: make([]int, n)}
	c := &forkAt{in: w.lines[x.wire], taken: make([]bool, n), blocked: make([]int, n)}
	var outs []int
	for range n {
		out := w.wire()
		outs, list = append(outs, out), append(list, flowing{out, x.beats})
		f.out, c.out = append(f.out, w.wires[out]), append(c.out, w.lines[out])
	}
	w.add(f, c, []int{x.wire}, outs, "fork")
	w.forks = append(w.forks, [2]any{f, c})
	return list
}

// steps makes a stage of the given pattern; without registers a skid follows, or sometimes none where no step waits.
func (w *twin) steps(in []flowing, beats int, pattern []rtl.Step, regs int) flowing {
	s := &rtl.Stage{Kind: rtl.StageSteps, Period: len(pattern), Regs: regs, Step: func(i int) rtl.Step { return pattern[i] }}
	var ins []int
	var wires []*wire
	var lines []*line
	for _, x := range in {
		ins, wires, lines = append(ins, x.wire), append(wires, w.wires[x.wire]), append(lines, w.lines[x.wire])
	}
	out := w.wire()
	w.add(newSteps(s, marksOf(s), wires, w.wires[out]), newStepsAt(s, lines, w.lines[out]), ins, []int{out},
		"steps(%v, %d)", pattern, regs)
	x := flowing{out, beats}
	if regs == 0 {
		x = w.fifo(x, 2, false)
	}
	return x
}

// pattern draws steps that take and give so many beats of each flowing, in any order.
func (w *twin) pattern(takes []int, gives, regs int) []rtl.Step {
	r := w.r
	var list []rtl.Step
	for i, n := range takes {
		for range n {
			list = append(list, rtl.Step{Take: 1 << i})
		}
	}
	for range r.IntN(4) * r.IntN(4) {
		list = append(list, rtl.Step{})
	}
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	for range gives {
		if i := r.IntN(len(list)); !list[i].Give {
			list[i].Give = true
			continue
		}
		list = append(list, rtl.Step{Give: true})
	}
	for i := range list {
		list[i].Free = regs == 0 && !list[i].Give && r.IntN(4) == 0
	}
	return list
}

func divisorOf(r *rand.Rand, n int) int {
	for {
		if d := 1 + r.IntN(n); n%d == 0 {
			return d
		}
	}
}

func (w *twin) memory(x flowing) flowing {
	r := w.r
	frame := divisorOf(r, x.beats)
	period := 1 + r.IntN(2*frame)
	need, freed := make([]int, period), make([]int, period)
	for s := range period {
		need[s], freed[s] = 1+r.IntN(frame), r.IntN(frame)
	}
	slices.Sort(need)
	slices.Sort(freed)
	for s := range period {
		freed[s] = min(freed[s], need[s])
	}
	need[period-1], freed[0] = frame, 0
	places := 1
	for s := range period {
		places = max(places, need[s]-freed[s])
	}
	places += r.IntN(frame + 1)
	s := &rtl.Stage{Kind: rtl.StageMemory, N: places, Frame: frame, Period: period, Regs: 1 + r.IntN(3),
		Late: r.IntN(2) == 0, Need: func(s int) int { return need[s] }, Freed: func(s int) int { return freed[s] }}
	out := w.wire()
	w.add(newMemory(s, usesOf(s), w.wires[x.wire], w.wires[out]), newMemoryAt(s, w.lines[x.wire], w.lines[out]), []int{x.wire},
		[]int{out}, "memory(%d, %d, %d, %v, %v, %d, %v)", places, frame, period, need, freed, s.Regs, s.Late)
	return flowing{out, x.beats / frame * period}
}

func (w *twin) columns(x flowing) flowing {
	r := w.r
	width, kernel, step := divisorOf(r, x.beats), 1+r.IntN(3), 1+r.IntN(2)
	span := (kernel-1)*(1+r.IntN(2)) + 1
	left, right := r.IntN(span), r.IntN(span)
	if width+left+right < span {
		right = span - width - left
	}
	count := (width+left+right-span)/step + 1
	first := max(span, left+1) - 1 - left
	c := rtl.Columns{W: width, First: first, Last: first + (count-1)*step, Step: step, Ahead: min(first, width-1)}
	out := w.wire()
	w.add(newColumns(c, w.wires[x.wire], w.wires[out]),
		&columnsAt{in: w.lines[x.wire], out: w.lines[out], c: c, next: c.First}, []int{x.wire}, []int{out}, "columns %+v", c)
	return flowing{out, x.beats / width * count}
}

// grow puts a part behind open streams.
func (w *twin) grow() {
	r := w.r
	at := r.IntN(len(w.open))
	x := w.open[at]
	w.open = slices.Delete(w.open, at, at+1)
	push := func(list ...flowing) { w.open = append(w.open, list...) }
	one := func() flowing { return flowing{w.wire(), 0} }
	switch kind := r.IntN(10); kind {
	case 0:
		push(w.fifo(x, []int{0, 1, 2, 3, 7, unlimited}[r.IntN(6)], false))
	case 1:
		push(w.fifo(x, []int{3, 5, 9, unlimited}[r.IntN(4)], true))
	case 2:
		out, n := one(), divisorOf(r, x.beats)
		w.add(&widen{in: w.wires[x.wire], out: w.wires[out.wire], n: n},
			&widenAt{in: w.lines[x.wire], out: w.lines[out.wire], n: n}, []int{x.wire}, []int{out.wire}, "widen(%d)", n)
		push(flowing{out.wire, x.beats / n})
	case 3:
		out, n := one(), 1+r.IntN(4)
		w.add(&narrow{in: w.wires[x.wire], out: w.wires[out.wire], n: n},
			&narrowAt{in: w.lines[x.wire], out: w.lines[out.wire], n: n}, []int{x.wire}, []int{out.wire}, "narrow(%d)", n)
		push(w.fifo(flowing{out.wire, x.beats * n}, 2, false))
	case 4:
		push(w.memory(x))
	case 5:
		push(w.columns(x))
	case 6:
		push(w.fork(x, 1+r.IntN(3))...)
	case 7: // two streams, by turns or together
		if len(w.open) == 0 {
			push(x)
			return
		}
		y := w.open[0]
		w.open = w.open[1:]
		both := gcd(x.beats, y.beats)
		takes, regs := []int{x.beats / both, y.beats / both}, r.IntN(4)
		if takes[0]+takes[1] > 60 {
			push(x, y)
			return
		}
		pattern := []rtl.Step{{Take: 3, Give: true}}
		gives := 1
		if takes[0] != takes[1] || r.IntN(2) == 0 {
			gives = 1 + r.IntN(3)
			pattern = w.pattern(takes, gives, regs)
		}
		push(w.steps([]flowing{x, y}, both*gives, pattern, regs))
	default:
		takes, gives, regs := divisorOf(r, x.beats), 1+r.IntN(3), []int{0, 0, 1, 2, 5, 30}[r.IntN(6)]
		push(w.steps([]flowing{x}, x.beats/takes*gives, w.pattern([]int{takes}, gives, regs), regs))
	}
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// tick is one cycle of the clock; it says whether anything has moved.
func (w *twin) tick() (moved bool) {
	for _, p := range w.clocked {
		p.offer()
	}
	for _, p := range slices.Backward(w.clocked) {
		p.accept()
	}
	for _, p := range w.clocked {
		moved = p.tick() || moved
	}
	w.now++
	return moved
}

// TestClock compares the cycles of random nets with those that a clock makes, which drives all parts in every cycle.
func TestClock(t *testing.T) {
	stopped := 0
	for seed := range 3000 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		w := &twin{r: r, net: newNet(), frames: 1 + r.IntN(5), loads: map[*load]*fifoAt{}}
		if percent := 20 * r.IntN(5); r.IntN(2) == 0 {
			salt := r.Uint64()
			w.holds = func(cycle int) bool { return rand.New(rand.NewPCG(uint64(cycle), salt)).IntN(100) < percent }
		}
		for range 1 + r.IntN(2) {
			w.source(1 + r.IntN(24))
		}
		for range 1 + r.IntN(10) {
			w.grow()
		}
		for _, x := range w.open {
			w.sink(x)
		}
		still, limit := 0, 300
		for still < limit && w.now < 200_000 {
			if still++; w.tick() {
				still = 0
			}
		}
		if w.now == 200_000 {
			continue
		}
		done := w.net.run()
		if !done {
			stopped++
		}
		if err := w.compare(done); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, w.text)
		}
	}
	if stopped < 100 || stopped > 2900 {
		t.Errorf("%d of 3000 nets stop", stopped)
	}
}

func (w *twin) compare(done bool) error {
	for i, s := range w.net.sources {
		if c := w.sources[i]; s.counts.had != c.had || !slices.Equal(s.counts.first, c.first) {
			return fmt.Errorf("source %d gives %d beats, %v; the clock says %d, %v", i, s.counts.had, s.counts.first, c.had, c.first)
		}
	}
	for i, s := range w.net.sinks {
		if c := w.sinks[i]; s.counts.had != c.had || !slices.Equal(s.counts.first, c.first) ||
			!slices.Equal(s.counts.last, c.last) {
			return fmt.Errorf("sink %d takes %d beats, %v %v; the clock says %d, %v %v", i, s.counts.had, s.counts.first,
				s.counts.last, c.had, c.first, c.last)
		}
	}
	for l, c := range w.loads {
		l.count(true)
		if l.most != c.most {
			return fmt.Errorf("a FIFO holds %d beats, the clock says %d", l.most, c.most)
		}
	}
	for i, f := range w.forks {
		if mine, c := f[0].(*fork), f[1].(*forkAt); done && !slices.Equal(mine.blocked, c.blocked) {
			return fmt.Errorf("fork %d is blocked %v, the clock says %v", i, mine.blocked, c.blocked)
		}
	}
	for i, x := range w.wires {
		if c := w.lines[i]; x.has != c.valid {
			return fmt.Errorf("at the end wire %d has a beat: %v, the clock says %v", i, x.has, c.valid)
		}
	}
	return nil
}
