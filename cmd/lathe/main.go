// SPDX-License-Identifier: Apache-2.0

// Command lathe is the command line of Lathe; see internal/cli.
package main

import (
	"os"

	"lathe/internal/cli"
)

func main() { os.Exit(cli.Main("lathe", os.Args[1:])) }
