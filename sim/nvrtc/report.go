// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"regexp"
	"strconv"
	"strings"
)

// Usage is what the assembler says of one kernel, in registers a thread and bytes.
type Usage struct {
	Kernel                  string
	Registers               int
	Stack                   int
	SpillStores, SpillLoads int
	Shared                  int // static
}

var (
	entryLine = regexp.MustCompile(`Compiling entry function '(\w+)' for`)
	spillLine = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedLine  = regexp.MustCompile(`Used (\d+) registers`)
	sharedUse = regexp.MustCompile(`(\d+) bytes smem`)
	known     = regexp.MustCompile(
		`^(ptxas info|ptxas \.)\s*:?\s*(\d+ bytes gmem|Compiling entry|Function properties|Compile time|Used \d+)`)
)

// Report parts a log into the usage of each kernel and the rest, which is empty where nothing was complained of.
func Report(log string) (kernels []Usage, rest string) {
	var left []string
	var now *Usage
	for line := range strings.SplitSeq(log, "\n") {
		text := strings.TrimSpace(line)
		if m := entryLine.FindStringSubmatch(text); m != nil {
			kernels = append(kernels, Usage{Kernel: m[1], Registers: -1, Stack: -1})
			now = &kernels[len(kernels)-1]
		}
		m := spillLine.FindStringSubmatch(text)
		if now != nil && m != nil {
			now.Stack, now.SpillStores, now.SpillLoads = number(m[1]), number(m[2]), number(m[3])
			continue
		}
		if u := usedLine.FindStringSubmatch(text); now != nil && u != nil {
			now.Registers = number(u[1])
			if s := sharedUse.FindStringSubmatch(text); s != nil {
				now.Shared = number(s[1])
			}
		}
		if text != "" && !known.MatchString(text) {
			left = append(left, text)
		}
	}
	return kernels, strings.Join(left, "\n")
}

// number reads digits; what is too long for an int is no size of anything.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}
