// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// progress shows long work: a line that is redrawn on a terminal, else one line when a step begins and another every
// ten seconds. What is over soon shows nothing.
type progress struct {
	app *App

	mu           sync.Mutex
	step, detail string
	passes       int // begun in this step
	done, total  int
	start        time.Time // of the first step
	began, said  time.Time // of this step; said is zero before its first line
	drawn        int       // characters of the line on the terminal
	stop         chan struct{}
	took         map[string]float64 // seconds of the steps that are over
	due          time.Time          // when this step was last said to end; zero: nobody has said
}

const (
	redraw = 150 * time.Millisecond
	repeat = 10 * time.Second
)

// Report is a driver.Progress: step has done of total units; total 0 is unknown.
func (p *progress) Report(step string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step != p.step {
		p.end()
		p.step, p.passes, p.began, p.said, p.due = step, 0, time.Now(), time.Time{}, time.Time{}
		if p.start.IsZero() {
			p.start = p.began
		}
		p.announce(p.began)
	}
	p.done, p.total = done, total
	if p.stop == nil {
		p.stop = make(chan struct{})
		go p.tick(p.stop)
	}
}

// announce begins a step where nothing is redrawn, unless all might be over soon.
func (p *progress) announce(now time.Time) {
	if !p.app.Env.Terminal && p.said.IsZero() && now.Sub(p.start) >= redraw {
		fmt.Fprintf(p.app.Err, "%s ...\n", p.step)
		p.said = now
	}
}

// Detail names what the step is at.
func (p *progress) Detail(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.detail = text
	p.passes++
}

// yosys begins the step of a count, and returns what hears of it.
func (p *progress) yosys() func(done, total int) {
	p.Report("Yosys", 0, 0)
	return func(done, total int) { p.Report("Yosys", done, total) }
}

func (p *progress) tick(stop chan struct{}) {
	clock := time.NewTicker(redraw)
	defer clock.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-clock.C:
			p.mu.Lock()
			p.show(now)
			p.mu.Unlock()
		}
	}
}

// show draws the line, or prints it where it is time to.
func (p *progress) show(now time.Time) {
	switch {
	case p.step == "":
	case p.app.Env.Terminal:
		text := p.line(now)
		fmt.Fprintf(p.app.Err, "\r%s%s", text, strings.Repeat(" ", max(p.drawn-len(text), 0)))
		p.drawn = len(text)
	case p.said.IsZero():
		p.announce(now)
	case now.Sub(p.said) >= repeat:
		p.said = now
		fmt.Fprintln(p.app.Err, p.line(now))
	}
}

// line is a step with how far it is: the percentage and the time left, or the count and the time so far.
func (p *progress) line(now time.Time) string {
	text, so := p.step, now.Sub(p.began)
	if p.detail != "" {
		return fmt.Sprintf("%s: pass %d, %s, %v", text, p.passes, p.detail, so.Round(time.Second))
	}
	switch {
	case p.total > 0 && p.done > 0:
		done, total := min(p.done, p.total), p.total
		left := p.left(now, so*time.Duration(total-done)/time.Duration(done))
		return fmt.Sprintf("%s: %d %%, %v left", text, 100*done/total, left.Round(time.Second))
	case p.done > 0:
		return fmt.Sprintf("%s: %d in %v", text, p.done, so.Round(time.Second))
	}
	return fmt.Sprintf("%s: %v", text, so.Round(time.Second))
}

// left is the time that an estimate leaves. One that is little later than the one before does not count: a step whose
// parts get slower bit by bit would have its end move away with every line.
func (p *progress) left(now time.Time, estimate time.Duration) time.Duration {
	const little = 1.3
	before := p.due.Sub(now)
	if p.due.IsZero() || estimate < before || float64(estimate) > little*float64(before+time.Second) {
		p.due = now.Add(estimate)
		return estimate
	}
	return before
}

// clear takes the line off the terminal.
func (p *progress) clear() {
	if p.drawn > 0 {
		fmt.Fprintf(p.app.Err, "\r%s\r", strings.Repeat(" ", p.drawn))
		p.drawn = 0
	}
}

// clearLine makes room for a line of another kind.
func (p *progress) clearLine() {
	p.mu.Lock()
	p.clear()
	p.mu.Unlock()
}

// finish ends the last step; another may begin.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		close(p.stop)
		p.stop = nil
	}
	p.end()
}

// end ends a step, if there is one.
func (p *progress) end() {
	p.clear()
	if p.step == "" {
		return
	}
	if p.took == nil {
		p.took = make(map[string]float64)
	}
	p.took[p.step] += time.Since(p.began).Seconds()
	p.step, p.detail = "", ""
}
