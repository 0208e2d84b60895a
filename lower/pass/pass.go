// SPDX-License-Identifier: Apache-2.0

// Package pass runs passes over graphs: each is held to what it promises, timed, dumped, and named where it breaks a
// graph. It knows no stage: what the passes of one share is a type parameter.
package pass

import (
	"fmt"
	"slices"
	"time"

	"lathe/ir"
)

// Effect is what a pass may do to the values of the graph outputs. The manager can hold a pass to it.
type Effect uint8

// The effects.
const (
	Annotate Effect = iota // metadata only: same nodes, same values
	Exact                  // other nodes, the same bits
	Lossy                  // other values; the loss is measured and reported
	Cut                    // other outputs: values, the same bits, that the graph had under the same names
)

// String is the word of `lathe list passes`.
func (e Effect) String() string { return [...]string{"annotate", "exact", "lossy", "cut"}[e] }

// Promise is what a pass says of itself.
type Promise struct {
	Name, Doc string
	Effect    Effect
	// Bound is the greatest error that a lossy pass may cause, relative to the largest magnitude of an output;
	// 0: not bounded, only reported. Rewrites that are equal in real arithmetic have the bound of float32 rounding.
	Bound float64
}

// Pass is one step of lowering, of a stage whose passes share an S.
type Pass[S any] struct {
	Promise
	// Run changes the graph in place. It must not depend on the order of nodes beyond arguments before users.
	Run func(S, *ir.Graph) error
}

// New is the pass of that name, sentence, effect and bound.
func New[S any](name, doc string, effect Effect, bound float64, run func(S, *ir.Graph) error) Pass[S] {
	return Pass[S]{Promise{name, doc, effect, bound}, run}
}

// Only adapts a rewrite that needs nothing but the graph.
func Only[S any](f func(*ir.Graph) error) func(S, *ir.Graph) error {
	return func(_ S, g *ir.Graph) error { return f(g) }
}

// Pipeline is a list of passes, run in order.
type Pipeline[S any] []Pass[S]

// Apply runs the passes in order, unchecked: as one step of another pass.
func (p Pipeline[S]) Apply(s S, g *ir.Graph) error {
	for _, pass := range p {
		if err := pass.Run(s, g); err != nil {
			return err
		}
	}
	return nil
}

// Promises are those of its passes, in order.
func (p Pipeline[S]) Promises() (list []Promise) {
	for _, pass := range p {
		list = append(list, pass.Promise)
	}
	return list
}

// Before is the pipeline up to a pass, without it. It panics without that pass.
func (p Pipeline[S]) Before(name string) Pipeline[S] { return p[:p.at(name)] }

// From is the pipeline from a pass on. It panics without that pass.
func (p Pipeline[S]) From(name string) Pipeline[S] { return p[p.at(name):] }

// Upto is the pipeline up to a pass, with it. It panics without that pass.
func (p Pipeline[S]) Upto(name string) Pipeline[S] { return p[:p.at(name)+1] }

func (p Pipeline[S]) at(name string) int {
	i := slices.IndexFunc(p, func(pass Pass[S]) bool { return pass.Name == name })
	if i < 0 {
		panic("no pass " + name)
	}
	return i
}

// Named are the passes of the leading names, in their order, up to the first name that is no pass.
func (p Pipeline[S]) Named(names []string) (list Pipeline[S]) {
	for _, name := range names {
		i := slices.IndexFunc(p, func(pass Pass[S]) bool { return pass.Name == name })
		if i < 0 {
			break
		}
		list = append(list, p[i])
	}
	return list
}

// Order is a reason why one pass stands before another.
type Order struct{ Before, After, Why string }

// First is the reason why one pass stands before another.
func First(before, after, why string) Order { return Order{before, after, why} }

// Report tells what passes did.
type Report struct {
	// Notes are facts that the user should know, Warnings are likely mistakes. Each is one line.
	Notes, Warnings []string
	Passes          []Ran
}

// Ran is one pass that ran.
type Ran struct {
	Name   string
	Effect Effect
	// Time is 0 where no clock was given.
	Time time.Duration
	// Verified says that Loss was measured.
	Verified bool
	Loss     Loss
}

// Note adds a fact.
func (r *Report) Note(msg string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(msg, args...))
}

// Warn adds a likely mistake.
func (r *Report) Warn(msg string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(msg, args...))
}
