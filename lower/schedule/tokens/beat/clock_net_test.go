// SPDX-License-Identifier: Apache-2.0

package beat

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
	net     *Net
	wires   []*Wire
	lines   []*line
	clocked []clocked
	now     int
	frames  int
	holds   func(cycle int) bool
	open    []stream // results that nobody reads yet
	inputs  []*sourceAt
	outputs []*sinkAt
	forks   map[*Fork]*forkAt
	loads   map[*Load]*fifoAt
	links   []*Wire      // to FIFOs of no places
	endless map[int]bool // those of them, by number, that have no end instead
	text    string
}

// stream is a wire, by its number, and the beats of a frame on it.
type stream struct{ wire, beats int }

// line makes a wire of the second net for one of the first.
func (w *twin) line(x *Wire) int {
	w.wires, w.lines = append(w.wires, x), append(w.lines, &line{})
	return len(w.wires) - 1
}

func (w *twin) wire() int { return w.line(w.net.Wire()) }

// clock adds the clocked form of a part.
func (w *twin) clock(c clocked, format string, args ...any) {
	w.clocked = append(w.clocked, c)
	w.text += fmt.Sprintf(format+"\n", args...)
}

func (w *twin) source(beats int) {
	x, _ := w.net.Source(beats, w.frames, w.holds)
	out := w.line(x)
	c := &sourceAt{out: w.lines[out], left: beats * w.frames, beats: beats, now: &w.now, holds: w.holds}
	w.clock(c, "source of %d: %d", beats, out)
	w.inputs, w.open = append(w.inputs, c), append(w.open, stream{out, beats})
}

func (w *twin) sink(from stream) {
	w.net.Sink(w.wires[from.wire], from.beats, w.holds)
	c := &sinkAt{in: w.lines[from.wire], beats: from.beats, now: &w.now, holds: w.holds}
	w.clock(c, "sink of %d: %d", from.beats, from.wire)
	w.outputs = append(w.outputs, c)
}

func (w *twin) fifo(x stream, places int, late bool) stream {
	out := w.wire()
	if places == 0 {
		w.links = append(w.links, w.wires[x.wire])
		if w.endless[len(w.links)-1] {
			places = Unlimited
		}
	}
	c := newFifoAt(w.lines[x.wire], w.lines[out], places, late)
	w.loads[w.net.Fifo(w.wires[x.wire], w.wires[out], places, late)] = c
	w.clock(c, "fifo of %d, late %v: %d -> %d", places, late, x.wire, out)
	return stream{out, x.beats}
}

func (w *twin) fork(x stream, n int) (list []stream) {
	f := w.net.Fork(w.wires[x.wire], n)
	c := &forkAt{in: w.lines[x.wire], taken: make([]bool, n), blocked: make([]int, n)}
	for _, o := range f.Out {
		out := w.line(o)
		list, c.out = append(list, stream{out, x.beats}), append(c.out, w.lines[out])
	}
	w.clock(c, "fork: %d -> %v", x.wire, list)
	w.forks[f] = c
	return list
}

// stage makes one whose clocked form is c; without registers at the output a skid follows.
func (w *twin) stage(s rtl.Stage, in []stream, beats int, c func(in []*line, out *line) clocked) stream {
	var wires []*Wire
	var lines []*line
	for _, x := range in {
		wires, lines = append(wires, w.wires[x.wire]), append(lines, w.lines[x.wire])
	}
	x := stream{w.wire(), beats}
	w.net.Stage(&s, false, wires, w.wires[x.wire])
	w.clock(c(lines, w.lines[x.wire]), "%+v: %v -> %d", s, in, x.wire)
	if s.Kind == rtl.StageSteps && s.Regs == 0 || s.Kind == rtl.StageNarrow {
		x = w.fifo(x, 2, false)
	}
	return x
}

// steps makes a stage of the given pattern.
func (w *twin) steps(in []stream, beats int, pattern []rtl.Step, regs int) stream {
	s := rtl.Stage{Kind: rtl.StageSteps, Period: len(pattern), Regs: regs,
		Step: func(i int) rtl.Step { return pattern[i] }}
	w.text += fmt.Sprintf("%+v\n", pattern)
	return w.stage(s, in, beats, func(in []*line, out *line) clocked { return newStepsAt(&s, in, out) })
}

// bursts makes a stage of the given pattern of which each step that gives sends so many beats.
func (w *twin) bursts(x stream, beats int, pattern []rtl.Step, regs, burst int) stream {
	var apart []rtl.Step
	for _, p := range pattern {
		if apart = append(apart, p); p.Give {
			apart = append(apart, make([]rtl.Step, burst-1+w.r.IntN(2))...)
		}
	}
	s := rtl.Stage{Kind: rtl.StageSteps, Period: len(apart), Regs: regs, Burst: burst,
		Step: func(i int) rtl.Step { return apart[i] }}
	w.text += fmt.Sprintf("%+v\n", apart)
	return w.stage(s, []stream{x}, beats*burst,
		func(in []*line, out *line) clocked { return newStepsAt(&s, in, out) })
}

// pattern draws steps that take and give so many beats of each stream, in any order.
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

// memory makes one that holds beats of the given streams, and has each step read some of all of them. It is how
// attention holds keys and queries; with one stream it is how windows hold rows, and every step gives.
func (w *twin) memory(in ...stream) stream {
	r := w.r
	times := in[0].beats
	for _, x := range in {
		times = gcd(times, x.beats)
	}
	times = divisorOf(r, times)
	longest := 0
	for _, x := range in {
		longest = max(longest, x.beats/times)
	}
	s := rtl.Stage{Kind: rtl.StageMemory, Period: 1 + r.IntN(2*longest), Regs: 1 + r.IntN(3), Late: r.IntN(3) * r.IntN(4)}
	for i, x := range in {
		s.Stores = append(s.Stores, w.store(x.beats/times, s.Period, max(0, 1-i)))
	}
	gives := s.Period
	if len(in) > 1 || r.IntN(4) == 0 {
		every := 1 + r.IntN(s.Period)
		gives, s.Gives = s.Period/every, func(s int) bool { return s%every == every-1 }
		w.text += fmt.Sprintf("every %d ", every)
	}
	return w.stage(s, in, times*gives, func(in []*line, out *line) clocked { return newMemoryAt(&s, in, out) })
}

// store draws what steps of a period need of a frame, at the least so many beats.
func (w *twin) store(frame, period, least int) rtl.Store {
	r := w.r
	need, freed := make([]int, period), make([]int, period)
	for s := range period {
		need[s], freed[s] = least+r.IntN(frame+1-least), r.IntN(frame)
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
	w.text += fmt.Sprintf("needs %v, freed %v\n", need, freed)
	return rtl.Store{Places: places, Frame: frame, Need: func(s int) int { return need[s] },
		Freed: func(s int) int { return freed[s] }}
}

func (w *twin) columns(x stream) stream {
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
	return w.stage(rtl.Stage{Kind: rtl.StageColumns, Columns: c}, []stream{x}, x.beats/width*count,
		func(in []*line, out *line) clocked { return &columnsAt{in: in[0], out: out, c: c, next: c.First} })
}

// grow puts a part behind open streams.
func (w *twin) grow() {
	r := w.r
	at := r.IntN(len(w.open))
	x := w.open[at]
	w.open = slices.Delete(w.open, at, at+1)
	push := func(list ...stream) { w.open = append(w.open, list...) }
	switch kind := r.IntN(12); kind {
	case 11:
		push(w.credit(x))
	case 0:
		push(w.fifo(x, []int{0, 1, 2, 3, 7, Unlimited}[r.IntN(6)], false))
	case 1:
		push(w.fifo(x, []int{3, 5, 9, Unlimited}[r.IntN(4)], true))
	case 2:
		n := divisorOf(r, x.beats)
		if n == 1 { // a skid stands there
			push(x)
			return
		}
		push(w.stage(rtl.Stage{Kind: rtl.StageWiden, N: n}, []stream{x}, x.beats/n,
			func(in []*line, out *line) clocked { return &widenAt{in: in[0], out: out, n: n} }))
	case 3:
		n := 1 + r.IntN(4)
		push(w.stage(rtl.Stage{Kind: rtl.StageNarrow, N: n}, []stream{x}, x.beats*n,
			func(in []*line, out *line) clocked { return &narrowAt{in: in[0], out: out, n: n} }))
	case 4:
		push(w.memory(x))
	case 5:
		push(w.columns(x))
	case 6:
		push(w.fork(x, 1+r.IntN(3))...)
	case 7, 8:
		if len(w.open) == 0 {
			push(x)
			return
		}
		y := w.open[0]
		w.open = w.open[1:]
		if kind == 7 {
			push(w.together(x, y)...)
			return
		}
		push(w.memory(x, y))
	default:
		takes, gives, regs := divisorOf(r, x.beats), 1+r.IntN(3), []int{0, 0, 1, 2, 5, 30}[r.IntN(6)]
		pattern, beats := w.pattern([]int{takes}, gives, regs), x.beats/takes*gives
		if regs > 0 && r.IntN(3) == 0 {
			push(w.bursts(x, beats, pattern, regs, 2+r.IntN(3)))
			return
		}
		push(w.steps([]stream{x}, beats, pattern, regs))
	}
}

// together makes steps that take two streams, by turns or together; none if they would be many.
func (w *twin) together(x, y stream) []stream {
	r, both := w.r, gcd(x.beats, y.beats)
	takes, regs := []int{x.beats / both, y.beats / both}, r.IntN(4)
	if takes[0]+takes[1] > 60 {
		return []stream{x, y}
	}
	pattern := []rtl.Step{{Take: 3, Give: true}}
	gives := 1
	if takes[0] != takes[1] || r.IntN(2) == 0 {
		gives = 1 + r.IntN(3)
		pattern = w.pattern(takes, gives, regs)
	}
	return []stream{w.steps([]stream{x, y}, both*gives, pattern, regs)}
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

// draw makes the net of a seed, in which the links with these numbers have no end.
func draw(seed int, endless map[int]bool) *twin {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	w := &twin{r: r, net: New(NewTables()), frames: 1 + r.IntN(5), loads: map[*Load]*fifoAt{},
		forks: map[*Fork]*forkAt{}, endless: endless}
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
	return w
}

// TestClock compares the cycles of random nets with those that a clock makes, which drives all parts in every cycle.
func TestClock(t *testing.T) {
	stopped := 0
	for seed := range 3000 {
		w := draw(seed, nil)
		still, limit := 0, 300
		for still < limit && w.now < 200_000 {
			if still++; w.tick() {
				still = 0
			}
		}
		if w.now == 200_000 {
			continue
		}
		done := run(t, w.net)
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
		if c := w.inputs[i]; s.counts.had != c.had || !slices.Equal(s.counts.First, c.first) {
			return fmt.Errorf("source %d gives %d beats, %v; the clock says %d, %v", i, s.counts.had, s.counts.First, c.had,
				c.first)
		}
	}
	for i, s := range w.net.sinks {
		if c := w.outputs[i]; s.counts.had != c.had || !slices.Equal(s.counts.First, c.first) ||
			!slices.Equal(s.counts.Last, c.last) {
			return fmt.Errorf("sink %d takes %d beats, %v %v; the clock says %d, %v %v", i, s.counts.had, s.counts.First,
				s.counts.Last, c.had, c.first, c.last)
		}
	}
	for l, c := range w.loads {
		if l.Most != c.most {
			return fmt.Errorf("a FIFO holds %d beats, the clock says %d", l.Most, c.most)
		}
	}
	for f, c := range w.forks {
		if done && !f.In.Full() && !slices.Equal(f.Blocked, c.blocked) {
			return fmt.Errorf("a fork is blocked %v, the clock says %v", f.Blocked, c.blocked)
		}
	}
	for i, x := range w.wires {
		if c := w.lines[i]; x.Full() != c.valid {
			return fmt.Errorf("at the end wire %d has a beat: %v, the clock says %v", i, x.Full(), c.valid)
		}
	}
	return nil
}
