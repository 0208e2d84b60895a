// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"
	"strings"
)

// keywords are the reserved words of SystemVerilog that a sanitized node name is likely to meet.
const keywords = " " +
	"always and assign begin bit buf byte case cell config cover cross default design disable do else end " +
	"endmodule enum event expect export extends final for force fork forever function generate genvar " +
	"global if import initial inout input inside int integer interface join let library local logic " +
	"longint matches module nand new nor not null or output package packed param parameter posedge " +
	"primitive priority program property pull0 pull1 pure rand real ref reg release repeat return " +
	"sequence shortint signed small specify static string strong struct super supply0 table tagged task " +
	"this time tran tri type typedef union unique unsigned use var vector virtual void wait wand weak " +
	"while wire with within wor xnor xor "

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

// pick sanitizes name and makes it unique by a number.
func (n *names) pick(name string) string {
	base := sanitize(name)
	id := base
	for i := 2; n.used[strings.ToLower(id)]; i++ {
		id = fmt.Sprintf("%s_%d", base, i)
	}
	n.used[strings.ToLower(id)] = true // file systems may fold case, and images are named after instances
	return id
}

func sanitize(name string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, name)
	for strings.Contains(id, "__") {
		id = strings.ReplaceAll(id, "__", "_")
	}
	id = strings.Trim(id, "_")
	if id == "" || id[0] >= '0' && id[0] <= '9' || strings.Contains(keywords, " "+id+" ") {
		id = "n_" + id
	}
	return id
}
