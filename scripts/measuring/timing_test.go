// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"lathe/internal/evidence"
	"lathe/sim/route"
)

// TestClocks: docs/timing.md is what the lines of evidence print, each of which is that of an example, and a clock that
// is measured anew takes the place of the old one and of no other.
func TestClocks(t *testing.T) {
	t.Chdir("../..")
	models, err := timedModels()
	if err != nil {
		t.Fatal(err)
	}
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range e.Clocks {
		if !slices.Contains(models, c.Model) {
			t.Errorf("%s is no example", c.Model)
		}
	}
	data, err := os.ReadFile(timingPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	if got := e.ClocksPage(models, page); len(e.Clocks) == 0 || got != page {
		t.Errorf("%s is not what %d lines of evidence print: run `scripts/measure print`", timingPage, len(e.Clocks))
	}
	last := models[len(models)-1]
	routed := &timed{model: last, plan: "serial", cycles: 1000, Report: &route.Report{MHz: 99.96, Median: 98.04}}
	routed.LUT, routed.Logic, routed.Wire = 7, 3, 2
	e.SetClock(routed.clock())
	i := strings.Index(page, "| "+last+" |")
	end := i + strings.Index(page[i:], "\n") + 1
	want := page[:i] + "| " + last + " | serial | 100.0 | 98.0 | 99960 | 7 | 0 | 0 | 0 | " + routed.Report.Layer() +
		" | 40 % |\n" + page[end:]
	if got := e.ClocksPage(models, page); got != want {
		t.Errorf("%s anew:\n%s", last, got)
	}
	e.SetClock((&timed{model: last, failure: "too large"}).clock())
	if c := e.Clock(last); c.Failure != "too large" || c.Plan != "default" || c.MHz != 0 {
		t.Errorf("an example that does not fit: %+v", c)
	}
}

// TestModules: the page of modules is what its rows make of it, each row is that of a module that is measured, and a
// row that is measured anew takes the place of the old one and of no other.
func TestModules(t *testing.T) {
	data, err := os.ReadFile("../../" + modulesPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	rows, known, last := moduleRows(page), 0, ""
	for line := range strings.SplitSeq(alone, "\n") {
		if last = shown(line); rows[last] != "" {
			known++
		}
	}
	if known == 0 || known != len(rows) {
		t.Errorf("%d of %d rows are those of what is measured", known, len(rows))
	}
	if got := modulesText(rows); got != page {
		t.Errorf("%s is not what its rows make of it:\n%s", modulesPage, got)
	}
	const anew = "| anew |\n"
	want := strings.Replace(page, rows[last], anew, 1)
	rows[last] = anew
	if got := modulesText(rows); got != want {
		t.Errorf("%s with the row of %s anew:\n%s", modulesPage, last, got)
	}
}

// TestAlone: every module of the page of modules is put between registers, with the files that it names.
func TestAlone(t *testing.T) {
	for line := range strings.SplitSeq(alone, "\n") {
		files, err := aloneFiles(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		module, _, _ := strings.Cut(line, " ")
		for _, name := range []string{"alone.v", "design.json", module + ".sv"} {
			if files[name] == "" {
				t.Errorf("%s: no %s", line, name)
			}
		}
		for _, part := range strings.Split(line, `"`) {
			if strings.HasSuffix(part, ".mem") && files[part] == "" {
				t.Errorf("%s: no %s", line, part)
			}
		}
	}
}
