// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"regexp"
	"strconv"
)

var (
	declared  = regexp.MustCompile(`\b(input|output) (?:wire|reg) (?:\[(\d+):0\] )?(\w+)`)
	attribute = regexp.MustCompile(`\(\*.*?\*\)`)
)

// PortsOf reads the ports of a module from text that Module.Print made, whose widths are numbers, without attributes;
// nil where the text declares none.
func PortsOf(text []byte, module string) (all []Port) {
	header := regexp.MustCompile(`(?s)\bmodule ` + regexp.QuoteMeta(module) + `\s*\(.*?\);`)
	for _, m := range declared.FindAllSubmatch(header.Find(attribute.ReplaceAll(text, nil)), -1) {
		p := Port{Name: string(m[3]), Output: string(m[1]) == "output"}
		if high, err := strconv.Atoi(string(m[2])); err == nil {
			p.Width = high + 1
		}
		all = append(all, p)
	}
	return all
}
