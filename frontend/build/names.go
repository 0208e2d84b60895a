// SPDX-License-Identifier: Apache-2.0

package build

import "strconv"

// namer hands out names once; it holds the last number that was appended to each.
type namer map[string]int

// take returns the first free one of base, base.alt, base_2, base_3, ...
func (t namer) take(base, alt string) string {
	if base == "" {
		base = alt
	}
	name := base
	if t[name] > 0 && alt != "" {
		name = base + "." + alt
	}
	for t[name] > 0 {
		t[base]++
		name = base + "_" + strconv.Itoa(t[base])
	}
	t[name] = 1
	return name
}
