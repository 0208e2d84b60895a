// SPDX-License-Identifier: Apache-2.0

package arith

import (
	"lathe/ir"
	"lathe/ir/format"
)

// Whole numbers of float graphs: integers modulo 2^W, see ir.IsWhole. What operations make of them is defined for all
// values and the same in every engine.

// Wholes are all formats of whole numbers.
var Wholes = []format.Format{ir.Int64, ir.Int32, ir.Int16, ir.Int8, ir.Uint32, ir.Uint16, ir.Uint8, ir.Bool}

// WholeOf is the format of node n where all its arguments and its result are whole numbers of that one format.
func WholeOf(n *ir.Node) (format.Fixed, bool) {
	f, err := n.OneFormat(n.Args...)
	if err != nil || f != n.Type.Format || !ir.IsWhole(f) {
		return format.Fixed{}, false
	}
	return f.(format.Fixed), true
}

// Wrap cuts integers to the low bits of f.
func Wrap(f format.Fixed) func(v int64) int64 {
	s := uint(64 - f.W)
	if f.Signed {
		return func(v int64) int64 { return v << s >> s }
	}
	return func(v int64) int64 { return int64(uint64(v) << s >> s) }
}
