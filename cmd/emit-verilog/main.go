// SPDX-License-Identifier: Apache-2.0

// Command emit-verilog is the command line of Lathe; see internal/cli.
package main

import (
	"os"

	"lathe/internal/cli"
)

func main() { os.Exit(cli.Main("emit-verilog", os.Args[1:])) }
