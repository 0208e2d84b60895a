// SPDX-License-Identifier: Apache-2.0

package tidy

// Checks are all rules that the project holds itself to.
var Checks = []Check{
	{"licence", "source files name the licence in their first lines", licence},
	{"format", "Go files parse and are formatted", format},
	{"length", "files stay short enough to read", length},
	{"columns", "source lines have at most 120 characters", columns},
	{"function", "Go functions have at most 60 lines", functions},
	{"package", "a package has at most 15 files", packages},
	{"size", "no file is larger than 2 MiB", size},
	{"order", "packages import only what stands below them", order},
	{"layers", "docs/architecture.md shows the order of packages that holds", layerTable},
	{"process", "only the named packages start programs or use cgo", processes},
	{"environment", "only the command line reads the environment", environment},
	{"clock", "only the named packages read the clock", clocks},
	{"random", "random numbers come from a seed", random},
	{"init", "no package acts by being imported", inits},
	{"metadata", "the compiler's data are structs, not maps of anything", metadata},
	{"codes", "codes of errors are written by the constants of internal/diag", codes},
	{"name", "packages have a noun for a name", names},
	{"doc", "exported names have doc comments", docs},
	{"skip", "tests are skipped for a missing tool only, by internal/tools", skips},
	{"words", "no machine paths, registry addresses, unfinished marks or dates of generation", words},
	{"links", "pages that are cited exist", links},
	{"anchors", "links to headings find them", anchors},
	{"decisions", "docs/decisions.md lists the questions of its pages", decisions},
	{"folders", "docs/architecture.md lists the folders that there are", folders},
	{"concrete", "only ir/format asks which format there is", concrete},
	{"identity", "only frontends, rooms of operations and rewrites about them ask which operation a node is", identity},
	{"vocabulary", "names use the words of docs/architecture.md in their one sense", vocabulary},
	{"manual", "commands in README.md and docs/ exist, and docs/commands.md shows each command", manual},
}
