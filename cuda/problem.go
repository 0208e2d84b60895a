// SPDX-License-Identifier: Apache-2.0

package cuda

import "fmt"

// Problem is what kernels of a family compute on one shape; O are its operands. Tests, benchmarks and the emitter know
// nothing else of a family.
type Problem[O any] interface {
	// Valid reports why no kernel can take the problem: error L0990.
	Valid() error
	// Plan chooses the kernels for an architecture. Errors as Valid, also for what the architecture lacks.
	Plan(a Arch) (Plan[O], error)
	// Floor is the least that must be moved and computed.
	Floor() Floor
}

// Batched is a problem that nodes of graphs pose, once for each of a number of samples.
type Batched[O any] interface {
	Problem[O]
	// Call is the problem of every sample in one launch, in a configuration for those of t. Errors as Plan.
	Call(o O, t Target) (Call, error)
}

// Floor is the least that must be moved, in bytes, and computed: no kernel is faster than these at a GPU's peak rates.
type Floor struct{ Bytes, Flops int64 }

// Plan is a problem as it will run on an architecture.
type Plan[O any] struct {
	// Instances are the kernels.
	Instances []Instance
	// Workspace is the number of bytes that the launches need between them.
	Workspace int64
	// Splits is the number of parts of the range of a sum.
	Splits int
	// Why says in words which configuration was chosen.
	Why string
	// Launches are the calls, in order; none where the result has no elements.
	Launches func(O) []Launch
}

// OneKernel is the plan of a problem that one kernel solves.
func OneKernel[O any](i Instance, launches func(O) []Launch) Plan[O] {
	return Plan[O]{Instances: []Instance{i}, Splits: 1, Why: fmt.Sprint(i), Launches: launches}
}

// CaseOf is a case of a problem as a plan solves it, yet without a name, buffers and a check. o names its buffers.
func CaseOf[O any](p Problem[O], plan Plan[O], o O) Case {
	f := p.Floor()
	return Case{Instances: plan.Instances, Launches: plan.Launches(o), Bytes: f.Bytes, Flops: f.Flops}
}
