// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"
)

// TestClocks: the pages of clocks are what their rows make of them, each row is that of an example or of a module that
// is measured, and a row that is measured anew takes the place of the old one and of no other.
func TestClocks(t *testing.T) {
	t.Chdir("../..")
	models, err := timedModels()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.SplitSeq(alone, "\n") {
		lines = append(lines, shown(line))
	}
	for _, c := range []struct {
		path  string
		names []string
		rows  func(page string) map[string]string
		text  func(page string, rows map[string]string) string
	}{
		{timingPage, models, timingRows, func(page string, rows map[string]string) string {
			return timingText(page, models, rows)
		}},
		{modulesPage, lines, moduleRows, func(_ string, rows map[string]string) string { return modulesText(rows) }},
	} {
		data, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		page := string(data)
		rows, known := c.rows(page), 0
		for _, n := range c.names {
			if rows[n] != "" {
				known++
			}
		}
		if known == 0 || known != len(rows) {
			t.Errorf("%s: %d of %d rows are those of what is measured", c.path, known, len(rows))
		}
		if got := c.text(page, rows); got != page {
			t.Errorf("%s is not what its rows make of it:\n%s", c.path, got)
		}
		const anew = "| anew |\n"
		last := c.names[len(c.names)-1]
		want := strings.Replace(page, rows[last], anew, 1)
		rows[last] = anew
		if got := c.text(page, rows); got != want {
			t.Errorf("%s with the row of %s anew:\n%s", c.path, last, got)
		}
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
