// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"fmt"
	"strings"

	"lathe/cuda"
)

// Refusals are what a kernel does that none may, on one architecture: it complains when compiled, takes more registers
// than its header allows, or keeps values in local memory. Empty for a sound kernel.
func (m *Module) Refusals(i cuda.Instance) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s (%s) on %s: ", i.Kernel, i, m.Arch)+fmt.Sprintf(format, args...))
	}
	if m.Log != "" {
		say("the compiler says %q", m.Log)
	}
	u, ok := m.Kernel(i.Kernel)
	if !ok {
		say("the assembler reports nothing of it")
		return out
	}
	a, err := cuda.FindArch(m.Arch)
	if err != nil {
		say("%v", err)
		return out
	}
	budget, err := i.Registers(a)
	if err != nil {
		say("%v", err)
	}
	if u.Registers > budget || u.Registers < 1 {
		say("%d registers, its budget is %d", u.Registers, budget)
	}
	if u.Stack != 0 || u.SpillStores != 0 || u.SpillLoads != 0 {
		say("%d bytes of stack, %d and %d of spills", u.Stack, u.SpillStores, u.SpillLoads)
	}
	shared, err := i.Shared()
	if err != nil {
		say("%v", err)
	}
	if total := u.Shared + shared; total > a.Shared {
		say("%d bytes of shared memory, a block has %d", total, a.Shared)
	}
	return out
}

// absent must not be in any kernel: loads and stores of local memory.
var absent = []string{"LDL", "STL"}

// Refusals compares the machine code with what the header of the kernel demands.
func (c Code) Refusals(i cuda.Instance, arch string) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s (%s) on %s: ", i.Kernel, i, arch)+fmt.Sprintf(format, args...))
	}
	for _, m := range absent {
		if c.Has(m) {
			say("its machine code has %s", m)
		}
	}
	a, err := cuda.FindArch(arch)
	if err != nil {
		say("%v", err)
		return out
	}
	groups, err := i.SASS(a)
	if err != nil {
		say("%v", err)
	}
	for _, any := range groups {
		found := false
		for _, m := range any {
			found = found || c.Has(m)
		}
		if !found {
			say("its machine code lacks %s", strings.Join(any, " or "))
		}
	}
	budgets, err := i.Loops(a)
	if err != nil {
		say("%v", err)
	}
	for _, b := range budgets {
		switch slots, err := c.Slots(b); {
		case err != nil:
			say("%v", err)
		case slots > b.Slots:
			say("%d issue slots for %d %s, its budget is %d", slots, b.Count, b.Mnemonic, b.Slots)
		}
	}
	return out
}
