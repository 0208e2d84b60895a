// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/rtl"
	"lathe/rtl/tables"
)

// CodesIn are the codes of t as numbers, for operations that compare them or move them: a scale above 0 and a zero
// point change nothing about their order.
func CodesIn(n *ir.Node, t ir.Type) (format.Fixed, error) {
	if c, ok := format.IntegersOf(t.Format); ok {
		return c.Codes, nil
	}
	return arith.FixedOf(n, t)
}

// MemStyle is the memory that the schedule of n asks for, as the modules of the library have it.
func MemStyle(n *ir.Node) string {
	if n.HW.Mem == "" {
		return "auto"
	}
	return n.HW.Mem
}

// AppendField shifts word up and puts v, modulo 2^width, below.
func AppendField(word, v *big.Int, width int) {
	word.Lsh(word, uint(width))
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(width)), big.NewInt(1))
	word.Or(word, mask.And(mask, v)) // And of a negative number is two's complement
}

// bramBits is the greatest argument width for which a table in a memory is left to the tools; wider ones are block RAM.
const bramBits = 12

// Table is the hardware of a table: logic where arguments have few bits, else a memory for each lane. Units that have
// tables inside take their images from a node of their own that names a kind of memory.
func Table(n *ir.Node, table []int64) (*rtl.Unit, error) {
	in, out := n.Args[0].Type.Format.Width(), n.Type.Format.Width()
	if in <= tables.MostBits && n.HW.Mem == "" {
		t := tables.Table{Lanes: n.HW.InLanes, Beats: Beats(n.Type, n.HW.InLanes), In: in, Out: out, Codes: table}
		return t.Unit()
	}
	style := MemStyle(n)
	if style == "auto" && in > bramBits {
		style = "block"
	}
	u := rtl.NewUnit("op_table", "LANES", n.HW.InLanes, "IN_W", in, "OUT_W", out,
		"BEATS", Beats(n.Type, n.HW.InLanes), "ROM_STYLE", style)
	u.Images = []rtl.Image{{Param: "IMAGE", Width: out, Make: func(im *rtl.Image) error {
		im.Words = arith.Words(table)
		return nil
	}}}
	return u, nil
}
