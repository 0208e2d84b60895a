// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"lathe/frontend/build"
	"lathe/ir"
	"lathe/ir/format"
)

// least and most are the bounds of whole numbers of a format.
func least(n *ir.Node) int64 {
	if f, ok := n.Type.Format.(format.Fixed); ok {
		return f.Min()
	}
	return 0
}

func most(n *ir.Node) int64 {
	if f, ok := n.Type.Format.(format.Fixed); ok {
		return f.Max()
	}
	return 0
}

// intBlob stores whole numbers of a format.
func intBlob(f format.Format, values []int64) *ir.Blob { return build.IntBlob(ir.StoredAs(f), values) }
