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

// OnWhole says that all arguments of n and its result are whole numbers of one format.
func OnWhole(n *ir.Node) bool {
	f, err := n.OneFormat(n.Args...)
	return err == nil && f == n.Type.Format && ir.IsWhole(f)
}

// Wrap cuts integers to the low bits of whole numbers of type t; for other types it keeps them.
func Wrap(t ir.Type) func(v int64) int64 {
	f, whole := ir.WholeOf(t.Format)
	s := uint(64 - f.W)
	switch {
	case !whole:
		return func(v int64) int64 { return v }
	case f.Signed:
		return func(v int64) int64 { return v << s >> s }
	}
	return func(v int64) int64 { return int64(uint64(v) << s >> s) }
}
