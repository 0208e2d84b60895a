// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"regexp"
	"strings"
	"sync"
)

// tailBytes is how much of the worker's standard error is kept: a message and the dump of all goroutines after it.
const tailBytes = 256 << 10

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-tailBytes):]...)
	if drop := len(t.buf) - tailBytes; drop > 0 {
		t.buf = append(t.buf[:0], t.buf[drop:]...)
	}
	return len(p), nil
}

// dump is the line with which Go begins the dump of goroutines and registers when a signal, such as that of a failed
// CHECK, kills the process; what counts stands before it.
var dump = regexp.MustCompile(`(?m)^(goroutine \d+ .*:|r(ax|0) +0x[0-9a-f]+)$`)

// last returns the last n lines before a dump, blank ones left out, control characters replaced and each cut to 400
// bytes.
func (t *tail) last(n int) []string {
	t.mu.Lock()
	text := string(t.buf)
	t.mu.Unlock()
	if at := dump.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, line))
		if line != "" {
			lines = append(lines, strings.ToValidUTF8(line[:min(len(line), 400)], ""))
		}
	}
	return lines[max(0, len(lines)-n):]
}
