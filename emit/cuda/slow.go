// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/survey"
)

// SlowFlops are the operations of a node that sums products, in one sample, beyond which a kernel with a thread a
// result is an error.
const SlowFlops = 1_000_000

// slow is a node with too large a sum, and why the library has no kernel of it.
type slow struct {
	node  *ir.Node
	flops int
	why   string
}

// shortSum is the number of products in a sum up to which a thread a result is about as fast as memory: those of a
// depthwise convolution of 7x7, say.
const shortSum = 64

// sums says that n adds more products than that for a result.
func sums(n *ir.Node) bool { return survey.MACs(n) > shortSum*n.Type.Elems() }

// check keeps what of g is slow in kernels made for it.
func (e *emitter) check(g *ir.Group, why string) {
	for _, n := range g.Members {
		if flops := 2 * survey.MACs(n); flops > SlowFlops && sums(n) {
			e.slow = append(e.slow, slow{n, flops, why})
		}
	}
}

// refuseSlow is an error for each kind of operation that is slow, at its first node.
func (e *emitter) refuseSlow() diag.List {
	var out diag.List
	count := map[*ir.Op]int{}
	for _, s := range e.slow {
		count[s.node.Op]++
	}
	for _, s := range e.slow {
		n := count[s.node.Op]
		if n == 0 {
			continue
		}
		of := ""
		if n > 1 {
			of = fmt.Sprintf(", the first of %d", n)
		}
		why := s.why
		if why == "" {
			why = "the library has no kernel of it"
		}
		hint := "--allow-slow emits such kernels"
		if s.node.Args[0].Type.Format == format.FP32 {
			hint = "--act bf16 --weight bf16 may have one; " + hint
		}
		out = append(out, s.node.Errorf(diag.SlowSum, "%s (%s, %.1f Mflop%s) would get one thread a result: %s", s.node.Name,
			s.node.Op.Name, float64(s.flops)/1e6, of, why).WithHint("%s", hint))
		count[s.node.Op] = 0
	}
	return out
}
