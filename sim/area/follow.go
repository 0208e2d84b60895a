// SPDX-License-Identifier: Apache-2.0

package area

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"time"
)

// synthesisSteps is into how many numbered steps synth_xilinx of Yosys 0.23 divides itself.
const synthesisSteps = 49

var stepLine = regexp.MustCompile(`(?m)^(\d+)\.(?:(\d+)\.)? (?:Executing|Printing)`)

// follow reads the log of a run as it grows, and reports the numbered step that Yosys is at: files are read, one a
// step, and the step behind them is the synthesis.
func follow(log string, files int, progress func(done, total int), stop <-chan struct{}) {
	if progress == nil {
		return
	}
	clock := time.NewTicker(500 * time.Millisecond)
	defer clock.Stop()
	at, seen := 0, int64(0)
	for {
		select {
		case <-stop:
			return
		case <-clock.C:
		}
		text, next := grown(log, seen)
		seen = next
		for _, m := range stepLine.FindAllSubmatch(text, -1) {
			step, _ := strconv.Atoi(string(m[1]))
			if inner, err := strconv.Atoi(string(m[2])); err == nil && step > files {
				step = files + inner
			}
			at = max(at, min(step, files+synthesisSteps))
		}
		progress(at, files+synthesisSteps)
	}
}

// grown is what a file holds from an offset on, in whole lines, and where the next begin.
func grown(path string, from int64) ([]byte, int64) {
	f, err := os.Open(path)
	if err != nil {
		return nil, from
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	n, _ := f.ReadAt(buf, from)
	n = bytes.LastIndexByte(buf[:n], '\n') + 1
	return buf[:n], from + int64(n)
}
