// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"lathe/rtl"
)

// keywords are the reserved words of IEEE 1800-2017, annex B.
var keywords = strings.Fields("" +
	"accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before " +
	"begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class " +
	"clocking cmos config const constraint context continue cover covergroup coverpoint cross deassign " +
	"default defparam design disable dist do edge else end endcase endchecker endclass endclocking endconfig " +
	"endfunction endgenerate endgroup endinterface endmodule endpackage endprimitive endprogram endproperty " +
	"endsequence endspecify endtable endtask enum event eventually expect export extends extern final " +
	"first_match for force foreach forever fork forkjoin function generate genvar global highz0 highz1 if iff " +
	"ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input inside " +
	"instance int integer interconnect interface intersect join join_any join_none large let liblist library " +
	"local localparam logic longint macromodule matches medium modport module nand negedge nettype new " +
	"nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge " +
	"primitive priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect " +
	"pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime ref reg reject_on release " +
	"repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until " +
	"s_until_with scalared sequence shortint shortreal showcancelled signed small soft solve specify " +
	"specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on " +
	"sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri " +
	"tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use " +
	"uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within " +
	"wor xnor xor ")

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

// libraryWords lists the identifiers in the library's code: an instance of that name would be hidden inside a module,
// of which linters complain. They are found when first asked for.
var libraryWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	files, err := rtl.Files(rtl.Modules()...)
	if err != nil {
		return words // instances asks for every module's header and reports what is wrong with it
	}
	for _, f := range files {
		for _, line := range strings.Split(string(f.Data), "\n") {
			code, _, _ := strings.Cut(line, "//")
			for _, w := range strings.FieldsFunc(code, func(r rune) bool { return !isWord(r) }) {
				words[w] = true
			}
		}
	}
	return words
})

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// pick sanitizes name and makes it unique by a number.
func (n *names) pick(name string) string {
	base := sanitize(name)
	if libraryWords()[base] {
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
	if id == "" || id[0] >= '0' && id[0] <= '9' || slices.Contains(keywords, id) {
		id = "n_" + id
	}
	return id
}
