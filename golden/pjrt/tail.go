// SPDX-License-Identifier: Apache-2.0

package pjrt

import (
	"strings"
	"sync"
)

// tailBytes is how much of the worker's standard error is kept.
const tailBytes = 16 << 10

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

// last returns the last n lines that are not blank, control characters replaced and each cut to 400 bytes.
func (t *tail) last(n int) []string {
	t.mu.Lock()
	text := string(t.buf)
	t.mu.Unlock()
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, line))
		if line != "" {
			lines = append(lines, line[:min(len(line), 400)])
		}
	}
	return lines[max(0, len(lines)-n):]
}
