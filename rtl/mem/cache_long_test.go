// SPDX-License-Identifier: Apache-2.0

//go:build long

package mem_test

import (
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/rtltest"
)

// TestCacheLong is TestCache of more points, TestCacheBrokenLong plants more faults.
func TestCacheLong(t *testing.T) {
	for _, c := range cacheCases()[4:] {
		rtltest.Run(t, c.bench())
	}
}

func TestCacheBrokenLong(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range cacheFaults[2:] {
		c.found(t)
	}
}
