// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is one line of `go test -json` (go doc test2json); build events carry ImportPath instead of Package.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64
}

// key names one test of one package; an empty test stands for the package's own output.
type key struct{ pkg, test string }

// skip is one skipped test and why.
type skip struct{ key, reason string }

// timed is one test without its subtests' names, and how long it ran, in seconds.
type timed struct {
	key     string
	seconds float64
}

// The longest tests are named, so that a suite that grows shows where: most of them, none shorter than shown seconds.
const most, shown = 12, 10

// summary keeps the output of tests that have not passed, and the counts.
type summary struct {
	out             io.Writer
	output          map[key][]string
	order           map[string][]string // tests of a package that still have output, in order of appearance
	perPackage      map[string]int
	skips           []skip
	times           []timed
	failedPackages  []string
	passed, skipped int
	failed, ran     int
}

func newSummary(out io.Writer) *summary {
	return &summary{
		out: out, output: map[key][]string{}, order: map[string][]string{}, perPackage: map[string]int{},
	}
}

// read consumes the whole stream. A line that is no event (a message of the go command) is printed as it is.
func (s *summary) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				fmt.Fprint(s.out, string(line))
			} else {
				s.take(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) take(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		if _, seen := s.output[k]; !seen {
			s.order[e.Package] = append(s.order[e.Package], e.Test)
		}
		s.output[k] = append(s.output[k], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.finishPackage(e)
		} else {
			if e.Elapsed >= shown && !strings.Contains(e.Test, "/") {
				s.times = append(s.times, timed{e.Package + " " + e.Test, e.Elapsed})
			}
			s.finishTest(k, e.Action)
		}
	}
}

func (s *summary) finishTest(k key, action string) {
	switch action {
	case "pass":
		s.passed++
		s.perPackage[k.pkg]++
		delete(s.output, k)
	case "skip":
		s.skipped++
		s.skips = append(s.skips, skip{k.pkg + " " + k.test, reason(s.output[k])})
		delete(s.output, k)
	case "fail":
		s.failed++
	}
}

func (s *summary) finishPackage(e event) {
	switch e.Action {
	case "pass":
		s.ran++
		fmt.Fprintf(s.out, "ok    %-32s %7.1f s  %d tests\n", e.Package, e.Elapsed, s.perPackage[e.Package])
	case "fail":
		s.ran++
		s.failedPackages = append(s.failedPackages, e.Package)
		fmt.Fprintf(s.out, "FAIL  %-32s %7.1f s\n", e.Package, e.Elapsed)
		for _, test := range s.order[e.Package] {
			for _, text := range s.output[key{e.Package, test}] {
				fmt.Fprint(s.out, text)
			}
		}
	}
	for _, test := range s.order[e.Package] {
		delete(s.output, key{e.Package, test})
	}
	delete(s.order, e.Package)
}

// close prints the skips, the longest tests and the totals and says whether all is well.
func (s *summary) close() bool {
	slices.SortFunc(s.skips, func(a, b skip) int { return strings.Compare(a.key, b.key) })
	for _, k := range s.skips {
		fmt.Fprintf(s.out, "SKIP  %s: %s\n", k.key, k.reason)
	}
	slices.SortStableFunc(s.times, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, t := range s.times[:min(most, len(s.times))] {
		fmt.Fprintf(s.out, "long  %7.1f s  %s\n", t.seconds, t.key)
	}
	fmt.Fprintf(s.out, "%d tests passed, %d skipped, %d failed, in %d packages\n",
		s.passed, s.skipped, s.failed, s.ran)
	if len(s.failedPackages) > 0 {
		fmt.Fprintf(s.out, "failed: %s\n", strings.Join(s.failedPackages, " "))
	}
	if s.passed == 0 {
		fmt.Fprintln(s.out, "nothing passed: no tests ran")
	}
	return s.passed > 0 && s.failed == 0 && len(s.failedPackages) == 0
}

var logPlace = regexp.MustCompile(`^\S+\.go:\d+: `)

// reason is what the test logged before it stopped, less the place in the source.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		said = append(said, logPlace.ReplaceAllString(line, ""))
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, "; ")
}
