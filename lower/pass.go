// SPDX-License-Identifier: Apache-2.0

// Package lower takes every decision between an imported model and a design: it simplifies the float graph, chooses
// number formats, and chooses how much hardware each node gets. Each decision is a pass; pipelines.go lists them.
package lower

import (
	"lathe/golden/ref"
	"lathe/ir"
	"lathe/lower/calib"
)

// Effect is what a pass may do to the values of the graph outputs. The manager can hold a pass to it.
type Effect uint8

// The effects.
const (
	Annotate Effect = iota // metadata only: same nodes, same values
	Exact                  // other nodes, the same bits
	Lossy                  // other values; the loss is measured and reported
)

// String is the word of `lathe list passes`.
func (e Effect) String() string { return [...]string{"annotate", "exact", "lossy"}[e] }

// Pass is one step of lowering.
type Pass struct {
	Name, Doc string
	Effect    Effect
	// Bound is the greatest error that a lossy pass may cause, relative to the largest magnitude of an output;
	// 0: not bounded, only reported. Rewrites that are equal in real arithmetic have the bound of float32 rounding.
	Bound float64
	// Run changes the graph in place. It must not depend on the order of nodes beyond arguments before users.
	Run func(*State, *ir.Graph) error
}

// Pipeline is a list of passes, run in order.
type Pipeline []Pass

// Order is a reason why one pass stands before another.
type Order struct{ Before, After, Why string }

// State is what passes of one run share.
type State struct {
	Plan   *Plan
	Report *Report
	// Samples are calibration samples in the caller's layout, in the order of Graph.In; empty without calibration data.
	Samples []ref.Sample

	values map[*ir.Node]*calib.Values // what calibrate found
	runner *runner
}

// only adapts a rewrite that needs nothing but the graph.
func only(f func(*ir.Graph) error) func(*State, *ir.Graph) error {
	return func(_ *State, g *ir.Graph) error { return f(g) }
}
