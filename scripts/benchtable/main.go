// SPDX-License-Identifier: Apache-2.0

// Command benchtable reads the output of `go test -bench`, passes it on, and ends with a table of what the project
// promises: goal beside measured value, the best of all repetitions. A promised figure that was not measured is an
// error; a goal that was missed is only shown, since the machine may be busy.
package main

import (
	"fmt"
	"os"
)

func main() {
	best, err := read(os.Stdin, os.Stdout)
	if err == nil {
		err = table(os.Stdout, best)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}
