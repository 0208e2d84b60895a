// SPDX-License-Identifier: Apache-2.0

// Command emit-cuda is the command line of Lathe; see internal/cli.
package main

import (
	"os"

	"lathe/internal/cli"
)

func main() { os.Exit(cli.Main("emit-cuda", os.Args[1:])) }
