// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
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
