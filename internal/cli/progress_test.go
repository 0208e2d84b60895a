// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// TestAnnounce shows nothing of a command that is over soon, and a step once after that, however short it is.
func TestAnnounce(t *testing.T) {
	var said bytes.Buffer
	p := progress{app: &App{Err: &said}}
	p.start = time.Now()
	for _, c := range []struct {
		step string
		at   time.Duration
		want string
	}{{"import", 0, ""}, {"import", redraw - 1, ""}, {"import", redraw, "import ...\n"},
		{"import", 2 * redraw, "import ...\n"}, {"quantize", 3 * redraw, "import ...\nquantize ...\n"}} {
		if c.step != p.step {
			p.step, p.said = c.step, time.Time{}
		}
		if p.announce(p.start.Add(c.at)); said.String() != c.want {
			t.Errorf("%s after %v: %q, want %q", c.step, c.at, said.String(), c.want)
		}
	}
}

// TestLeft: parts that get slower bit by bit do not move the end away with every line; what is much slower than it was
// said to be does.
func TestLeft(t *testing.T) {
	p := progress{app: &App{Err: io.Discard}, step: "trials", began: time.Unix(0, 0), total: 100}
	for _, c := range []struct {
		done int
		at   time.Duration
		want string
	}{
		{10, 10 * time.Second, "trials: 10 %, 1m30s left"},
		{18, 20 * time.Second, "trials: 18 %, 1m20s left"}, // 91 s at this pace
		{26, 30 * time.Second, "trials: 26 %, 1m10s left"},
		{50, 50 * time.Second, "trials: 50 %, 50s left"},
		{51, 80 * time.Second, "trials: 51 %, 1m17s left"}, // which nobody could foresee
	} {
		p.done = c.done
		if got := p.line(p.began.Add(c.at)); got != c.want {
			t.Errorf("%d after %v: %q, want %q", c.done, c.at, got, c.want)
		}
	}
	p.Report("simulation", 50, 100)
	defer p.finish() // behind the lock
	p.mu.Lock()      // it is shown by the clock
	defer p.mu.Unlock()
	if got := p.line(p.began.Add(time.Minute)); got != "simulation: 50 %, 1m0s left" {
		t.Errorf("the next step: %q", got)
	}
}
