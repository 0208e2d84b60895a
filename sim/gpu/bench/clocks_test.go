// SPDX-License-Identifier: Apache-2.0

package bench

import "testing"

func TestParseClocks(t *testing.T) {
	for line, want := range map[string]Clocks{
		"1980, 3201, 700.00\n":         {1980, 3201, 700},
		"1980, 3201, [N/A]\n":          {1980, 3201, 0},
		"[N/A], [N/A], [N/A]\n":        {},
		"No devices were found\n":      {},
		"1980, [Not Supported], 700\n": {},
	} {
		if got := parseClocks(line); got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}
