// SPDX-License-Identifier: Apache-2.0

// Command testsum reads the output of `go test -json` and prints a line a package, all output of what failed,
// and at the end every skipped test by name with its reason, and the longest tests. Its exit status is 1 when a test
// failed, when a package did not build, or when nothing passed at all.
package main

import (
	"os"
)

func main() {
	sum := newSummary(os.Stdout)
	if err := sum.read(os.Stdin); err != nil {
		os.Stderr.WriteString("testsum: " + err.Error() + "\n")
		os.Exit(1)
	}
	if !sum.close() {
		os.Exit(1)
	}
}
