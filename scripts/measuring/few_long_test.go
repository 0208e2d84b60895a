// SPDX-License-Identifier: Apache-2.0

//go:build long

package main

import (
	"testing"

	"lathe/internal/tools"
)

// TestFewBits counts the units of few bits: cells and paths are within the goals.
func TestFewBits(t *testing.T) {
	tools.Need(t, "yosys")
	for _, u := range fewBits() {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			got, err := u.count(t.Context())
			if err != nil {
				t.Error(err)
			}
			t.Logf("%+v", got)
		})
	}
}
