// SPDX-License-Identifier: Apache-2.0

package pruner

import (
	"fmt"
	"hash/crc32"
	"math"

	"lathe/search"
)

// Hyperband (Li et al., 2018) runs several Halvings side by side, each with more patience than the one before, and
// gives every trial to one of them by its number.
type Hyperband struct {
	// Resource is the first step, 1; Most the last one, 0: that of complete trials and one more.
	Resource, Most int
	Factor         int // 3
	Bootstrap      int

	brackets []*Halving
	budgets  []int
}

// NewHyperband has the usual options.
func NewHyperband() *Hyperband { return &Hyperband{Resource: 1, Factor: 3} }

// Name is "hyperband".
func (p *Hyperband) Name() string { return "hyperband" }

// Prune says whether the trial ends.
func (p *Hyperband) Prune(h *search.History, number int) (bool, []search.Attr) {
	if p.brackets == nil && !p.begin(h) {
		return false, nil
	}
	return p.brackets[p.bracket(h.Name, number)].Prune(h, number)
}

// begin makes the brackets, once it is known how far trials go.
func (p *Hyperband) begin(h *search.History) bool {
	most := p.Most
	if most == 0 {
		last, known := lastStep(h, nil)
		if !known {
			return false
		}
		most = last + 1
	}
	count := 1
	for r := float64(p.Resource) * float64(p.Factor); r <= float64(most); r *= float64(p.Factor) {
		count++
	}
	for i := range count {
		s := count - 1 - i
		p.budgets = append(p.budgets, int(math.Ceil(float64(count)*math.Pow(float64(p.Factor), float64(s))/float64(s+1))))
		b := &Halving{Resource: p.Resource, Factor: p.Factor, Rate: i, Bootstrap: p.Bootstrap}
		b.among = func(n int) bool { return p.bracket(h.Name, n) == i }
		p.brackets = append(p.brackets, b)
	}
	return true
}

// bracket is that of a trial.
func (p *Hyperband) bracket(study string, number int) int {
	total := 0
	for _, b := range p.budgets {
		total += b
	}
	n := int(crc32.ChecksumIEEE(fmt.Appendf(nil, "%s_%d", study, number)) % uint32(total))
	for i, b := range p.budgets {
		if n -= b; n < 0 {
			return i
		}
	}
	return len(p.budgets) - 1
}
