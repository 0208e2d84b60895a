// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"lathe/internal/diag"
	"lathe/ir"
)

// Caches in blocks along the elements of a row: append encodes its rows, attention reads values.

// keptInBlocks says that n has a cache in blocks, and nothing else.
func keptInBlocks(n *ir.Node) bool { return n.Args[0].Type.InBlocks() && !n.Args[1].Type.InBlocks() }

// readsBlocks says that nothing but keys and values is in blocks.
func readsBlocks(n *ir.Node) bool { return !n.Type.InBlocks() && !n.Args[0].Type.InBlocks() }

// inFloats is t, or the values of its blocks.
func inFloats(t *ir.Tensor) (*ir.Tensor, error) {
	if !t.Type.InBlocks() {
		return t, nil
	}
	values, err := t.Decode()
	if err != nil {
		return nil, err
	}
	out := ir.NewTensor(ir.Float(t.Type.Shape...))
	for i, v := range values {
		out.Floats[i] = float32(v)
	}
	return out, nil
}

// putRows copies rows of src from row `at` on to those of dst from row `to` on; of what a format lacks there are none.
func putRows[T any](dst []T, to int, src []T, at, rows, row int) {
	if len(dst) > 0 {
		copy(dst[to*row:(to+rows)*row], src[at*row:])
	}
}

// noProgram refuses caches in blocks, which nothing but Eval and kernels of the library know.
func noProgram(n *ir.Node) error {
	for _, a := range n.Args {
		if a.Type.InBlocks() {
			return n.Errorf(diag.ReferenceOnly, "%s of a cache in %s has no StableHLO form in this version", n.Op.Name,
				a.Type.Format)
		}
	}
	return nil
}
