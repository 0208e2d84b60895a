// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/ir/op/lane"
)

// request is what one rule asks for by one key: the lanes that all its nodes can have, and the errors of those that
// cannot have what it says.
type request struct {
	common  []int
	lanes   int
	refused []*diag.Error
}

// ask notes that a rule asks a node for lanes, of which legal are.
func (l *laner) ask(from, key string, lanes int, legal []int, wrong *diag.Error) {
	if from == "" {
		return
	}
	a := l.asked[from+key]
	if a == nil {
		a = &request{common: slices.Clone(legal), lanes: lanes}
		l.asked[from+key] = a
	}
	a.common = slices.DeleteFunc(a.common, func(n int) bool { return !slices.Contains(legal, n) })
	if wrong != nil {
		a.refused = append(a.refused, wrong)
	}
}

// err are all errors. Where a rule covers several nodes, their hints name lanes that all of them take.
func (l *laner) err() error {
	for _, a := range l.asked {
		if len(a.common) == 0 {
			continue
		}
		best := largest(a.common, a.lanes)
		for _, e := range a.refused {
			if alone := "use " + lane.Nearest(a.common, a.lanes); e.Hint != alone && e.Hint != "" {
				e.Hint = fmt.Sprintf("use %d, which all nodes of this rule take; in a rule for this node alone: %s", best,
					e.Hint)
			}
		}
	}
	return l.Errs.Err()
}
