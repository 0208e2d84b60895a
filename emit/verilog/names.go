// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"lathe/emit/bench"
	"lathe/internal/diag"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// names gives every node an identifier that Verilog takes: letters, digits and underscores, unique in the design.
type names struct {
	used map[string]bool
}

func newNames(reserved ...string) *names {
	n := &names{used: map[string]bool{}}
	for _, r := range reserved {
		n.used[r] = true
	}
	return n
}

// libraryWords lists the families of the identifiers in the library's code: an instance of such a name would be hidden
// inside a module, of which linters complain. They are found when first asked for.
var libraryWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	files, err := rtl.Files(rtl.Modules()...)
	if err != nil {
		return words // instances asks for every module's header and reports what is wrong with it
	}
	for _, f := range files {
		for _, line := range strings.Split(string(f.Data), "\n") {
			code, _, _ := strings.Cut(line, "//")
			for _, w := range strings.FieldsFunc(code, func(r rune) bool { return !isWord(r) && r != '\'' }) {
				if !strings.Contains(w, "'") { // 1'b0 is a number
					words[family(w)] = true
				}
			}
		}
	}
	return words
})

// family stands for the names that differ from one in their last number alone: those of a model get a prefix together,
// so that c2 is not beside n_c1. It is no identifier, but the name itself where that ends in no number.
func family(name string) string {
	stem := strings.TrimRight(name, "0123456789")
	if stem == name {
		return name
	}
	return stem + "#"
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// pick sanitizes name and makes it unique by a number.
func (n *names) pick(name string) string {
	base := sanitize(name)
	if libraryWords()[family(base)] {
		base = "n_" + base
	}
	id := base
	for i := 2; n.used[strings.ToLower(id)]; i++ {
		id = fmt.Sprintf("%s_%d", base, i)
	}
	n.used[strings.ToLower(id)] = true // file systems may fold case, and images are named after instances
	return id
}

func sanitize(name string) string {
	id := strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return '_'
	}, name)
	for strings.Contains(id, "__") {
		id = strings.ReplaceAll(id, "__", "_")
	}
	id = strings.Trim(id, "_")
	if id == "" || id[0] >= '0' && id[0] <= '9' || netlist.Keyword(id) {
		id = "n_" + id
	}
	return id
}

// CheckTop refuses a name that the top module of a design cannot have. Error L0622.
func CheckTop(name string) error {
	top := sanitize(name)
	switch {
	case top != name:
		return diag.New(diag.TopName, "", "--top: %q is not a name for a Verilog module", name).WithHint("use %q", top)
	case taken(top) || taken(top+"_core"):
		return diag.New(diag.TopName, "", "--top: %q is the name of a module that designs contain", top).
			WithHint("use %q", top+"_top")
	}
	return nil
}

// taken says that a module of this name exists already: in the library, or around the design in simulation.
func taken(name string) bool {
	return name == "lathe_top" || slices.Contains(bench.Modules(), name) || slices.Contains(rtl.Modules(), name)
}
