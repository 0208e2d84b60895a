// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"regexp"

	"lathe/internal/diag"
)

// Loop is a budget of issue slots: the loop of a kernel that has Count instructions of a mnemonic takes Slots at most,
// counting every instruction that is issued between its first and its branch back, and all turns of loops within it.
// What is rare does not count: blocks that a warp enters only where one of its lanes votes for that (intrinsics.cuh,
// rare), and those that the compiler has laid behind the loop.
type Loop struct {
	Slots, Count int
	Mnemonic     string
}

// budget is one item of the header line loop.
type budget struct {
	when         Expr // zero value: always
	slots, count Expr
	mnemonic     string
}

var budgetText = regexp.MustCompile(`^(?:([^?:]*):)?(.+)\bfor\b(.+)\s([A-Z][A-Z0-9_.]*)$`)

// budgets reads the items of the header line loop. Error L0931.
func budgets(items []string) ([]budget, error) {
	var all []budget
	for _, item := range items {
		m := budgetText.FindStringSubmatch(item)
		if m == nil {
			return nil, diag.New(diag.KernelHeader, "", "%q is not a budget: write `380 for 64 HMMA`", item)
		}
		b := budget{mnemonic: m[4]}
		for k, to := range []*Expr{&b.when, &b.slots, &b.count} {
			if m[k+1] == "" {
				continue
			}
			var err error
			if *to, err = ParseExpr(m[k+1]); err != nil {
				return nil, err
			}
		}
		all = append(all, b)
	}
	return all, nil
}

// Loops are the budgets of issue slots on an architecture. Error as Threads.
func (i Instance) Loops(a Arch) ([]Loop, error) {
	var all []Loop
	for _, b := range i.Template.loops {
		bound := i.bound(a.Capability)
		when := 1
		var err error
		if len(b.when.tokens) > 0 {
			when, err = b.when.eval(bound)
		}
		if err != nil {
			return nil, err
		}
		if when == 0 {
			continue
		}
		slots, err := b.slots.eval(bound)
		if err != nil {
			return nil, err
		}
		count, err := b.count.eval(bound)
		if err != nil {
			return nil, err
		}
		all = append(all, Loop{Slots: slots, Count: count, Mnemonic: b.mnemonic})
	}
	return all, nil
}

// Sectors is how many sectors of 32 bytes the kernel may touch where its tensors are whole and aligned, in percent of
// the least that the bytes of each access need; 0 for any number. Error as Threads.
func (i Instance) Sectors() (int, error) { return i.Template.sectors.eval(i.bound(0)) }
