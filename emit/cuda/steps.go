// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/group"
	"lathe/ir/op/sequence"
)

// EmitSteps makes the kernels of two graphs on the same caches, which they write in place: first takes the tokens at
// position 0, step one more at the position that is its input. The result is the design of first, whose Step is that of
// step; both have one Source and one Tables. Errors as Emit, and L0949 for a cache that no kernel writes in place.
func EmitSteps(first, step *ir.Graph, o Options) (*Design, error) {
	o.KeepInputs = false // of caches nothing is kept
	e, err := newEmitter(o)
	if err != nil {
		return nil, err
	}
	var designs []*Design
	for _, g := range []*ir.Graph{first, step} {
		groups, err := group.Of(g)
		if err != nil {
			return nil, err
		}
		d, err := e.emit(g, groups, o)
		if err != nil {
			return nil, err
		}
		if err := e.inPlace(g, groups); err != nil {
			return nil, err
		}
		designs = append(designs, d)
	}
	designs[0].Step = designs[1]
	return designs[0], e.finish(designs...)
}

// inPlace demands that every cache is written where it lies, and marks the ports. Its error names one cache of those
// that are refused for the same reason.
func (e *emitter) inPlace(g *ir.Graph, groups []*ir.Group) error {
	var errs diag.List
	first, more := map[string]*diag.Error{}, map[*diag.Error]int{} // by reason; further caches
	for _, group := range groups {
		for _, n := range group.Members {
			if !sequence.Updates(n.Op) || !n.Args[0].IsInput() {
				continue
			}
			e.mark(n)
			if e.at[n] == e.at[n.Args[0]] {
				continue
			}
			_, why, err := e.library(group)
			if err != nil {
				return err
			}
			if same := first[why]; same != nil {
				more[same]++
				continue
			}
			first[why] = n.Errorf(diag.NoCacheKernel, "no kernel writes into the cache %s where it lies: %s", n.Args[0].Name,
				why).
				WithHint("without --max-seq keys and values are inputs and outputs: --past")
			errs = append(errs, first[why])
		}
	}
	for _, err := range errs {
		if more[err] > 0 {
			err.WithNote("so it is with %d of the other caches", more[err])
		}
	}
	return errs.Err()
}

// mark makes the cache of n, and its position, known as such.
func (e *emitter) mark(n *ir.Node) {
	for i := range e.d.Inputs {
		p := &e.d.Inputs[i]
		p.Cache = p.Cache || p.Node == n.Args[0]
		p.Position = p.Position || p.Node == n.Args[2]
	}
	for i := range e.d.Outputs {
		p := &e.d.Outputs[i]
		p.Cache = p.Cache || p.Node == n
	}
}
