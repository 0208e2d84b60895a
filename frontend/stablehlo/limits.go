// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"lathe/frontend/build"
	"lathe/ir"
	"lathe/ir/format"
)

// least and most are the bounds of the whole numbers of n; 0 where it has floats.
func least(n *ir.Node) int64 {
	f, _ := ir.WholeOf(n.Type.Format)
	return f.Min()
}

func most(n *ir.Node) int64 {
	f, _ := ir.WholeOf(n.Type.Format)
	return f.Max()
}

// intBlob stores whole numbers of a format.
func intBlob(f format.Format, values []int64) *ir.Blob { return build.IntBlob(ir.StoredAs(f), values) }
