// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"

	"lathe/internal/diag"
)

// Bounds on what errors list: errors and unsupported operations, and the places of one operation.
const (
	MaxErrors = 20
	maxPlaces = 3
)

// Failures is what an importer cannot read of a model, collected so that one run reports all of it.
type Failures struct {
	errs     diag.List
	unknown  map[string]*unknownOp
	unknowns []*unknownOp // in order
}

// unknownOp counts the uses of one unsupported operation.
type unknownOp struct {
	op     string
	count  int
	places []string
}

// Unknown counts an unsupported operation, used at a place of the model.
func (f *Failures) Unknown(op, place string) {
	u := f.unknown[op]
	if u == nil {
		u = &unknownOp{op: op}
		if f.unknown == nil {
			f.unknown = map[string]*unknownOp{}
		}
		f.unknown[op], f.unknowns = u, append(f.unknowns, u)
	}
	if u.count++; len(u.places) < maxPlaces {
		u.places = append(u.places, place)
	}
}

// Unknowns are the names of the unsupported operations, in order.
func (f *Failures) Unknowns() (names []string) {
	for _, u := range f.unknowns {
		names = append(names, u.op)
	}
	return names
}

// Report keeps an error: with its own code and position, or else those given.
func (f *Failures) Report(err error, code diag.Code, pos string) { f.errs = f.errs.Add(err, code, pos) }

// Reported counts the errors kept and the operations that are not supported, each kind once.
func (f *Failures) Reported() int { return len(f.errs) + len(f.unknowns) }

// Err is nil, or all failures at once: first the unsupported operations, in one error at pos with a hint, then what was
// reported. nearest is the supported operation whose name is closest to op, or "".
func (f *Failures) Err(pos string, nearest func(op string) string, hint string) error {
	var all diag.List
	if len(f.unknowns) > 0 {
		all = append(all, f.unsupported(pos, nearest).WithHint("%s", hint))
	}
	all = append(all, f.errs[:min(len(f.errs), MaxErrors)]...)
	if more := len(f.errs) - MaxErrors; more > 0 {
		last := *all[len(all)-1]
		all[len(all)-1] = last.WithNote("and %d more errors", more)
	}
	return all.Err()
}

func (f *Failures) unsupported(pos string, nearest func(op string) string) *diag.Error {
	total := 0
	for _, u := range f.unknowns {
		total += u.count
	}
	e := diag.New(diag.UnsupportedOps, pos, "%d operations in %d places are not supported", len(f.unknowns), total)
	if len(f.unknowns) == 1 {
		e.Msg = fmt.Sprintf("operation %s is not supported", f.unknowns[0].op)
	}
	for _, u := range f.unknowns[:min(len(f.unknowns), MaxErrors)] {
		note := u.op + ": at " + strings.Join(u.places, ", ")
		if u.count > maxPlaces {
			note = fmt.Sprintf("%s: %d times, first at %s", u.op, u.count, strings.Join(u.places, ", "))
		}
		if near := nearest(u.op); near != "" {
			note += "; nearest supported operation: " + near
		}
		e.Notes = append(e.Notes, note)
	}
	if more := len(f.unknowns) - MaxErrors; more > 0 {
		e = e.WithNote("and %d more operations", more)
	}
	return e
}
